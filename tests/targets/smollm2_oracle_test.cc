// SmolLM2 against transformers: text to ids, and the logits (forced_oracle.h). The model is not in
// the repository: without it this says SKIPPED.
#include <doctest/doctest.h>

#include "tests/targets/forced_oracle.h"
#include "text/chat_template.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

const RealModel kSmollm2 = {.title = "SmolLM2",
                            .fetch_name = "smollm2",
                            .variable = "ISOBIT_SMOLLM2",
                            .file = "SmolLM2-135M-Instruct.Q4_1.gguf",
                            .fixture = "smollm2"};

}  // namespace

TEST_CASE("SmolLM2's template and tokenizer give the ids that jinja2 and Hugging Face give") {
  if (kSmollm2.skipped()) return;
  const GgufFile file(kSmollm2.path());
  const GgufTokenizer parts = file.tokenizer();
  const Tokenizer tokenizer = gguf_tokenizer(parts, "SmolLM2");
  REQUIRE(parts.chat_template.has_value());
  const ChatTemplate chat_template = ChatTemplate::parse(*parts.chat_template, "SmolLM2");
  const Json oracle = kSmollm2.oracle();
  for (const Json& prompt : oracle["prompts"]) {
    ChatInput input;
    input.messages = prompt["messages"];
    input.extra = {{"bos_token", tokenizer.bos_token()}, {"eos_token", tokenizer.eos_token()}};
    const std::string text = chat_template.render(chat_variables(input));
    CHECK(text == prompt["text"].get<std::string>());
    CHECK(tokenizer.encode(text, AddSpecial::kNo) ==
          prompt["prompt_ids"].get<std::vector<int32_t>>());
  }
}

TEST_CASE(
    "SmolLM2's logits are within 2e-3 of transformers in f32, and its argmax the same where the "
    "margin is clear") {
  if (!kSmollm2.skipped()) check_forced_logits(kSmollm2);
}
