// Whole chat templates (of our own) over conversations, and the public face of ChatTemplate.
#include <doctest/doctest.h>

#include <functional>
#include <future>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/text/template_cases.h"
#include "text/chat_template.h"

namespace isobit::test {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::usage);
    return error.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("chat templates with tools, reasoning and parts render as jinja2 renders them") {
  const std::filesystem::path path = template_fixtures() / "chat.json";
  const Json document = parse_json(read_file(path), path.string());
  REQUIRE(document["cases"].size() >= 100);
  const auto mismatches = mismatches_of(document, template_fixtures(), Messages::compared);
  for (const TemplateMismatch& m : mismatches)
    MESSAGE(m.name, "\n  jinja2: ", m.expected, "\n  isobit: ", m.found);
  CHECK(mismatches.empty());
}

TEST_CASE("a comparison with a wrong expectation is noticed") {
  const Json document = {
      {"cases",
       {{{"template", "{{ 1 + 1 }}"}, {"output", "3"}},
        {{"template", "{{ 1 / 0 }}"}, {"error", "TypeError"}, {"message", "division by zero"}},
        {{"template", "{{ 1 / 0 }}"}, {"output", "x"}}}}};
  CHECK(mismatches_of(document, {}, Messages::compared).size() == 3);
}

TEST_CASE("an error names the template, the line and jinja2's exception") {
  CHECK(error_of([] { ChatTemplate::parse("a\n{% if x %}\nb", "model.gguf"); })
            .starts_with(
                "model.gguf:3: chat template: TemplateSyntaxError: Unexpected end of template."));
  const ChatTemplate made = ChatTemplate::parse("a\n\n{{ x.y.z }}", "model.gguf");
  CHECK(error_of([&] {
          made.render({{"x", Json::object()}});
        }) == "model.gguf:3: chat template: UndefinedError: 'dict object' has no attribute 'y'");
  CHECK(error_of([&] { made.render(Json::array()); }).find("expected an object, found array") !=
        std::string::npos);
}

TEST_CASE("a construct that is not supported is an error that names it and its line") {
  for (const char* statement : {"include 'x'", "extends 'x'", "import 'x' as y",
                                "from 'x' import y", "block b", "autoescape true"}) {
    const std::string word = std::string(statement).substr(0, std::string(statement).find(' '));
    const std::string message =
        error_of([&] { ChatTemplate::parse(std::string("\n{% ") + statement + " %}", "t"); });
    CHECK(message == "t:2: the chat template uses the statement {% " + word +
                         " %}, which isobit does not support");
  }
  CHECK(error_of([] { ChatTemplate::parse("\n{{ [1]|random }}", "t").render(Json::object()); }) ==
        "t:2: the chat template uses the filter random, which isobit does not support");
  CHECK(error_of([] { ChatTemplate::parse("{{ 'a'.encode() }}", "t").render(Json::object()); }) ==
        "t:1: the chat template uses the method str.encode, which isobit does not support");
  CHECK(error_of([] {
          ChatTemplate::parse("{{ lipsum() }}", "t").render(Json::object());
        }).find("random text") != std::string::npos);
  CHECK(error_of([] {
          ChatTemplate::parse("{{ [1]|map('string') }}", "t").render(Json::object());
        }).find("memory address") != std::string::npos);
}

TEST_CASE("the clock is an input, and its use is reported") {
  const ChatTemplate dated =
      ChatTemplate::parse("{% if ask %}{{ strftime_now('%d %B %Y') }}{% endif %}", "t");
  CHECK(dated.reads_clock());
  CHECK_FALSE(ChatTemplate::parse("{{ 'strftime_now' }}", "t").reads_clock());
  CHECK(error_of([&] {
          dated.render({{"ask", true}});
        }).find("no time was given") != std::string::npos);
  RenderOptions options;
  options.now = parse_clock("2024-02-29");
  const RenderedTemplate asked = dated.render_in_full({{"ask", true}}, options);
  CHECK(asked.text == "29 February 2024");
  CHECK(asked.clock_was_read);
  CHECK_FALSE(dated.render_in_full({{"ask", false}}, options).clock_was_read);
  CHECK(dated.render({{"ask", false}}).empty());
}

TEST_CASE("a clock is a date with or without a time of day") {
  CHECK(parse_clock("2026-01-31") == parse_clock("2026-01-31T00:00:00"));
  CHECK(parse_clock("1970-01-01") < parse_clock("9999-12-31T23:59:59"));
  for (const char* bad : {"", "now", "2026-02-30", "2026-01-31T24:00:00", "2026-01-31x10:20:00",
                          "2026-01-31 10:20:00", "2026-01-31T10:20", "2026-01-31T00:00:60",
                          "2026-01-31T10:20:00Z", "2026-1", "2026-5-5", "T00:00", "0000-01-01",
                          "1969-12-31", "10000-01-01", "2026-01-31T+1:00:00", "2026- 1-31"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { parse_clock(bad); }).find("expected a time like") != std::string::npos);
  }
}

TEST_CASE("generation blocks report the bytes that they wrote") {
  const ChatTemplate made = ChatTemplate::parse(
      "{% for m in messages %}<{{ m }}>{% generation %}é{{ m }}{% endgeneration %}{% endfor %}",
      "t");
  CHECK(made.marks_generation());
  const RenderedTemplate rendered = made.render_in_full({{"messages", {"a", "bc"}}});
  CHECK(rendered.text == "<a>éa<bc>ébc");
  REQUIRE(rendered.generation.size() == 2);
  CHECK(rendered.text.substr(rendered.generation[0].begin_byte,
                             rendered.generation[0].end_byte - rendered.generation[0].begin_byte) ==
        "éa");
  CHECK(rendered.text.substr(rendered.generation[1].begin_byte,
                             rendered.generation[1].end_byte - rendered.generation[1].begin_byte) ==
        "ébc");
}

TEST_CASE("the variables are those of apply_chat_template") {
  ChatInput input;
  input.messages = {{{"role", "assistant"}, {"content", "x"}, {"thinking", "hm"}},
                    {{"role", "user"}, {"content", nullptr}}};
  input.extra = {{"bos_token", "<s>"}};
  const Json variables = chat_variables(input);
  CHECK(variables.dump() ==
        R"({"messages":[{"thinking":"hm","role":"assistant","content":"x",)"
        R"("reasoning_content":"hm"},{"role":"user","content":null}],)"
        R"("tools":null,"documents":null,"add_generation_prompt":true,"bos_token":"<s>"})");
  input.messages = Json::object();
  CHECK(error_of([&] { chat_variables(input); }) ==
        "messages: expected an array of objects, found object");
  input.messages = Json::array({1});
  CHECK(error_of([&] { chat_variables(input); }) ==
        "messages[0]: expected an object, found number");
}

TEST_CASE("a template is identified by the digest of its source") {
  const ChatTemplate made = ChatTemplate::parse("x\n", "t");
  CHECK(made.digest() == sha256_hex("x\n"));
  CHECK(made.source() == "x\n");
}

TEST_CASE("one template renders the same text on several threads at once") {
  const ChatTemplate made = ChatTemplate::parse(
      "{% set ns = namespace(n=0) %}{% for i in range(200) %}{% set ns.n = ns.n + i %}{% endfor "
      "%}{{ ns.n }}{{ x }}",
      "t");
  std::vector<std::future<std::string>> results;
  for (int i = 0; i < 4; ++i)
    results.push_back(std::async(std::launch::async, [&made, i] {
      return made.render({{"x", i}});
    }));
  for (int i = 0; i < 4; ++i)
    CHECK(results[static_cast<size_t>(i)].get() == "19900" + std::to_string(i));
}

}  // namespace isobit::test
