// The template language against results recorded from jinja2 3.1.6 as transformers sets it up.
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "tests/text/template_cases.h"
#include "text/chat_template.h"

namespace isobit::test {

std::string TemplateOutcome::describe() const {
  return error.empty() ? "text " + Json(text).dump() : error + ": " + message;
}

TemplateOutcome render_outcome(const std::string& source, const Json& variables) {
  TemplateOutcome outcome;
  try {
    RenderOptions options;
    options.now = parse_clock("2026-01-31T12:34:56");
    outcome.text = ChatTemplate::parse(source, "t").render(variables, options);
  } catch (const Error& error) {
    const std::string mark = "chat template: ";
    const size_t at = error.message().find(mark);
    const std::string rest = at == std::string::npos ? "NotSupported: " + error.message()
                                                     : error.message().substr(at + mark.size());
    const size_t colon = rest.find(": ");
    outcome.error = rest.substr(0, colon);
    outcome.message = rest.substr(colon + 2);
  }
  return outcome;
}

std::filesystem::path template_fixtures() {
  return std::filesystem::path(ISOBIT_SOURCE_DIR) / "tests/text/fixtures/templates";
}

namespace {

bool is_syntax_error(const std::string& name) {
  return name == "SyntaxError" || name == "TemplateSyntaxError" || name == "TemplateAssertionError";
}

TemplateOutcome expected_outcome(const Json& expected) {
  TemplateOutcome outcome;
  outcome.text = expected.value("output", "");
  outcome.error = expected.value("error", "");
  outcome.message = expected.value("message", "");
  return outcome;
}

bool agree(const TemplateOutcome& expected, const TemplateOutcome& found, Messages messages) {
  if (expected.error.empty() || found.error.empty())
    return expected.error == found.error && expected.text == found.text;
  if (is_syntax_error(expected.error)) return is_syntax_error(found.error);
  return expected.error == found.error &&
         (messages == Messages::ignored || expected.message == found.message);
}

std::string source_of(const Json& document, const Json& item, const std::filesystem::path& folder) {
  if (item.contains("template")) return item["template"].get<std::string>();
  if (item.contains("source"))
    return document["templates"][item["source"].get<std::string>()].get<std::string>();
  return read_file(folder / item["file"].get<std::string>());
}

void print(const std::vector<TemplateMismatch>& mismatches) {
  for (const TemplateMismatch& m : mismatches) {
    MESSAGE(m.name, "\n  jinja2: ", m.expected, "\n  isobit: ", m.found);
  }
}

}  // namespace

std::vector<TemplateMismatch> mismatches_of(const Json& document,
                                            const std::filesystem::path& folder,
                                            Messages messages) {
  std::vector<TemplateMismatch> out;
  for (const Json& item : document["cases"]) {
    Json variables = document.value("variables", Json::object());
    if (item.contains("variables")) {
      for (const auto& [name, value] : item["variables"].items()) variables[name] = value;
    }
    const std::string source = source_of(document, item, folder);
    const TemplateOutcome expected = expected_outcome(item);
    const TemplateOutcome found = render_outcome(source, variables);
    if (agree(expected, found, messages)) continue;
    out.push_back({item.value("name", item.contains("template") ? source : std::string("?")),
                   expected.describe(), found.describe()});
  }
  return out;
}

TEST_CASE("every recorded piece of the language gives the bytes or the error that jinja2 gives") {
  const std::filesystem::path path = template_fixtures() / "language.json";
  const Json document = parse_json(read_file(path), path.string());
  REQUIRE(document["cases"].size() > 300);
  const auto mismatches = mismatches_of(document, template_fixtures(), Messages::compared);
  print(mismatches);
  CHECK(mismatches.empty());
}

TEST_CASE("real chat templates render as jinja2 renders them") {
  const char* const path = std::getenv("ISOBIT_TEMPLATE_CASES");
  if (path == nullptr) {
    MESSAGE(
        "SKIPPED: ISOBIT_TEMPLATE_CASES is not set; scripts/oracle/template_oracle.py real writes "
        "such a file");
    return;
  }
  const Json document = Json::parse(read_file(path));
  std::set<std::string> templates;
  const auto mismatches = mismatches_of(document, {}, Messages::compared);
  for (const TemplateMismatch& m : mismatches)
    templates.insert(m.name.substr(0, m.name.find(" / ")));
  print(mismatches);
  MESSAGE(document["templates"].size(), " templates, ", document["cases"].size(), " cases, ",
          mismatches.size(), " mismatches in ", templates.size(), " templates");
  CHECK(mismatches.empty());
}

}  // namespace isobit::test
