#include "why/bisection.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "why/minimal_subset.h"

namespace isobit {
namespace {

struct OutOfRuns {};

class Bisector {
 public:
  Bisector(Bisection& out, const AskWith& ask, const BisectOptions& options)
      : out_(out), ask_(ask), options_(options), all_(out.changes.size()) {
    std::iota(all_.begin(), all_.end(), size_t{0});
  }

  void run() {
    try {
      out_.result = search();
    } catch (const OutOfRuns&) {
      out_.result = BisectionResult::kOutOfRuns;
      if (out_.explanations.empty() && !smallest_.empty()) out_.explanations = {smallest_};
    }
  }

 private:
  BisectionResult search() {
    if (differs({})) return BisectionResult::kBaseMoves;
    if (all_.empty() || !differs(all_)) return BisectionResult::kNotShown;
    smallest_ = all_;
    if (try_sets_of(1) || try_sets_of(2)) return BisectionResult::kFound;
    const ChangeSet set = minimal_subset<size_t>(all_, [&](const ChangeSet& applied) {
      const bool shows = differs(applied);
      if (shows) smallest_ = applied;
      return shows;
    });
    out_.explanations = {set};
    return BisectionResult::kFound;
  }

  bool try_sets_of(size_t n) {
    if (all_.size() < n) return false;
    for (size_t i = 0; i < all_.size(); ++i) {
      for (size_t j = n == 1 ? i : i + 1; j < (n == 1 ? i + 1 : all_.size()); ++j) {
        const ChangeSet set = n == 1 ? ChangeSet{i} : ChangeSet{i, j};
        if (differs(set)) out_.explanations.push_back(set);
      }
    }
    return !out_.explanations.empty();
  }

  bool differs(const ChangeSet& applied) {
    for (const BisectionProbe& probe : out_.probes) {
      if (probe.applied == applied) return probe.result.outcome == ProbeOutcome::kDiffers;
    }
    if (static_cast<int64_t>(out_.probes.size()) >= options_.max_runs) throw OutOfRuns{};
    out_.probes.push_back({.applied = applied, .result = ask_(applied)});
    if (options_.on_probe) options_.on_probe(out_.probes.back());
    return out_.probes.back().result.outcome == ProbeOutcome::kDiffers;
  }

  Bisection& out_;
  const AskWith& ask_;
  const BisectOptions& options_;
  ChangeSet all_;
  ChangeSet smallest_;  // known to differ
};

}  // namespace

const char* name(DifferenceIn what) {
  switch (what) {
    case DifferenceIn::kTokens:
      return "tokens";
    case DifferenceIn::kEnding:
      return "ending";
    case DifferenceIn::kBits:
      return "bits";
  }
  return "unknown";
}

const char* name(ProbeOutcome outcome) {
  switch (outcome) {
    case ProbeOutcome::kSame:
      return "same";
    case ProbeOutcome::kDiffers:
      return "differs";
    case ProbeOutcome::kImpossible:
      return "impossible";
  }
  return "unknown";
}

const char* name(BisectionResult result) {
  switch (result) {
    case BisectionResult::kFound:
      return "found";
    case BisectionResult::kNoDifference:
      return "no_difference";
    case BisectionResult::kBaseMoves:
      return "base_moves";
    case BisectionResult::kNotShown:
      return "not_shown";
    case BisectionResult::kOutOfRuns:
      return "out_of_runs";
  }
  return "unknown";
}

Bisection bisect(std::vector<Change> changes, const AskWith& ask, const BisectOptions& options) {
  ISOBIT_REQUIRE(options.max_runs >= 1);
  Bisection out;
  out.changes = std::move(changes);
  Bisector(out, ask, options).run();
  return out;
}

}  // namespace isobit
