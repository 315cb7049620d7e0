-- The schema of an isobit store, version 2: what a store made by the migrations in lib/store holds.
-- A test keeps the two alike.
--
-- Numbers in BLOBs are little-endian and packed: tokens, top_ids, top_counts and prefill_chunks
-- int32; logprobs, margins and top_logprobs binary32; logit_bias_values binary64; logits_hashes 16
-- bytes each (XXH3-128, canonical form). Entry i of a per-position BLOB belongs to generated
-- position i. Seeds are 64 unsigned bits, shown by SQLite as signed.
PRAGMA application_id = 1769172834;  -- "isob"
PRAGMA user_version = 2;

-- One execution of a plan against one target.
CREATE TABLE run (
  run_key INTEGER PRIMARY KEY,  -- ascending in order of creation
  id TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,
  target TEXT NOT NULL,
  label TEXT NOT NULL,
  plan_json TEXT NOT NULL,
  prompts_digest TEXT NOT NULL,
  fingerprint_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'complete')),
  -- Token ids are keyed digests and texts are left out.
  redacted INTEGER NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1)),
  stop_reason TEXT NOT NULL DEFAULT ''  -- why an incomplete run stopped
) STRICT;

CREATE TABLE fingerprint_item (
  run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  class TEXT NOT NULL
    CHECK (class IN ('model', 'text', 'numerics', 'software', 'hardware', 'scheduler',
                     'environment')),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('measured', 'declared', 'server', 'unknown')),
  reason TEXT NOT NULL,
  PRIMARY KEY (run_key, class, name)
) STRICT, WITHOUT ROWID;

-- A prompt as given; what a cell changes about it (lengths, sampling) follows from its values.
CREATE TABLE request (
  run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  prompt_index INTEGER NOT NULL CHECK (prompt_index >= 0),
  request_id TEXT NOT NULL,
  prompt_text TEXT NOT NULL,
  n_prompt_tokens INTEGER NOT NULL,
  prompt_tokens BLOB NOT NULL CHECK (length(prompt_tokens) = 4 * n_prompt_tokens),
  max_tokens INTEGER NOT NULL,
  n_top INTEGER NOT NULL,
  temperature REAL NOT NULL,
  top_k INTEGER NOT NULL,
  top_p REAL NOT NULL,
  min_p REAL NOT NULL,
  repetition_penalty REAL NOT NULL,
  frequency_penalty REAL NOT NULL,
  presence_penalty REAL NOT NULL,
  logit_bias_ids BLOB NOT NULL CHECK (length(logit_bias_ids) % 4 = 0),
  logit_bias_values BLOB NOT NULL CHECK (length(logit_bias_values) = 2 * length(logit_bias_ids)),
  seed INTEGER NOT NULL,
  seed_source TEXT NOT NULL CHECK (seed_source IN ('request', 'request_id')),
  n INTEGER NOT NULL CHECK (n >= 1),
  stop_strings TEXT NOT NULL,  -- a JSON array
  stop_tokens BLOB NOT NULL CHECK (length(stop_tokens) % 4 = 0),
  ignore_eos INTEGER NOT NULL CHECK (ignore_eos IN (0, 1)),
  forced_tokens BLOB NOT NULL CHECK (length(forced_tokens) % 4 = 0),
  tags TEXT NOT NULL,          -- a JSON array
  PRIMARY KEY (run_key, prompt_index)
) STRICT;

CREATE TABLE cell (
  run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  cell_index INTEGER NOT NULL CHECK (cell_index >= 0),
  name TEXT NOT NULL,
  reference_index INTEGER NOT NULL,
  complete INTEGER NOT NULL CHECK (complete IN (0, 1)),
  exercised INTEGER NOT NULL CHECK (exercised IN (0, 1)),
  not_exercised_reason TEXT NOT NULL,
  wall_ms REAL NOT NULL,
  generated_tokens_per_s REAL NOT NULL,
  PRIMARY KEY (run_key, cell_index),
  UNIQUE (run_key, name),
  FOREIGN KEY (run_key, reference_index) REFERENCES cell (run_key, cell_index)
    DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE TABLE cell_value (
  run_key INTEGER NOT NULL,
  cell_index INTEGER NOT NULL,
  axis TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (run_key, cell_index, axis),
  FOREIGN KEY (run_key, cell_index) REFERENCES cell ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One answer. Committed as it lands.
CREATE TABLE sample (
  sample_key INTEGER PRIMARY KEY,
  run_key INTEGER NOT NULL,
  cell_index INTEGER NOT NULL,
  prompt_index INTEGER NOT NULL,
  repeat INTEGER NOT NULL CHECK (repeat >= 0),
  sample_index INTEGER NOT NULL CHECK (sample_index >= 0),
  request_id TEXT NOT NULL,
  seed INTEGER NOT NULL,
  finish_reason TEXT NOT NULL
    CHECK (finish_reason IN ('length', 'stop_token', 'stop_string', 'cancelled', 'error')),
  text TEXT NOT NULL,
  error TEXT NOT NULL,
  non_finite INTEGER NOT NULL CHECK (non_finite IN (0, 1)),
  n_positions INTEGER NOT NULL,
  tokens BLOB NOT NULL CHECK (length(tokens) = 4 * n_positions),
  logprobs BLOB NOT NULL CHECK (length(logprobs) = 4 * n_positions),
  -- One byte a position. Bit 0: it has a margin; bit 1: it has a logits hash.
  evidence BLOB NOT NULL CHECK (length(evidence) = n_positions),
  margins BLOB CHECK (length(margins) = 4 * n_positions),  -- NULL: no position has one
  logits_hashes BLOB CHECK (length(logits_hashes) = 16 * n_positions),
  -- Alternatives per position: so many entries of the next two.
  top_counts BLOB CHECK (length(top_counts) = 4 * n_positions),
  top_ids BLOB NOT NULL CHECK (length(top_ids) % 4 = 0),
  top_logprobs BLOB NOT NULL CHECK (length(top_logprobs) = length(top_ids)),
  max_batch_requests INTEGER NOT NULL,
  min_batch_requests INTEGER NOT NULL,
  max_batch_tokens INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  prefill_chunks BLOB NOT NULL CHECK (length(prefill_chunks) % 4 = 0),
  n_steps INTEGER NOT NULL,
  n_mixed_steps INTEGER NOT NULL,
  n_cached_tokens INTEGER NOT NULL,
  n_preemptions INTEGER NOT NULL,
  ttft_ms REAL NOT NULL,
  total_ms REAL NOT NULL,
  -- binary32: the mean of the rows after the final norm; NULL: not recorded
  embedding BLOB CHECK (length(embedding) % 4 = 0),
  UNIQUE (run_key, cell_index, prompt_index, repeat, sample_index),
  FOREIGN KEY (run_key, cell_index) REFERENCES cell ON DELETE CASCADE,
  FOREIGN KEY (run_key, prompt_index) REFERENCES request ON DELETE CASCADE
) STRICT;

-- What a sample's cell computes at each position when it is given the tokens of another answer: of
-- its reference cell (over_run is ''), or of the run over_run. BLOBs as in `sample`.
CREATE TABLE forced (
  sample_key INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,
  over_run TEXT NOT NULL,
  n_positions INTEGER NOT NULL,
  tokens BLOB NOT NULL CHECK (length(tokens) = 4 * n_positions),
  logprobs BLOB NOT NULL CHECK (length(logprobs) = 4 * n_positions),
  evidence BLOB NOT NULL CHECK (length(evidence) = n_positions),
  margins BLOB CHECK (length(margins) = 4 * n_positions),
  logits_hashes BLOB CHECK (length(logits_hashes) = 16 * n_positions),
  top_counts BLOB CHECK (length(top_counts) = 4 * n_positions),
  top_ids BLOB NOT NULL CHECK (length(top_ids) % 4 = 0),
  top_logprobs BLOB NOT NULL CHECK (length(top_logprobs) = length(top_ids)),
  PRIMARY KEY (sample_key, over_run)
) STRICT;

-- Runs that others are held to. The largest version of a name is in force; the others are its
-- history.
CREATE TABLE baseline (
  name TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  run_key INTEGER NOT NULL REFERENCES run,
  created TEXT NOT NULL,
  policy TEXT NOT NULL,  -- the policy's own text, JSON with comments
  note TEXT NOT NULL,
  PRIMARY KEY (name, version)
) STRICT;

-- Verdicts of comparisons that a user chose to keep.
CREATE TABLE comparison (
  comparison_key INTEGER PRIMARY KEY,
  base_run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  candidate_run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  created TEXT NOT NULL,
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
  verdict TEXT NOT NULL,
  document_json TEXT NOT NULL
) STRICT;

CREATE VIEW v_cell AS
  SELECT r.id AS run, c.cell_index, c.name AS cell, f.name AS reference_cell, c.complete,
         c.exercised, c.not_exercised_reason, count(s.sample_key) AS n_samples,
         count(DISTINCT s.prompt_index) AS n_prompts,
         coalesce(sum(s.finish_reason = 'error'), 0) AS n_errors,
         coalesce(sum(s.n_positions), 0) AS n_tokens, c.wall_ms, c.generated_tokens_per_s
    FROM cell c
    JOIN run r USING (run_key)
    LEFT JOIN cell f ON f.run_key = c.run_key AND f.cell_index = c.reference_index
    LEFT JOIN sample s ON s.run_key = c.run_key AND s.cell_index = c.cell_index
   GROUP BY c.run_key, c.cell_index;

CREATE VIEW v_sample AS
  SELECT r.id AS run, c.name AS cell, s.prompt_index, s.request_id, s.repeat, s.sample_index,
         s.finish_reason, s.n_positions AS n_tokens, s.non_finite, s.text, s.error,
         s.max_batch_requests, s.max_batch_tokens, s.first_row,
         length(s.prefill_chunks) / 4 AS n_prefill_chunks, s.n_steps, s.n_mixed_steps, s.ttft_ms,
         s.total_ms
    FROM sample s
    JOIN run r USING (run_key)
    JOIN cell c USING (run_key, cell_index);

-- Samples whose answer differs from the first repeat of the same prompt in the reference cell.
-- Positions count from 0; NULL: no difference of that kind. Numeric means the bits of the logprob
-- or of the logits hash; hashes count where both sides have them.
CREATE VIEW v_divergence AS
  WITH pair AS (
    SELECT r.id AS run, c.name AS cell, f.name AS reference_cell, s.*, b.tokens AS b_tokens,
           b.logprobs AS b_logprobs, b.logits_hashes AS b_hashes, b.evidence AS b_evidence,
           b.n_positions AS n_reference_tokens, b.finish_reason AS reference_finish_reason,
           max(s.n_positions, b.n_positions) AS n_longer
      FROM sample s
      JOIN run r USING (run_key)
      JOIN cell c USING (run_key, cell_index)
      JOIN cell f ON f.run_key = c.run_key AND f.cell_index = c.reference_index
      JOIN sample b ON b.run_key = s.run_key AND b.cell_index = c.reference_index
                   AND b.prompt_index = s.prompt_index AND b.repeat = 0
                   AND b.sample_index = s.sample_index AND b.sample_key <> s.sample_key
     WHERE s.tokens <> b.tokens OR s.logprobs <> b.logprobs OR s.logits_hashes <> b.logits_hashes
        OR s.finish_reason <> b.finish_reason),
  located AS (
    SELECT pair.*,
           (WITH RECURSIVE position(i) AS (
              SELECT 0 UNION ALL SELECT i + 1 FROM position WHERE i + 1 < n_longer)
            SELECT i FROM position
             WHERE substr(tokens, 4 * i + 1, 4) <> substr(b_tokens, 4 * i + 1, 4)
             LIMIT 1) AS first_token,
           (WITH RECURSIVE position(i) AS (
              SELECT 0 UNION ALL SELECT i + 1 FROM position WHERE i + 1 < n_longer)
            SELECT i FROM position
             WHERE substr(tokens, 4 * i + 1, 4) <> substr(b_tokens, 4 * i + 1, 4)
                OR substr(logprobs, 4 * i + 1, 4) <> substr(b_logprobs, 4 * i + 1, 4)
                OR (substr(logits_hashes, 16 * i + 1, 16) <> substr(b_hashes, 16 * i + 1, 16)
                    AND hex(substr(evidence, i + 1, 1)) IN ('02', '03')
                    AND hex(substr(b_evidence, i + 1, 1)) IN ('02', '03'))
             LIMIT 1) AS first_numeric
      FROM pair)
  SELECT run, cell, reference_cell, prompt_index, request_id, repeat, sample_index, first_numeric,
         first_token, n_positions AS n_tokens, n_reference_tokens, finish_reason,
         reference_finish_reason
    FROM located
   WHERE first_numeric IS NOT NULL OR first_token IS NOT NULL
      OR finish_reason <> reference_finish_reason;

-- How many different answers one prompt got in the cells that share a reference.
CREATE VIEW v_distinct AS
  SELECT r.id AS run, f.name AS reference_cell, s.prompt_index, s.request_id, s.sample_index,
         count(*) AS n_samples, count(DISTINCT s.tokens) AS n_distinct_outputs
    FROM sample s
    JOIN run r USING (run_key)
    JOIN cell c USING (run_key, cell_index)
    JOIN cell f ON f.run_key = c.run_key AND f.cell_index = c.reference_index
   GROUP BY s.run_key, c.reference_index, s.prompt_index, s.sample_index;

-- Divergences by axis value, over the cells that are compared with another one.
CREATE VIEW v_axis AS
  SELECT r.id AS run, v.axis, v.value, count(DISTINCT c.cell_index) AS n_cells,
         count(*) AS n_samples, count(d.first_numeric) AS n_numeric_divergences,
         count(d.first_token) AS n_token_divergences
    FROM cell c
    JOIN run r USING (run_key)
    JOIN cell_value v USING (run_key, cell_index)
    JOIN sample s USING (run_key, cell_index)
    LEFT JOIN v_divergence d
           ON d.run = r.id AND d.cell = c.name AND d.prompt_index = s.prompt_index
          AND d.repeat = s.repeat AND d.sample_index = s.sample_index
   WHERE c.cell_index <> c.reference_index
   GROUP BY c.run_key, v.axis, v.value;
