// The source of a chat template, rendered for one conversation.
#include "base/json.h"
#include "tests/fuzz/fuzz_target.h"
#include "text/chat_template.h"

namespace isobit::test {

namespace {

constexpr size_t kMaxSteps = 20'000;
constexpr size_t kBytesOfAStep = 512;  // an element made, with the value in it

const Json& conversation() {
  static const Json variables = parse_json(R"({
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Z\u00fcrich"},
      {"role": "assistant", "content": "",
       "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "tool", "content": {"k": 1}}],
    "tools": [{"function": {"name": "f", "parameters": {"type": "object", "properties":
      {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}}}}}}],
    "bos_token": "<s>", "add_generation_prompt": true, "n": 3, "x": -1.5})",
                                           "conversation");
  return variables;
}

}  // namespace

const size_t kAllowanceBytes = 4 * kMiB + kMaxSteps * kBytesOfAStep;

void read_hostile(std::string_view input) {
  RenderOptions options;
  options.max_steps = kMaxSteps;
  options.max_output_bytes = kMiB;
  options.now = parse_clock("2026-01-31");
  const ChatTemplate chat_template = ChatTemplate::parse(input, "f");
  (void)chat_template.reads_clock();
  const std::string first = chat_template.render(conversation(), options);
  expect(chat_template.render(conversation(), options) == first, "another text the second time");
}

}  // namespace isobit::test
