// What the operating system says about the machine, as text: the parsers are pure functions, so
// that tests can feed them the files of machines that are not at hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

struct CpuFacts {
  std::string model;               // "Intel(R) Xeon(R) Processor"; empty when the text does not say
  std::vector<std::string> flags;  // those that decide which code can run, in a fixed order
};
// `cpuinfo` is the text of /proc/cpuinfo, of x86 or Arm. Speeds in it (MHz, bogomips) move by
// themselves and are not read.
CpuFacts parse_cpuinfo(std::string_view cpuinfo);

// Whole GiB, rounded to nearest: the kernel's share, and so the exact size, changes from boot to
// boot.
std::optional<int64_t> parse_memory_gib(std::string_view meminfo);

// "Debian GNU/Linux 12 (bookworm)", of the text of /etc/os-release; empty when it has no
// PRETTY_NAME.
std::string parse_os_name(std::string_view os_release);

// A small file of the system, whole; nothing when it cannot be read. (Files under /proc have no
// size of their own.)
std::optional<std::string> read_system_file(const char* path);

}  // namespace isobit
