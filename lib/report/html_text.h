// HTML written by hand, with one rule: text that came from outside passes through here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace isobit {

// visible_text (report/untrusted_text.h) as HTML text or as the value of a quoted attribute.
std::string html_text(std::string_view text, size_t max_characters = SIZE_MAX);

// The same inside <code>.
std::string html_code(std::string_view text, size_t max_characters = SIZE_MAX);

// A command to be copied into a shell: backslashes stay single. One that holds what a terminal
// would not show as itself is nothing to copy, and is shown as html_text does.
std::string html_shell_text(std::string_view command);

// "sha256-..." of an inline style or script, for a Content-Security-Policy.
std::string csp_hash(std::string_view content);

}  // namespace isobit
