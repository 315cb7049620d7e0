// A baseline as one text file to commit beside a service's code: the run with all its answers, the
// fingerprint, the policy, and a checksum of each part.
//
// The same content gives the same bytes. One element stands on each line (a request, a cell, an
// answer, a fingerprint item, a line of the policy), in canonical JSON (RFC 8785), so that a diff
// of two versions shows what changed. The format is schemas/baseline.schema.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/run_record.h"

namespace isobit {

struct BaselineFile {
  std::string name;
  int64_t version = 1;
  std::string created;  // when the run became the baseline; RFC 3339, UTC
  std::string note;
  std::string policy;  // the policy's own text; empty: none was chosen
  RunRecord run;
};

std::string baseline_file_text(const BaselineFile& baseline);

// Throws Error(environment) beginning with `where`: not JSON, another format or version, a part
// whose checksum is another, and all that run_from_sections refuses.
BaselineFile read_baseline_file(std::string_view text, const std::string& where);

// True for text that begins as a JSON object does: what a path holds, if it is not a store.
bool begins_as_baseline_file(std::string_view text);

}  // namespace isobit
