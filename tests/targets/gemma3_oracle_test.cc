// Gemma 3 270M against transformers: text to ids, and the logits (forced_oracle.h), two prompts
// among them longer than the window of its local layers. The model is not in the repository:
// without it this says SKIPPED.
#include <doctest/doctest.h>

#include "tests/targets/forced_oracle.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

const RealModel kGemma3 = {.title = "Gemma 3 270M",
                           .fetch_name = "gemma3-270m",
                           .variable = "ISOBIT_GEMMA3",
                           .file = "gemma-3-270m.Q4_K_M.gguf",
                           .fixture = "gemma3"};

}  // namespace

TEST_CASE("Gemma 3's tokenizer gives the ids that sentencepiece gives") {
  if (kGemma3.skipped()) return;
  const GgufFile file(kGemma3.path());
  const Tokenizer tokenizer = gguf_tokenizer(file.tokenizer(), "Gemma 3");
  const Json oracle = kGemma3.oracle();
  for (const Json& prompt : oracle["prompts"]) {
    CHECK(tokenizer.encode(prompt["text"].get<std::string>(), AddSpecial::kYes) ==
          prompt["prompt_ids"].get<std::vector<int32_t>>());
  }
}

TEST_CASE("Gemma 3's recorded prompts reach beyond the window of its local layers") {
  size_t longest = 0;
  const Json oracle = kGemma3.oracle();
  for (const Json& prompt : oracle["prompts"])
    longest = std::max(longest, prompt["prompt_ids"].size());
  CHECK(longest > 512);
}

TEST_CASE(
    "Gemma 3's logits are within 2e-3 of transformers in f32, and its argmax the same where the "
    "margin is clear") {
  if (!kGemma3.skipped()) check_forced_logits(kGemma3);
}
