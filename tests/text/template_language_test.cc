// The template language against results recorded from jinja2 3.1.6 as transformers sets it up.
#include <doctest/doctest.h>

#include "base/file.h"
#include "tests/text/template_cases.h"

namespace isobit::test {

std::filesystem::path template_fixtures() {
  return std::filesystem::path(ISOBIT_SOURCE_DIR) / "tests/text/fixtures/templates";
}

namespace {

bool is_syntax_error(const std::string& name) {
  return name == "SyntaxError" || name == "TemplateSyntaxError" || name == "TemplateAssertionError";
}

bool is_worded(const std::string& name) {
  return name == "TemplateError" || name == "TemplateRuntimeError" || name == "UndefinedError" ||
         name == "SecurityError" || name == "FilterArgumentError";
}

// A case whose construct this interpreter refuses says with which words.
bool refuses(const Json& item, const TemplateOutcome& found) {
  return found.error == "NotSupported" &&
         found.message.find("uses " + item["refused"].get<std::string>() + ", which") !=
             std::string::npos;
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
         ((messages == Messages::worded && !is_worded(expected.error)) ||
          expected.message == found.message);
}

std::string source_of(const Json& item, const std::filesystem::path& folder) {
  if (item.contains("template")) return item["template"].get<std::string>();
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
    const std::string source = source_of(item, folder);
    const TemplateOutcome expected = expected_outcome(item);
    const TemplateOutcome found = render_outcome(source, variables);
    if (item.contains("refused") ? refuses(item, found) : agree(expected, found, messages))
      continue;
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

TEST_CASE(
    "every construct of jinja2's documentation gives what jinja2 gives, or is refused by name") {
  const std::filesystem::path path = template_fixtures() / "constructs.json";
  const Json document = parse_json(read_file(path), path.string());
  REQUIRE(document["cases"].size() > 590);
  size_t n_refused = 0;
  for (const Json& item : document["cases"]) n_refused += item.contains("refused");
  CHECK(n_refused < 30);
  const auto mismatches = mismatches_of(document, template_fixtures(), Messages::worded);
  print(mismatches);
  CHECK(mismatches.empty());
}

}  // namespace isobit::test
