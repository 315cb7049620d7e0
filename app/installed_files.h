// Where the files lie that come with the program: beside the source when it was built there, in
// share/isobit when it was installed. Found from the program's own place, so that a package can be
// unpacked anywhere and no path of the machine that built it is in the program.
#pragma once

#include <string>

namespace isobit::app {

// The folder of the bundled checkpoint. Where none is found: the place where an installed one would
// be, for the message that it is not there.
std::string bundled_checkpoint();

}  // namespace isobit::app
