// The one error type of isobit.
//
// Libraries throw Error; main() catches it once and turns its code into an exit code
// (app/exit_codes.h). A divergence is a value, never an error. A message has four parts: what
// failed, where, expected against found, and (as the hint) what to do next.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

enum class ErrorCode {
  usage,         // exit 2: bad arguments, configuration, or input text written by the user
  environment,   // exit 3: unreadable checkpoint, no such device, disk full, store locked
  unsupported,   // exit 4: the target or the build cannot do what was asked
  inconclusive,  // exit 5
  incomparable,  // exit 6
  incomplete,    // exit 8: a run stopped early and can be resumed
  internal,      // exit 70: a bug in isobit
  interrupted,   // exit 130
  terminated,    // exit 143
};

class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, std::string hint = {});

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }  // empty when there is nothing useful to add
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorCode code_;
  std::string message_;
  std::string hint_;
};

// The candidate closest to `word` by edit distance, or "" when none is close enough to be a likely
// typo.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// " (did you mean 'x'?)" for the nearest candidate, or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Checked in every build; for preconditions that only a bug in isobit can break, never for user
// input.
[[noreturn]] void fail_require(const char* condition, const char* file, int line);

}  // namespace isobit

#define ISOBIT_REQUIRE(condition) \
  ((condition) ? static_cast<void>(0) : ::isobit::fail_require(#condition, __FILE__, __LINE__))
