// Schema 2: teacher-forced positions, embeddings, redaction, the reason of a stop, and baselines.
// Frozen, as migration 1 is.
#include "store/migrations.h"

namespace isobit {

const char* const kMigration2 = R"sql(
ALTER TABLE run ADD COLUMN redacted INTEGER NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1));
ALTER TABLE run ADD COLUMN stop_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE sample ADD COLUMN embedding BLOB CHECK (length(embedding) % 4 = 0);

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
)sql";

}  // namespace isobit
