#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "tests/fuzz/allocation_meter.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {
namespace {

void read_as_a_library_must(std::string_view input) {
  try {
    read_hostile(input);
  } catch (const Error& e) {
    const bool about_the_input = e.code() == ErrorCode::usage ||
                                 e.code() == ErrorCode::environment ||
                                 e.code() == ErrorCode::unsupported;
    if (!about_the_input) finding(std::string("not an error about the input: ") + e.what());
    if (e.message().empty()) finding("an error without a message");
  }
}

// Of this process's own time, so that a busy machine changes nothing.
constexpr int kMaxSeconds = 5;

void out_of_time(int) {
  constexpr char kText[] = "FINDING: an input took more than 5 s\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
  std::abort();
}

void set_clock(int seconds) {  // 0: none
  const itimerval limit = {{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace

void finding(std::string_view what) {
  std::fprintf(stderr, "FINDING: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

std::vector<std::string_view> parts_of(std::string_view input, size_t n_parts) {
  std::vector<std::string_view> out;
  for (size_t end = 0; out.size() + 1 < n_parts && (end = input.find('\0')) != input.npos;) {
    out.push_back(input.substr(0, end));
    input.remove_prefix(end + 1);
  }
  out.push_back(input);
  return out;
}

}  // namespace isobit::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace isobit::test;
  // What is made once, at the first use, belongs to no input.
  [[maybe_unused]] static const bool warm = [] {
    std::signal(SIGPROF, out_of_time);
    read_as_a_library_must({});
    return true;
  }();
  set_clock(kMaxSeconds);
  start_metering();
  read_as_a_library_must({reinterpret_cast<const char*>(data), size});
  set_clock(0);
  const size_t taken = most_live_bytes();
  const size_t limit = kInputBytesFactor * size + kAllowanceBytes;
  if (taken > limit) {
    finding("an input of " + std::to_string(size) + " bytes took " + std::to_string(taken) +
            " bytes of memory, over the limit of " + std::to_string(limit));
  }
  return 0;
}
