// What may be concluded from a comparison. Pure: the comparison in, a verdict with its reasons out.
//
// Every reason found is kept; the outcome is the one that comes first in this order (product page,
// exit codes): incomparable, unsupported, fail, incomplete, inconclusive, warn. Missing evidence
// never ends as a pass.
#pragma once

#include <string>
#include <vector>

#include "compare/level.h"
#include "compare/run_comparison.h"

namespace isobit {

enum class Outcome {
  kPass,
  kWarn,
  kFail,
  kInconclusive,  // a cell was not exercised, or samples are missing
  kIncomparable,  // a must-match fingerprint item differs
  kUnsupported,   // nothing comparable, or the target cannot give what the level needs
  kIncomplete,    // a run stopped early and can be resumed
};
const char* name(Outcome outcome);

// 0 for kPass; the larger, the sooner it decides a verdict.
int precedence(Outcome outcome);

struct Reason {
  Outcome outcome = Outcome::kPass;
  std::string subject;  // the cell, fingerprint item or run it is about
  std::string text;     // one sentence
};

struct Verdict {
  Outcome outcome = Outcome::kPass;
  Level level = Level::kRequestReproducible;
  std::vector<Reason> reasons;  // by precedence, then in the order of the comparison
  std::string sentence;         // the verdict in plain words, one line
};

// A fingerprint item that base and candidate must share, for their answers to be comparable at all.
struct MustMatch {
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;
  std::string what;  // in words: "the weights"
  // Unknown on both sides is fine: raw token ids need neither tokenizer nor template, and the
  // prompts' digest covers the ids.
  bool may_be_absent = false;
};
const std::vector<MustMatch>& default_must_match();

struct GateRequest {
  Level level = Level::kRequestReproducible;
  std::vector<MustMatch> must_match = default_must_match();
  // The candidate's own cells against its reference cell: level 1 asks for the same tokens
  // "whatever else runs" as well as for the baseline's. Null: only the baseline is asked about, and
  // the verdict says so.
  const RunComparison* candidate_within = nullptr;
};

// REQUIRES: comparison is between runs; candidate_within, if given, is within one.
Verdict gate(const RunComparison& comparison, const GateRequest& request);

// Is every cell the same as its reference cell, at this level? REQUIRES: comparison is within a
// run.
Verdict check_run(const RunComparison& comparison, Level level);

}  // namespace isobit
