// Counts what has been allocated and not given back, and the most that it ever was.
//
// A program that links allocation_meter.cc is metered: under AddressSanitizer through its hooks,
// which see malloc too; otherwise through operators new and delete that replace the library's.
#pragma once

#include <cstddef>

namespace isobit::test {

// Runs from here: most_live_bytes() is 0 again.
void start_metering();
// The most bytes that were live at once since then, over those that were live at the start.
size_t most_live_bytes();

}  // namespace isobit::test
