// SIGINT and SIGTERM: a flag that long work looks at between samples, so that what is recorded
// stays whole.
#pragma once

#include <atomic>
#include <string>

namespace isobit::app {

// From here on a first signal only sets the flag; before, it ends the program at once. Called where
// recording begins.
void watch_for_interruption();
// A closed pipe, or a file past the limit on its size, becomes an error of the write that meets it.
void let_writes_fail();
// Whether a write met the limit on the size of files (ulimit -f) since.
bool file_limit_was_met();
const std::atomic<bool>& interrupted();
// Throws Error(interrupted) or Error(terminated), as the signal was. REQUIRES: interrupted().
[[noreturn]] void throw_interruption(const std::string& hint);

}  // namespace isobit::app
