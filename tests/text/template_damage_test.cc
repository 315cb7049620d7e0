// Damaged template sources: cut at each byte, and with bytes changed. Each either renders or is
// refused with an Error; under the sanitizers this is also the search for undefined behaviour.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "tests/text/template_cases.h"
#include "text/chat_template.h"

namespace isobit::test {
namespace {

struct Tally {
  int rendered = 0;
  int refused = 0;
  std::set<std::string> messages;

  void run(const std::string& source, const Json& variables) {
    RenderOptions options;
    options.max_steps = 20'000;
    options.now = parse_clock("2026-01-31");
    try {
      ChatTemplate::parse(source, "t").render(variables, options);
      ++rendered;
    } catch (const Error& error) {
      ++refused;
      CHECK(error.code() == ErrorCode::usage);
      CHECK(error.message().starts_with("t:"));
      messages.insert(error.message());
    }
  }
};

const Json kVariables = Json::parse(R"({
  "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Zürich"},
    {"role": "assistant", "content": "",
     "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
    {"role": "tool", "content": {"k": 1}}],
  "tools": [{"function": {"name": "f", "parameters": {"type": "object", "properties":
    {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"enum": ["x"]}}}}}}],
  "bos_token": "<s>", "add_generation_prompt": true})");

std::vector<std::string> small_templates() {
  const Json document =
      parse_json(read_file(template_fixtures() / "language.json"), "language.json");
  std::vector<std::string> out;
  for (const Json& item : document["cases"]) {
    const std::string source = item["template"].get<std::string>();
    if (source.size() < 200 && out.size() < 400) out.push_back(source);
  }
  return out;
}

}  // namespace

TEST_CASE("a template cut at any byte renders or is refused") {
  Tally tally;
  for (const char* name :
       {"chatml.jinja", "headers_and_tools.jinja", "tools_in_tags.jinja", "typed_schema.jinja"}) {
    const std::string source = read_file(template_fixtures() / name);
    for (size_t n = 0; n <= source.size(); ++n) tally.run(source.substr(0, n), kVariables);
  }
  CHECK(tally.rendered >= 4);
  CHECK(tally.refused > 1000);
  CHECK(tally.messages.size() > 100);
}

TEST_CASE("small templates cut at any byte render or are refused") {
  Tally tally;
  for (const std::string& source : small_templates()) {
    for (size_t n = 0; n <= source.size(); ++n) tally.run(source.substr(0, n), kVariables);
  }
  CHECK(tally.refused > 1000);
}

TEST_CASE("a template with changed bytes renders or is refused") {
  std::mt19937 random(20260131);  // the seed is fixed: a failure repeats
  Tally tally;
  std::vector<std::string> sources = small_templates();
  for (const char* name :
       {"chatml.jinja", "headers_and_tools.jinja", "tools_in_tags.jinja", "typed_schema.jinja"}) {
    const std::string source = read_file(template_fixtures() / name);
    for (int i = 0; i < 150; ++i) sources.push_back(source);
  }
  const std::string alphabet = "{}%#()[]'\"-+.,:|~*/\\ \n0_eax\x80\xC3\xF0";
  for (const std::string& source : sources) {
    if (source.empty()) continue;
    for (int round = 0; round < 3; ++round) {
      std::string damaged = source;
      const size_t n_changes = 1 + random() % 3;
      for (size_t k = 0; k < n_changes; ++k) {
        const size_t at = random() % damaged.size();
        const char c =
            random() % 4 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
        if (random() % 3 == 0) {
          damaged.insert(at, 1, c);
        } else {
          damaged[at] = c;
        }
      }
      tally.run(damaged, kVariables);
    }
  }
  CHECK(tally.rendered > 100);
  CHECK(tally.refused > 500);
}

TEST_CASE("text that is not UTF-8 is refused with its place") {
  try {
    ChatTemplate::parse("a\nb\xC3(", "t");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message() ==
          "t:2: chat template: TemplateSyntaxError: the template is not valid UTF-8 at byte 3");
  }
}

}  // namespace isobit::test
