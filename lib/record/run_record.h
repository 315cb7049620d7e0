// One run: a plan executed against one target. Everything from the comparison onwards sees only
// this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fingerprint_items.h"
#include "record/request.h"
#include "record/trace.h"

namespace isobit {

// A cell of the matrix: one value per axis that is not at its default.
struct CellRecord {
  int32_t index = 0;
  std::string name;  // "load.concurrency=8,engine.chunked_prefill=16"; "reference" if all default
  std::map<std::string, std::string> values;  // axis key -> value, every axis of the plan
  int32_t reference_index =
      0;  // the cell that this one is compared with; itself for a reference cell
  bool is_reference() const { return reference_index == index; }
  bool complete = false;   // all samples recorded
  bool exercised = false;  // proved by what the target reported; never assumed
  std::string not_exercised_reason;
  double wall_ms = 0;
  double generated_tokens_per_s = 0;
};

struct SampleRecord {
  int32_t cell_index = 0;
  int32_t prompt_index = 0;  // into RunRecord::requests
  int32_t repeat = 0;
  Trace trace;  // trace.sample_index tells the choices of one request apart
};

// What a cell computes at each position when it is given the tokens of another answer (teacher
// forcing). Recorded for samples whose own tokens differ from that answer's, so that positions
// after a flip count too.
struct ForcedRecord {
  int32_t cell_index = 0;
  int32_t prompt_index = 0;
  int32_t repeat = 0;
  int32_t sample_index = 0;
  // The run whose answer gave the tokens: its cell of the same name, first repeat. Empty: this
  // run's own reference cell, first repeat.
  std::string over_run;
  std::vector<TracePosition>
      positions;  // token_id: the forced token; the scores are the cell's own
};

struct RunRecord {
  std::string id;
  std::string created;         // RFC 3339, UTC
  std::string target;          // "isobit:cpu", "llama.cpp b11434 at http://..."
  std::string label;           // deployment label, free text
  std::string plan_json;       // the expanded plan, canonical JSON
  std::string prompts_digest;  // SHA-256 over ids, token ids and parameters of all requests
  std::string status;          // "running", "complete"
  Fingerprint fingerprint;
  std::vector<Request> requests;
  std::vector<std::string> prompt_texts;  // rendered, parallel to requests
  std::vector<CellRecord> cells;
  std::vector<SampleRecord> samples;  // ordered by (cell, prompt, repeat, sample index)
  std::vector<ForcedRecord> forced;   // ordered by (cell, prompt, repeat, sample index, over_run)
  // Token ids are keyed digests and texts are left out: answers compare, none can be read or sent
  // again.
  bool redacted = false;
  std::string stop_reason;  // why an incomplete run stopped: "--max-seconds 60"; empty: not known
};

}  // namespace isobit
