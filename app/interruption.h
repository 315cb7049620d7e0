// SIGINT and SIGTERM: a flag that long work looks at between samples, so that what is recorded
// stays whole.
#pragma once

#include <atomic>

namespace isobit::app {

void watch_for_interruption();
const std::atomic<bool>& interrupted();
// Throws Error(interrupted) or Error(terminated), as the signal was. REQUIRES: interrupted().
[[noreturn]] void throw_interruption();

}  // namespace isobit::app
