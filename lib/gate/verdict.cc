#include "gate/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace isobit {
namespace {

// The names under which lib/fingerprint records what must match. The prompts' digest is the run's
// own.
const std::vector<MustMatch> kDefaultMustMatch = {
    {.item_class = FingerprintClass::kModel, .name = "weights.stored_root", .what = "the weights"},
    {.item_class = FingerprintClass::kText,
     .name = "tokenizer",
     .what = "the tokenizer",
     .may_be_absent = true},
    {.item_class = FingerprintClass::kText,
     .name = "chat_template",
     .what = "the chat template",
     .may_be_absent = true},
};

class ReasonList {
 public:
  void add(Outcome outcome, std::string subject, std::string text) {
    reasons_.push_back(
        {.outcome = outcome, .subject = std::move(subject), .text = std::move(text)});
  }

  Verdict verdict(Level level) && {
    std::stable_sort(reasons_.begin(), reasons_.end(), [](const Reason& a, const Reason& b) {
      return precedence(a.outcome) > precedence(b.outcome);
    });
    Verdict verdict;
    verdict.level = level;
    verdict.reasons = std::move(reasons_);
    if (!verdict.reasons.empty()) verdict.outcome = verdict.reasons.front().outcome;
    return verdict;
  }

 private:
  std::vector<Reason> reasons_;
};

std::string plural(int64_t n, const char* singular, const char* plural_form) {
  return fmt::format("{} {}", n, n == 1 ? singular : plural_form);
}

int64_t n_with(const CellComparison& cell, Level level, Sameness sameness) {
  return std::count_if(cell.pairs.begin(), cell.pairs.end(), [&](const PairComparison& pair) {
    return pair.sameness(level) == sameness;
  });
}

int64_t n_decided(const RunComparison& comparison, Level level) {
  int64_t n = 0;
  for (const CellComparison& cell : comparison.cells) {
    n += n_with(cell, level, Sameness::kSame) + n_with(cell, level, Sameness::kDifferent);
  }
  return n;
}

std::string counterpart(const RunComparison& comparison, const CellComparison& cell) {
  if (comparison.kind == ComparisonKind::kBetweenRuns) return "the base run";
  return cell.is_reference ? "its own first repeat" : "cell " + cell.reference_name;
}

std::string difference_text(const RunComparison& comparison, const CellComparison& cell,
                            Level level) {
  const int64_t n = n_with(cell, level, Sameness::kDifferent);
  std::string text = fmt::format("{} of {} differ from {}: {} in tokens", n,
                                 plural(cell.counts.n_pairs, "answer", "answers"),
                                 counterpart(comparison, cell), cell.counts.token_divergences);
  if (level == Level::kBitwise)
    text += fmt::format(", {} in bits", cell.counts.numeric_divergences);
  if (cell.counts.finish_differences > 0)
    text += fmt::format(", {} only in how they end", cell.counts.finish_differences);
  return text;
}

void judge_cell(const RunComparison& comparison, const CellComparison& cell, Level level,
                bool run_is_complete, ReasonList& reasons) {
  if (n_with(cell, level, Sameness::kDifferent) > 0) {
    reasons.add(Outcome::kFail, cell.name, difference_text(comparison, cell, level));
  }
  if (const int64_t n = n_with(cell, level, Sameness::kUnsupported); n > 0) {
    reasons.add(Outcome::kUnsupported, cell.name,
                fmt::format("{} of {} have the same tokens, but not the logits hashes or logprobs "
                            "that level {} compares",
                            n, plural(cell.counts.n_pairs, "answer", "answers"), number(level)));
  }
  if (const int64_t n = n_with(cell, level, Sameness::kMissing); n > 0) {
    reasons.add(Outcome::kInconclusive, cell.name,
                fmt::format("{} of {} are missing, incomplete or failed", n,
                            plural(cell.counts.n_pairs, "answer", "answers")));
  }
  if (!cell.exercised) {
    const std::string why =
        cell.not_exercised_reason.empty() ? "no proof that it happened" : cell.not_exercised_reason;
    reasons.add(Outcome::kInconclusive, cell.name, "not exercised: " + why);
  }
  if (!cell.complete && run_is_complete)
    reasons.add(Outcome::kIncomplete, cell.name, "not all of its samples are recorded");
  const bool should_have_pairs =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference;
  if (should_have_pairs && cell.pairs.empty())
    reasons.add(Outcome::kInconclusive, cell.name, "nothing was compared");
}

void judge_status(const RunSide& run, const char* what, ReasonList& reasons) {
  if (run.status == "complete") return;
  reasons.add(Outcome::kIncomplete, run.id,
              fmt::format("{} is {}, not complete", what,
                          run.status.empty() ? "without status" : run.status));
}

void judge_requests(const RunComparison& comparison, ReasonList& reasons) {
  if (comparison.unsampled_requests.empty()) return;
  reasons.add(Outcome::kInconclusive, comparison.unsampled_requests.front(),
              plural(static_cast<int64_t>(comparison.unsampled_requests.size()), "request has",
                     "requests have") +
                  " no sample in any cell");
}

bool both_complete(const RunComparison& comparison) {
  return comparison.base.status == "complete" && comparison.candidate.status == "complete";
}

void judge_cells(const RunComparison& comparison, Level level, ReasonList& reasons) {
  const bool complete = both_complete(comparison);
  for (const CellComparison& cell : comparison.cells)
    judge_cell(comparison, cell, level, complete, reasons);
  judge_requests(comparison, reasons);
  // While samples can still arrive, an empty comparison is incomplete rather than impossible.
  if (complete && n_decided(comparison, level) == 0) {
    reasons.add(Outcome::kUnsupported, comparison.candidate.id,
                fmt::format("nothing could be compared at level {}", number(level)));
  }
}

struct ItemValue {
  bool known = false;
  std::string text;
};

ItemValue item_value(const Fingerprint& fingerprint, const MustMatch& item) {
  const auto at = std::find_if(fingerprint.items.begin(), fingerprint.items.end(),
                               [&](const FingerprintItem& i) {
                                 return i.item_class == item.item_class && i.name == item.name;
                               });
  if (at == fingerprint.items.end()) return {.text = "not recorded"};
  if (at->source == FingerprintSource::kUnknown)
    return {.text = at->reason.empty() ? "unknown" : "unknown (" + at->reason + ")"};
  return {.known = true, .text = at->value};
}

void judge_item(const RunComparison& comparison, const MustMatch& item, ReasonList& reasons) {
  const ItemValue base = item_value(comparison.base.fingerprint, item);
  const ItemValue candidate = item_value(comparison.candidate.fingerprint, item);
  const std::string subject = std::string(name(item.item_class)) + "." + item.name;
  const std::string values = fmt::format("base {}, candidate {}", base.text, candidate.text);
  if (base.known != candidate.known || (base.known && base.text != candidate.text)) {
    reasons.add(Outcome::kIncomparable, subject,
                fmt::format("{} must be the same: {}", item.what, values));
  } else if (!base.known && !item.may_be_absent) {
    reasons.add(Outcome::kWarn, subject,
                fmt::format("{} could not be verified to be the same: {}", item.what, values));
  }
}

void judge_prompts(const RunComparison& comparison, ReasonList& reasons) {
  const std::string& base = comparison.base.prompts_digest;
  const std::string& candidate = comparison.candidate.prompts_digest;
  if (base == candidate && !base.empty()) return;
  const auto shown = [](const std::string& digest) {
    return digest.empty() ? std::string("not recorded") : digest;
  };
  reasons.add(
      Outcome::kIncomparable, "prompts",
      fmt::format("the prompts and their parameters must be the same: base {}, candidate {}",
                  shown(base), shown(candidate)));
}

void judge_coverage(const RunComparison& comparison, ReasonList& reasons) {
  for (const std::string& cell : comparison.cells_only_in_base) {
    reasons.add(Outcome::kInconclusive, cell, "the candidate run has no such cell");
  }
  for (const std::string& cell : comparison.cells_only_in_candidate) {
    reasons.add(Outcome::kWarn, cell,
                "the base run has no such cell; it was compared with nothing");
  }
}

// A rate is never printed bare: without failures the bound they allow, else the interval.
std::string match_text(const Proportion& match) {
  if (match.trials == 0) return "no prompt could be judged";
  const std::string rate =
      fmt::format("{} of {} match", match.matches, plural(match.trials, "prompt", "prompts"));
  if (match.matches == match.trials) {
    return rate + fmt::format(" (95 % bound: at most {:.1f} % of such prompts differ)",
                              100 * match.failure_bound95);
  }
  return rate + fmt::format(" (95 % interval: {:.1f} to {:.1f} %)", 100 * match.wilson95.low,
                            100 * match.wilson95.high);
}

std::string outcome_words(const RunComparison& comparison, Outcome outcome) {
  const bool within = comparison.kind == ComparisonKind::kWithinRun;
  switch (outcome) {
    case Outcome::kPass:
      return within ? "every cell gave the same answers"
                    : "the candidate gives the base run's answers";
    case Outcome::kWarn:
      return within ? "every cell gave the same answers, with warnings"
                    : "the same answers, with warnings";
    case Outcome::kFail:
      return within ? "answers depend on how the target was loaded"
                    : "the candidate's answers differ";
    case Outcome::kInconclusive:
      return "no difference seen, but evidence is missing";
    case Outcome::kIncomparable:
      return "the runs cannot be compared";
    case Outcome::kUnsupported:
      return "the level cannot be judged from what was recorded";
    case Outcome::kIncomplete:
      return "a run is incomplete";
  }
  return "unknown";
}

std::string upper(std::string word) {
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return word;
}

void finish(Verdict& verdict, const RunComparison& comparison) {
  const Proportion& match =
      verdict.level == Level::kBitwise ? comparison.bit_match : comparison.token_match;
  verdict.sentence =
      fmt::format("{} at level {}: {}; {}", upper(name(verdict.outcome)), number(verdict.level),
                  outcome_words(comparison, verdict.outcome), match_text(match));
}

}  // namespace

const char* name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kFail:
      return "fail";
    case Outcome::kInconclusive:
      return "inconclusive";
    case Outcome::kIncomparable:
      return "incomparable";
    case Outcome::kUnsupported:
      return "unsupported";
    case Outcome::kIncomplete:
      return "incomplete";
  }
  return "unknown";
}

int precedence(Outcome outcome) {
  switch (outcome) {
    case Outcome::kIncomparable:
      return 6;
    case Outcome::kUnsupported:
      return 5;
    case Outcome::kFail:
      return 4;
    case Outcome::kIncomplete:
      return 3;
    case Outcome::kInconclusive:
      return 2;
    case Outcome::kWarn:
      return 1;
    case Outcome::kPass:
      return 0;
  }
  return 0;
}

const std::vector<MustMatch>& default_must_match() {
  return kDefaultMustMatch;
}

Verdict gate(const RunComparison& comparison, const GateRequest& request) {
  ISOBIT_REQUIRE(comparison.kind == ComparisonKind::kBetweenRuns);
  ISOBIT_REQUIRE(request.candidate_within == nullptr ||
                 request.candidate_within->kind == ComparisonKind::kWithinRun);
  ReasonList reasons;
  for (const MustMatch& item : request.must_match) judge_item(comparison, item, reasons);
  judge_prompts(comparison, reasons);
  judge_status(comparison.base, "the base run", reasons);
  judge_status(comparison.candidate, "the candidate run", reasons);
  judge_cells(comparison, request.level, reasons);
  judge_coverage(comparison, reasons);
  if (request.candidate_within != nullptr) {
    for (const CellComparison& cell : request.candidate_within->cells) {
      if (n_with(cell, request.level, Sameness::kDifferent) == 0) continue;
      reasons.add(Outcome::kFail, cell.name,
                  "within the candidate, " +
                      difference_text(*request.candidate_within, cell, request.level));
    }
  }
  Verdict verdict = std::move(reasons).verdict(request.level);
  finish(verdict, comparison);
  return verdict;
}

Verdict check_run(const RunComparison& comparison, Level level) {
  ISOBIT_REQUIRE(comparison.kind == ComparisonKind::kWithinRun);
  ReasonList reasons;
  judge_status(comparison.candidate, "the run", reasons);
  judge_cells(comparison, level, reasons);
  Verdict verdict = std::move(reasons).verdict(level);
  finish(verdict, comparison);
  return verdict;
}

}  // namespace isobit
