// What rendering a template gave, in jinja2's terms, so that it can be held against jinja2's.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "text/chat_template.h"

namespace isobit::test {

// A text, or the name of jinja2's exception and its message; "NotSupported" for what is refused by
// name.
struct TemplateOutcome {
  std::string text;
  std::string error;
  std::string message;
  std::string describe() const {
    return error.empty() ? "text " + Json(text).dump() : error + ": " + message;
  }
};

inline constexpr const char* kTemplateNow = "2026-01-31T12:34:56";

inline TemplateOutcome outcome_of(const Error& error) {
  const std::string mark = "chat template: ";
  const size_t at = error.message().find(mark);
  const std::string rest = at == std::string::npos ? "NotSupported: " + error.message()
                                                   : error.message().substr(at + mark.size());
  const size_t colon = rest.find(": ");
  return {{}, rest.substr(0, colon), rest.substr(colon + 2)};
}

inline TemplateOutcome render_outcome(const std::string& source, const Json& variables,
                                      RenderOptions options = {}) {
  options.now = parse_clock(kTemplateNow);
  try {
    return {ChatTemplate::parse(source, "t").render(variables, options), {}, {}};
  } catch (const Error& error) {
    return outcome_of(error);
  }
}

}  // namespace isobit::test
