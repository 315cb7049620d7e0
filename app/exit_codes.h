// Exit codes are an interface: CI systems branch on them. One enumerator each, one row in the
// README, one test each.
#pragma once

#include "base/error.h"

namespace isobit::app {

enum ExitCode : int {
  kOk = 0,
  kDiverged = 1,  // gate failed, divergence found
  kUsage = 2,
  kEnvironment = 3,
  kUnsupported = 4,   // nothing comparable, or the target cannot give what the level needs
  kInconclusive = 5,  // too few samples, or cells not exercised
  kIncomparable = 6,  // a must-match fingerprint item differs
  kWarnings = 7,      // warnings promoted by --fail-on-warn
  kIncomplete = 8,    // run stopped early; run --resume finishes it
  kInternal = 70,
  kInterrupted = 130,
  kTerminated = 143,
};

struct ExitMeaning {
  ExitCode code;
  const char* meaning;
};

inline constexpr ExitMeaning kExitMeanings[] = {
    {kOk,
     "done; the gate passed; compare without --exit-code and run without --check, whatever they "
     "find"},
    {kDiverged,
     "divergence found (run --check, compare --exit-code), the gate failed, or a re-run does not "
     "reproduce"},
    {kUsage, "usage or configuration error"},
    {kEnvironment, "environment: checkpoint unreadable, no such device, disk full, store locked"},
    {kUnsupported, "nothing comparable, or this version or target cannot do it"},
    {kInconclusive,
     "inconclusive: a cell was not exercised, answers or some of their hashes are missing, too few "
     "samples for a policy"},
    {kIncomparable, "incomparable: weights, tokenizer, template or prompts differ"},
    {kWarnings, "a warning, with --fail-on-warn"},
    {kIncomplete, "run incomplete; run --resume can finish it"},
    {kInternal, "internal error"},
    {kInterrupted, "interrupted; what was recorded is kept"},
    {kTerminated, "terminated; what was recorded is kept"},
};

inline int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return kUsage;
    case ErrorCode::environment:
      return kEnvironment;
    case ErrorCode::unsupported:
      return kUnsupported;
    case ErrorCode::inconclusive:
      return kInconclusive;
    case ErrorCode::incomparable:
      return kIncomparable;
    case ErrorCode::incomplete:
      return kIncomplete;
    case ErrorCode::internal:
      return kInternal;
    case ErrorCode::interrupted:
      return kInterrupted;
    case ErrorCode::terminated:
      return kTerminated;
  }
  return kInternal;
}

}  // namespace isobit::app
