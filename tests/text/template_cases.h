// Cases recorded from jinja2 by scripts/oracle/template_oracle.py, and how they are compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/text/template_outcome.h"

namespace isobit::test {

struct TemplateMismatch {
  std::string name;
  std::string expected;
  std::string found;
};

// `worded` compares messages that jinja2 or the template words; those of Python's own exceptions
// move with its version.
enum class Messages { compared, worded };

// Compares a document of cases; `folder` holds the files that cases refer to.
std::vector<TemplateMismatch> mismatches_of(const Json& document,
                                            const std::filesystem::path& folder, Messages messages);
std::filesystem::path template_fixtures();

}  // namespace isobit::test
