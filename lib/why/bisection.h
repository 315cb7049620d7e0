// Which of the things that changed between two executions explains that their answers differ: one
// of them, or the smallest set of them, found by applying subsets and asking again.
//
// Pure: how a subset is applied and asked is the caller's. Every single change is tried, then every
// pair, then all of them with deletions (minimal_subset.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace isobit {

struct Change {
  std::string name;  // "engine.kernel_set", "model"
  std::string from, to;
  std::string effect;  // what such a change can affect; may be empty
};

// Where an answer leaves the other side's. In the order in which they are chosen to be explained.
enum class DifferenceIn { kTokens, kEnding, kBits };
const char* name(DifferenceIn what);  // "tokens", "ending", "bits"

// The one answer whose difference is explained: of all that differ, the one whose tokens part
// earliest; where no tokens part, the one whose bits do.
struct DivergingAnswer {
  int32_t prompt_index = 0;  // into the base's requests
  std::string request_id;
  DifferenceIn in = DifferenceIn::kBits;
  int32_t position = 0;       // of the answer, from 0
  int64_t n_diverging = 1;    // answers that differ, this one included
  bool only_request = false;  // the request was named, not chosen
};

enum class ProbeOutcome { kSame, kDiffers, kImpossible };
const char* name(ProbeOutcome outcome);

struct ProbeResult {
  ProbeOutcome outcome = ProbeOutcome::kSame;
  std::string note;  // where it differs, or why it cannot be
};

using ChangeSet = std::vector<size_t>;  // indices into the changes, ascending

// The base with these changes applied; is its answer the base's recorded one?
using AskWith = std::function<ProbeResult(const ChangeSet& applied)>;

struct BisectionProbe {
  ChangeSet applied;
  ProbeResult result;
};

enum class BisectionResult {
  kFound,         // `explanations` are the smallest sets
  kNoDifference,  // nothing that was recorded differs
  kBaseMoves,     // the base, asked again, no longer gives its recorded answer
  kNotShown,      // all changes together, asked again here, give the base's answer
  kOutOfRuns,     // max_runs came first; `explanations` holds the smallest set so far
};
const char* name(BisectionResult result);  // "found", ...

struct Bisection {
  std::optional<DivergingAnswer> answer;  // absent: nothing that was recorded differs
  BisectionResult result = BisectionResult::kNoDifference;
  std::vector<Change> changes;          // that can be applied here
  std::vector<Change> suspects;         // that cannot
  std::vector<ChangeSet> explanations;  // each alone makes the difference
  std::vector<BisectionProbe> probes;   // in the order of asking
};

struct BisectOptions {
  int64_t max_runs = 64;
  std::function<void(const BisectionProbe&)> on_probe = {};  // may be empty
};

// REQUIRES: something that was recorded differs.
Bisection bisect(std::vector<Change> changes, const AskWith& ask,
                 const BisectOptions& options = {});

}  // namespace isobit
