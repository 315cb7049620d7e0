// Cases recorded from jinja2 by scripts/oracle/template_oracle.py, and how they are compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

namespace isobit::test {

// What rendering gave: a text, or the name of jinja2's exception and its message.
struct TemplateOutcome {
  std::string text;
  std::string error;
  std::string message;
  std::string describe() const;
};

TemplateOutcome render_outcome(const std::string& source, const Json& variables);

struct TemplateMismatch {
  std::string name;
  std::string expected;
  std::string found;
};

enum class Messages { compared, ignored };

// Compares a document of cases; `folder` holds the files that cases refer to.
std::vector<TemplateMismatch> mismatches_of(const Json& document,
                                            const std::filesystem::path& folder, Messages messages);
std::filesystem::path template_fixtures();

}  // namespace isobit::test
