// Building text from text: padding, replacing, str.format and the predicates that need a whole
// string.
#pragma once

#include <string>
#include <string_view>

#include "text/template_interpreter.h"

namespace isobit::jinja {

// str.replace; a negative `limit` is none. An empty `what` matches between all code points.
std::string replaced(std::string_view text, std::string_view what, std::string_view with,
                     int64_t limit, Budget& budget);
// `side`: where the text stays: 'l' left, 'r' right, 'c' centre (as str.center places the odd
// blank).
std::string padded(std::string_view text, int64_t width, std::string_view fill, char side,
                   Budget& budget);
bool is_lower_text(std::string_view text);
bool is_upper_text(std::string_view text);

// str.format: {}, {0}, {name}, {0.attribute}, {0[key]}, {!r}, and the usual format specifications.
std::string format_braces(Interpreter& interpreter, std::string_view format,
                          const Arguments& arguments);
// format(value, spec), for numbers and text.
std::string formatted(const Value& v, std::string_view spec, Budget& budget);

// A double with a fixed number of decimals, correctly rounded ("%.*f"), or in another of printf's
// styles.
std::string printf_real(double d, char style, int precision, bool alternate = false);

}  // namespace isobit::jinja
