// config.json, and after a NUL byte generation_config.json.
#include "checkpoint/checkpoint_json.h"
#include "checkpoint/hf_config.h"
#include "checkpoint/model_tensors.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 4 * kMiB;

void read_hostile(std::string_view input) {
  const std::vector<std::string_view> parts = parts_of(input, 2);
  const Json json = parse_checkpoint_json(parts[0], "f");
  expect(!canonical_json(json).empty(), "an object without a canonical form");
  ModelConfig config = read_hf_config(json, "f");
  if (parts.size() > 1) merge_generation_config(parse_checkpoint_json(parts[1], "g"), config, "g");
  check_sizes(config, "f");
  expect(config.n_segments() > 0, "a configuration without segments");
  check_tensors(config, {}, "f");
}

}  // namespace isobit::test
