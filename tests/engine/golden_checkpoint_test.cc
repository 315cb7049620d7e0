// The goldens speak about the product: what `goldens` computes from the flattened bundled
// checkpoint is what the engine computes from the files themselves.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "checkpoint/open.h"
#include "kernels/registry.h"
#include "tests/goldens/golden_models.h"
#include "tests/goldens/model_digest.h"

namespace isobit::testing {
namespace {

const std::string kSource = ISOBIT_SOURCE_DIR;

// The digest of a line of tests/goldens/expected.txt, "" when there is none.
std::string golden(const std::string& line_start) {
  std::ifstream file(kSource + "/tests/goldens/expected.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(line_start + " ")) return line.substr(line_start.size() + 1);
  }
  return {};
}

std::string bundled_digest(std::vector<int> prompt_lengths) {
  const auto checkpoint = open_checkpoint(kSource + "/examples/tiny-kjv");
  return model_digest(*checkpoint, kernel_set("cpu"), KvDType::kF16, prompt_lengths);
}

TEST_CASE("the bundled checkpoint, opened as the product opens it, has the golden's bits") {
  const std::string expected = golden(kBundledName + " kv-f16");
  REQUIRE(expected.size() == 32);
  CHECK(bundled_digest(kBundledPromptLengths) == expected);
}

TEST_CASE("another prompt has another digest") {
  std::vector<int> lengths = kBundledPromptLengths;
  ++lengths.back();
  CHECK(bundled_digest(lengths) != golden(kBundledName + " kv-f16"));
}

}  // namespace
}  // namespace isobit::testing
