// Rates, counted in prompts, with Wilson's interval and Clopper and Pearson's bounds; and what a
// rate means beside the noise of the reference's own repeats.
#include <algorithm>
#include <map>

#include "gate/figure_counting.h"
#include "gate/two_proportions.h"

namespace isobit {
namespace {

// The worst that a prompt's pairs show, in the comparison's own order.
struct PromptCount {
  int32_t prompt = 0;
  bool different = false, missing = false, unsupported = false;
};

// One pair that differs decides its prompt; a prompt that is undecided is no trial. Prompts come in
// runs, cell by cell, so they are gathered in a list and merged at the end.
class PromptCounter {
 public:
  explicit PromptCounter(Level level) : level_(level) {}

  void add(const CellComparison& cell, const PairComparison& pair) {
    if (prompts_.empty() || prompts_.back().prompt != pair.prompt_index)
      prompts_.push_back({.prompt = pair.prompt_index});
    PromptCount& count = prompts_.back();
    const Sameness sameness = pair.sameness(level_);
    count.missing |= sameness == Sameness::kMissing;
    count.unsupported |= sameness == Sameness::kUnsupported;
    if (sameness != Sameness::kDifferent) return;
    count.different = true;
    note_deciding(evidence_, cell, pair);
  }

  // The value is the number of prompts that differ.
  Figure failures() {
    merge();
    Figure figure = evidence_;
    int64_t n_unsupported = 0;
    for (const PromptCount& count : prompts_) {
      figure.value += count.different ? 1 : 0;
      figure.n_trials += count.different || !(count.missing || count.unsupported) ? 1 : 0;
      n_unsupported += count.unsupported ? 1 : 0;
    }
    figure.state = FigureState::kKnown;
    // A difference that was seen counts whatever else is missing; none seen says nothing while
    // some could not be looked at.
    if (figure.value == 0 && n_unsupported > 0)
      return not_recorded("neither logits hashes nor logprobs on both sides for " +
                          counted_text(n_unsupported, "prompt", "prompts"));
    if (figure.n_trials == 0) return nothing("no prompt could be judged");
    return figure;
  }

 private:
  Level level_;
  void merge() {
    std::sort(prompts_.begin(), prompts_.end(),
              [](const PromptCount& a, const PromptCount& b) { return a.prompt < b.prompt; });
    std::vector<PromptCount> merged;
    for (const PromptCount& count : prompts_) {
      if (merged.empty() || merged.back().prompt != count.prompt) {
        merged.push_back(count);
        continue;
      }
      merged.back().different |= count.different;
      merged.back().missing |= count.missing;
      merged.back().unsupported |= count.unsupported;
    }
    prompts_ = std::move(merged);
  }

  std::vector<PromptCount> prompts_;
  Figure evidence_;
};

Figure counted_failures(const Selection& selection, Level level) {
  PromptCounter counter(level);
  each_pair(selection, [&](const CellComparison& cell, const PairComparison& pair) {
    counter.add(cell, pair);
  });
  return counter.failures();
}

// From a figure whose value is a number of failures to the rate of them.
Figure as_failure_rate(Figure figure) {
  if (figure.state != FigureState::kKnown) return figure;
  const auto failures = static_cast<int64_t>(figure.value);
  const int64_t n = figure.n_trials;
  figure.value = static_cast<double>(failures) / static_cast<double>(n);
  figure.interval95 = wilson_interval95(failures, n);
  figure.high_bound95 = failure_rate_bound95(failures, n);
  figure.low_bound95 = 1 - failure_rate_bound95(n - failures, n);
  return figure;
}

Figure mismatch_rate(const Selection& selection, Level level) {
  Figure figure = counted_failures(selection, level);
  if (figure.state == FigureState::kKnown)
    figure.counted = fmt::format("{:.0f} of {} differ", figure.value,
                                 counted_text(figure.n_trials, "prompt", "prompts"));
  return as_failure_rate(std::move(figure));
}

Figure complement(Figure figure) {
  if (figure.state != FigureState::kKnown) return figure;
  figure.counted =
      fmt::format("{:.0f} of {} match", static_cast<double>(figure.n_trials) * (1 - figure.value),
                  counted_text(figure.n_trials, "prompt", "prompts"));
  figure.value = 1 - figure.value;
  figure.interval95 = {.low = 1 - figure.interval95->high, .high = 1 - figure.interval95->low};
  const double low = 1 - *figure.high_bound95;
  figure.high_bound95 = 1 - *figure.low_bound95;
  figure.low_bound95 = low;
  return figure;
}

// The candidate's repeats in blocks of as many as there are to measure the noise with, so that both
// sides get as many chances to differ.
struct RepeatBlock {
  int32_t begin = 0, end = 0;
};

std::vector<RepeatBlock> repeat_blocks(const SelectedCell& cell, int32_t n_chances) {
  int32_t n_repeats = 0;
  for (const PairComparison* pair : cell.pairs) n_repeats = std::max(n_repeats, pair->repeat + 1);
  std::vector<RepeatBlock> blocks;
  for (int32_t begin = 0; begin < n_repeats; begin += n_chances)
    blocks.push_back({.begin = begin, .end = std::min(begin + n_chances, n_repeats)});
  return blocks;
}

Failures failures_beside_noise(const SelectedCell& cell, const RepeatBlock& block,
                               Figure& evidence) {
  std::map<int32_t, std::optional<bool>> differs;
  for (const PairComparison* pair : cell.pairs) {
    if (pair->repeat < block.begin || pair->repeat >= block.end) continue;
    const Sameness sameness = pair->sameness(Level::kRequestReproducible);
    if (sameness != Sameness::kSame && sameness != Sameness::kDifferent) continue;
    std::optional<bool>& of = differs[pair->prompt_index];
    of = of.value_or(false) || sameness == Sameness::kDifferent;
    if (sameness == Sameness::kDifferent) note_deciding(evidence, *cell.cell, *pair);
  }
  Failures failures;
  for (const auto& [prompt, different] : differs) {
    ++failures.trials;
    failures.failures += *different ? 1 : 0;
  }
  return failures;
}

Failures noise_of(const RunComparison& comparison) {
  const Proportion& match = comparison.noise_match;
  return {.failures = match.trials - match.matches, .trials = match.trials};
}

int32_t chances_per_prompt(const RunComparison& comparison) {
  const int64_t prompts = comparison.noise_match.trials;
  return prompts == 0
             ? 1
             : static_cast<int32_t>(std::max<int64_t>(1, comparison.noise.n_pairs / prompts));
}

// The cell, and the block of its repeats, in which most differs, beside the noise.
struct BesideNoise {
  Failures noise, worst;
  double p_value = 1;
  int64_t n_tests = 0;
  bool of_base = false;  // the noise is the base run's
  Figure evidence;
};

void take_if_worse(BesideNoise& out, const Failures& failures, Figure evidence) {
  ++out.n_tests;
  const double p = fisher_p_value(failures, out.noise);
  const bool first = out.n_tests == 1;
  if (!first && p > out.p_value) return;
  if (!first && p == out.p_value && failures.failures <= out.worst.failures) return;
  out.p_value = p;
  out.worst = failures;
  out.evidence = std::move(evidence);
}

BesideNoise beside_noise(const Selection& selection) {
  BesideNoise out;
  out.noise = noise_of(*selection.comparison);
  out.of_base = selection.comparison->kind == ComparisonKind::kBetweenRuns;
  const int32_t chances = chances_per_prompt(*selection.comparison);
  for (const SelectedCell& cell : selection.cells) {
    for (const RepeatBlock& block : repeat_blocks(cell, chances)) {
      Figure evidence;
      const Failures failures = failures_beside_noise(cell, block, evidence);
      if (failures.trials > 0) take_if_worse(out, failures, std::move(evidence));
    }
  }
  return out;
}

std::string no_repeats(const BesideNoise& b) {
  return fmt::format("the {} has no repeats, so its own noise is not known",
                     b.of_base ? "base run" : "reference");
}

// Absent: the comparison says enough to go on.
std::optional<Figure> without_noise(const BesideNoise& b) {
  if (b.n_tests == 0) return nothing("no prompt could be judged");
  if (b.noise.trials == 0 && b.worst.failures > 0)
    return nothing(no_repeats(b) + "; record it with --repeats 2 or more");
  return std::nullopt;
}

std::string beside_noise_text(const BesideNoise& b) {
  return fmt::format("{} of {} differ, {} of {} between repeats", b.worst.failures,
                     counted_text(b.worst.trials, "prompt", "prompts"), b.noise.failures,
                     b.noise.trials);
}

}  // namespace

Figure token_mismatch_rate(const Selection& selection) {
  return mismatch_rate(selection, Level::kRequestReproducible);
}

Figure token_match_rate(const Selection& selection) {
  return complement(token_mismatch_rate(selection));
}

Figure bit_mismatch_rate(const Selection& selection) {
  return mismatch_rate(selection, Level::kBitwise);
}

Figure bit_match_rate(const Selection& selection) {
  return complement(bit_mismatch_rate(selection));
}

Figure missing_rate(const Selection& selection) {
  Figure figure;
  each_pair(selection, [&](const CellComparison& cell, const PairComparison& pair) {
    ++figure.n_trials;
    if (pair.sameness(Level::kRequestReproducible) != Sameness::kMissing) return;
    ++figure.value;
    note_deciding(figure, cell, pair);
  });
  if (figure.n_trials == 0) return nothing("no answer was expected");
  figure.state = FigureState::kKnown;
  figure.counted = fmt::format("{:.0f} of {} missing", figure.value,
                               counted_text(figure.n_trials, "answer", "answers"));
  return as_failure_rate(std::move(figure));
}

Figure noise_p_value(const Selection& selection) {
  BesideNoise b = beside_noise(selection);
  if (const auto absent = without_noise(b)) return *absent;
  Figure figure = std::move(b.evidence);
  figure.state = FigureState::kKnown;
  // Bonferroni: several cells, or blocks of repeats, are several chances of a small p.
  figure.value = std::min(1.0, b.p_value * static_cast<double>(b.n_tests));
  figure.n_trials = b.worst.trials;
  figure.counted = beside_noise_text(b);
  return figure;
}

Figure excess_mismatch_rate(const Selection& selection) {
  BesideNoise b = beside_noise(selection);
  if (const auto absent = without_noise(b)) return *absent;
  if (b.noise.trials == 0) return nothing(no_repeats(b));
  Figure figure = std::move(b.evidence);
  const auto rate = [](const Failures& f) {
    return static_cast<double>(f.failures) / static_cast<double>(f.trials);
  };
  figure.state = FigureState::kKnown;
  figure.value = rate(b.worst) - rate(b.noise);
  figure.interval95 = newcombe_interval95(b.worst, b.noise);
  // The ends of a two-sided interval bound each side at 97.5 %, which is at least 95 %.
  figure.low_bound95 = figure.interval95->low;
  figure.high_bound95 = figure.interval95->high;
  figure.n_trials = b.worst.trials;
  figure.counted = beside_noise_text(b);
  return figure;
}

}  // namespace isobit
