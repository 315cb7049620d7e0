// The time as records state it.
#pragma once

#include <string>

namespace isobit::app {

std::string utc_now();  // 2026-01-31T23:59:59Z

}  // namespace isobit::app
