// The escapes of a string literal in a template.
#pragma once

#include <string>
#include <string_view>

namespace isobit::jinja {

// `body` is what stands between the quotes. Throws Fault("TemplateSyntaxError") for a broken
// escape.
std::string unescaped_literal(std::string_view body, int line);

}  // namespace isobit::jinja
