// Words of a command that is shown to be copied into a shell.
#pragma once

#include <string>

namespace isobit {

// A word as a POSIX shell takes it: quoted where it holds anything but letters, digits and
// _-./~:@%+,=
std::string shell_word(const std::string& word);

}  // namespace isobit
