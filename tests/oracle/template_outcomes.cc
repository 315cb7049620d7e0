// Renders many templates in one process, for scripts/oracle: a line of JSON in, a line of JSON out.
//
//   {"template": SOURCE}     the template of the lines that follow; no answer
//   {"variables": OBJECT}    renders it: {"output": TEXT} or {"error": NAME, "message": TEXT}
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "tests/text/template_outcome.h"

namespace isobit::test {
namespace {

// A template's syntax error is the outcome of each of its renderings.
struct Current {
  std::optional<ChatTemplate> parsed;
  TemplateOutcome refusal;
};

Current parse(const std::string& source) {
  try {
    return {ChatTemplate::parse(source, "t"), {}};
  } catch (const Error& error) {
    return {std::nullopt, outcome_of(error)};
  }
}

TemplateOutcome render(const Current& current, const Json& variables) {
  if (!current.parsed) return current.refusal;
  RenderOptions options;
  options.now = parse_clock(kTemplateNow);
  try {
    return {current.parsed->render(variables, options), {}, {}};
  } catch (const Error& error) {
    return outcome_of(error);
  }
}

int answer_lines() {
  Current current;
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = parse_json(line, "standard input");
    if (request.contains("template")) {
      current = parse(request["template"].get<std::string>());
      continue;
    }
    const TemplateOutcome outcome = render(current, request.at("variables"));
    const Json answer = outcome.error.empty()
                            ? Json{{"output", outcome.text}}
                            : Json{{"error", outcome.error}, {"message", outcome.message}};
    std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace isobit::test

int main() {
  try {
    return isobit::test::answer_lines();
  } catch (const std::exception& error) {
    std::cerr << "template_outcomes: " << error.what() << '\n';
    return 1;
  }
}
