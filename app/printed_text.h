// Text as it may stand on a terminal and in the log of a build, whoever wrote it. The rules are
// those of reports (report/untrusted_text.h); only a backslash stays one, so that a command that is
// suggested can be copied, and text that went through here once comes out the same.
#pragma once

#include <string>
#include <string_view>

namespace isobit::app {

// One line: control characters, escapes, bidi controls, invalid UTF-8 and what a build server takes
// for a command ("::error::", "##[", "##vso[") become visible escapes.
std::string printable(std::string_view text);

// Lines and tabs stay, each piece between them is printable, and no line begins with "::", which
// GitHub's runner looks for there.
std::string printable_lines(std::string_view text);

}  // namespace isobit::app
