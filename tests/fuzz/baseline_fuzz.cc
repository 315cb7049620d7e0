// A baseline file, as `gate FILE` and `baseline import` read it. Checksums would keep every change
// from the reader behind them, so each input is read as it is and once more with its checksums made
// right.
#include "record/baseline_file.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 16 * kMiB;

namespace {

std::string with_right_checksums(std::string_view input) {
  Json root = parse_json(input, "f", {.max_depth = 8});
  if (!root.is_object() || !root.contains("checksums") || !root["checksums"].is_object())
    return std::string(input);
  for (const auto& [part, sum] : root["checksums"].items()) {
    if (root.contains(part)) sum = sha256_hex(canonical_json(root[part]));
  }
  return root.dump();
}

void read_and_write(std::string_view input) {
  const BaselineFile file = read_baseline_file(input, "f");
  const std::string text = baseline_file_text(file);
  expect(begins_as_baseline_file(text), "a baseline file that is not known for one");
  expect(baseline_file_text(read_baseline_file(text, "again")) == text,
         "a baseline that does not come back as it was written");
}

}  // namespace

void read_hostile(std::string_view input) {
  try {
    read_and_write(input);
  } catch (const Error& e) {
    expect(e.code() == ErrorCode::environment, "a damaged file is the environment's fault");
  }
  read_and_write(with_right_checksums(input));
}

}  // namespace isobit::test
