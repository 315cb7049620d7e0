#include "gate/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace isobit {
namespace {

const std::string kNoRule;

bool both_complete(const RunComparison& comparison) {
  return comparison.base.status == "complete" && comparison.candidate.status == "complete";
}

std::string counterpart(const RunComparison& comparison, const CellComparison& cell) {
  if (comparison.kind == ComparisonKind::kBetweenRuns) return "the base run";
  return cell.is_reference ? "its own first repeat" : "cell " + cell.reference_name;
}

// The pairs of a cell at each level that a tier asks for.
std::map<Level, SelectedCell> by_level(const CellComparison& cell, const TierList& tiers,
                                       const Waivers& waivers) {
  std::map<Level, SelectedCell> levels;
  for (const PairComparison& pair : cell.pairs) {
    if (waivers.covers(kNoRule, cell.name, pair.request_id)) continue;
    SelectedCell& at = levels[tiers.level_of(pair.prompt_index)];
    at.cell = &cell;
    at.pairs.push_back(&pair);
  }
  return levels;
}

int64_t n_with(const SelectedCell& cell, Level level, Sameness sameness) {
  return std::count_if(cell.pairs.begin(), cell.pairs.end(), [&](const PairComparison* pair) {
    return pair->sameness(level) == sameness;
  });
}

int64_t n_decided(const SelectedCell& cell, Level level) {
  return n_with(cell, level, Sameness::kSame) + n_with(cell, level, Sameness::kDifferent);
}

// Whether both targets give what level 2 compares: some answer was compared by it. Where one was,
// another that lacks it lost its evidence; where none was, the target cannot give it.
bool bits_were_compared(const RunComparison& comparison) {
  return std::any_of(comparison.cells.begin(), comparison.cells.end(), [](const auto& cell) {
    return std::any_of(cell.pairs.begin(), cell.pairs.end(), [](const PairComparison& pair) {
      return pair.sameness(Level::kBitwise) == Sameness::kSame || pair.divergence.numeric;
    });
  });
}

void judge_pairs(const SelectedCell& at, Level level, Outcome without_bits, ReasonList& reasons) {
  const auto n_pairs = static_cast<int64_t>(at.pairs.size());
  if (const int64_t n = n_with(at, level, Sameness::kUnsupported); n > 0) {
    reasons.add(without_bits, at.cell->name,
                fmt::format("{} of {} have the same tokens, but not the logits hashes or logprobs "
                            "that level {} compares{}",
                            n, plural(n_pairs, "answer", "answers"), number(level),
                            without_bits == Outcome::kInconclusive ? "; other answers have" : ""));
  }
  if (const int64_t n = n_with(at, level, Sameness::kMissing); n > 0) {
    reasons.add(Outcome::kInconclusive, at.cell->name,
                fmt::format("{} of {} are missing, incomplete or failed", n,
                            plural(n_pairs, "answer", "answers")));
  }
}

void judge_cell(const RunComparison& comparison, const CellComparison& cell, ReasonList& reasons) {
  if (!cell.exercised) {
    const std::string why =
        cell.not_exercised_reason.empty() ? "no proof that it happened" : cell.not_exercised_reason;
    reasons.add(Outcome::kInconclusive, cell.name, "not exercised: " + why);
  }
  if (!cell.complete && both_complete(comparison))
    reasons.add(Outcome::kIncomplete, cell.name, "not all of its samples are recorded");
  const bool should_have_pairs =
      comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference;
  if (should_have_pairs && cell.pairs.empty())
    reasons.add(Outcome::kInconclusive, cell.name, "nothing was compared");
}

void judge_requests(const RunComparison& comparison, const Waivers& waivers, ReasonList& reasons) {
  std::vector<std::string> ids;
  for (const std::string& id : comparison.unsampled_requests) {
    if (!waivers.covers(kNoRule, "", id)) ids.push_back(id);
  }
  if (ids.empty()) return;
  reasons.add(Outcome::kInconclusive, ids.front(),
              plural(static_cast<int64_t>(ids.size()), "request has", "requests have") +
                  " no sample in any cell");
}

std::string levels_text(const TierList& tiers) {
  std::set<int> levels;
  for (const Tier& tier : tiers.tiers()) levels.insert(number(tier.level));
  return fmt::format("{}", fmt::join(levels, ", "));
}

bool is_covered(const RunComparison& comparison, const std::string& pattern) {
  return std::any_of(comparison.cells.begin(), comparison.cells.end(),
                     [&](const CellComparison& cell) {
                       return cell.exercised && !cell.pairs.empty() && matches(pattern, cell.name);
                     });
}

std::vector<std::string> cell_names(const RunComparison& comparison) {
  std::vector<std::string> names;
  for (const CellComparison& cell : comparison.cells) names.push_back(cell.name);
  return names;
}

// Prompts and samples that were compared and that no override takes out.
struct Counted {
  std::set<int32_t> prompts;
  int64_t n_samples = 0;
};

Counted counted(const RunComparison& comparison, const Waivers& waivers) {
  Counted out;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      if (pair.sameness(Level::kRequestReproducible) == Sameness::kMissing ||
          waivers.covers(kNoRule, cell.name, pair.request_id))
        continue;
      out.prompts.insert(pair.prompt_index);
      ++out.n_samples;
    }
  }
  return out;
}

}  // namespace

std::string plural(int64_t n, const char* singular, const char* plural_form) {
  return fmt::format("{} {}", n, n == 1 ? singular : plural_form);
}

void judge_status(const RunSide& run, const char* what, ReasonList& reasons) {
  if (run.status == "complete") return;
  reasons.add(Outcome::kIncomplete, run.id, std::string(what) + " has not finished");
}

void judge_evidence(const RunComparison& comparison, const TierList& tiers, const Waivers& waivers,
                    ReasonList& reasons) {
  int64_t decided = 0;
  bool any_waived = false;
  const Outcome without_bits =
      bits_were_compared(comparison) ? Outcome::kInconclusive : Outcome::kUnsupported;
  for (const CellComparison& cell : comparison.cells) {
    for (const auto& [level, at] : by_level(cell, tiers, waivers)) {
      judge_pairs(at, level, without_bits, reasons);
      decided += n_decided(at, level);
    }
    if (waivers.covers_cell(kNoRule, cell.name)) {
      any_waived = true;
    } else {
      judge_cell(comparison, cell, reasons);
    }
  }
  judge_requests(comparison, waivers, reasons);
  // While samples can still arrive, an empty comparison is incomplete rather than impossible.
  if (both_complete(comparison) && decided == 0) {
    reasons.add(Outcome::kUnsupported, comparison.candidate.id,
                fmt::format("nothing could be compared at level {}{}", levels_text(tiers),
                            any_waived ? ", beside what overrides let through" : ""));
  }
}

// The digests say that both runs were asked the same; a prompt that only one has was taken away.
void judge_prompt_sets(const RunComparison& comparison, ReasonList& reasons) {
  if (comparison.base.prompts_digest != comparison.candidate.prompts_digest) return;
  const auto judge = [&](const std::vector<std::string>& only, const char* where) {
    if (only.empty()) return;
    reasons.add(Outcome::kInconclusive, only.front(),
                fmt::format("only {} has this prompt ({} of them), although both record one digest "
                            "of their prompts",
                            where, only.size()));
  };
  judge(comparison.prompts_only_in_base, "the base run");
  judge(comparison.prompts_only_in_candidate, "the candidate run");
}

void judge_cell_lists(const RunComparison& comparison, const Waivers& waivers,
                      ReasonList& reasons) {
  judge_prompt_sets(comparison, reasons);
  for (const std::string& cell : comparison.cells_only_in_base) {
    if (!waivers.covers_cell(kNoRule, cell))
      reasons.add(Outcome::kInconclusive, cell, "the candidate run has no such cell");
  }
  for (const std::string& cell : comparison.cells_only_in_candidate) {
    if (!waivers.covers_cell(kNoRule, cell))
      reasons.add(Outcome::kWarn, cell,
                  "the base run has no such cell; it was compared with nothing");
  }
}

void judge_coverage(const RunComparison& comparison, const Coverage& coverage,
                    const Waivers& waivers, ReasonList& reasons) {
  const Counted n = counted(comparison, waivers);
  const auto n_prompts = static_cast<int64_t>(n.prompts.size());
  if (n_prompts < coverage.min_prompts) {
    reasons.add(Outcome::kInconclusive, "coverage",
                fmt::format("{} compared, the policy wants {} or more",
                            plural(n_prompts, "prompt was", "prompts were"), coverage.min_prompts));
  }
  if (n.n_samples < coverage.min_samples) {
    reasons.add(
        Outcome::kInconclusive, "coverage",
        fmt::format("{} compared, the policy wants {} or more",
                    plural(n.n_samples, "sample was", "samples were"), coverage.min_samples));
  }
  for (const std::string& pattern : coverage.cells) {
    if (is_covered(comparison, pattern)) continue;
    reasons.add(Outcome::kInconclusive, "coverage",
                fmt::format("no cell '{}' was exercised and compared{}", pattern,
                            did_you_mean(pattern, cell_names(comparison))),
                {pattern});
  }
}

std::string difference_text(const SelectedCell& cell, const RunComparison& comparison,
                            Level level) {
  int64_t tokens = 0, bits = 0, endings = 0;
  for (const PairComparison* pair : cell.pairs) {
    tokens += pair->divergence.token ? 1 : 0;
    bits += pair->divergence.numeric ? 1 : 0;
    endings += !pair->divergence.token &&
                       pair->sameness(Level::kRequestReproducible) == Sameness::kDifferent
                   ? 1
                   : 0;
  }
  std::string text = fmt::format(
      "{} of {} differ from {}: {} in tokens", n_with(cell, level, Sameness::kDifferent),
      plural(static_cast<int64_t>(cell.pairs.size()), "answer", "answers"),
      counterpart(comparison, *cell.cell), tokens);
  if (level == Level::kBitwise) text += fmt::format(", {} in bits", bits);
  if (endings > 0) text += fmt::format(", {} only in how they end", endings);
  return text;
}

}  // namespace isobit
