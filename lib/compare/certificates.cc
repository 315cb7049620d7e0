#include "compare/certificates.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/recorded_samples.h"
#include "compare/row_evidence.h"
#include "compare/run_comparison.h"

namespace isobit {
namespace {

void find_largest_drift(const RunComparison& comparison, Certificates& result) {
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      if (pair.state != PairState::kCompared) continue;
      result.n_rows += pair.divergence.n_compared;
      const std::optional<GapDrift>& drift = pair.divergence.max_gap_drift;
      if (!drift || (result.two_epsilon_nats && drift->nats <= *result.two_epsilon_nats)) continue;
      result.two_epsilon_nats = drift->nats;
      result.cell = cell.name;
      result.request_id = pair.request_id;
      result.position = drift->position;
    }
  }
}

// False where a position has no margin: then the narrowest is not known.
bool narrow(PromptMargin& prompt, bool is_first, const Trace& trace) {
  if (trace.positions.empty()) return false;
  for (size_t i = 0; i < trace.positions.size(); ++i) {
    const std::optional<float> margin = margin_of(trace.positions[i]);
    if (!margin) return false;
    if (!is_first && *margin >= prompt.least_margin_nats) continue;
    is_first = false;
    prompt.least_margin_nats = *margin;
    prompt.position = static_cast<int32_t>(i);
  }
  return true;
}

// The reference cells' answers by prompt; nothing for a prompt of which one is not greedy.
struct ReferenceAnswers {
  std::map<int32_t, std::vector<const Trace*>> greedy;
  std::map<int32_t, bool> sampled;
};

ReferenceAnswers reference_answers(const RunRecord& base, const RecordedSamples& samples) {
  ReferenceAnswers answers;
  for (const CellRecord& cell : base.cells) {
    if (!cell.is_reference()) continue;
    for (const auto& [key, trace] : samples.of_cell(cell.index)) {
      if (key.repeat != 0) continue;
      const Request& request = base.requests[static_cast<size_t>(key.prompt_index)];
      if (margin_decides(cell_sampling(request, cell))) {
        answers.greedy[key.prompt_index].push_back(trace);
      } else {
        answers.sampled[key.prompt_index] = true;
      }
    }
  }
  for (const auto& [prompt, sampled] : answers.sampled) answers.greedy.erase(prompt);
  return answers;
}

}  // namespace

std::vector<const PromptMargin*> Certificates::fragile() const {
  std::vector<const PromptMargin*> found;
  for (const PromptMargin& prompt : prompts) {
    if (prompt.within_noise || !prompt.certified) found.push_back(&prompt);
  }
  return found;
}

Certificates certify(const RunComparison& comparison, const RunRecord& base,
                     const RecordedSamples& base_samples, const FlipThresholds& thresholds) {
  Certificates result;
  find_largest_drift(comparison, result);
  const ReferenceAnswers answers = reference_answers(base, base_samples);
  result.n_not_greedy = static_cast<int64_t>(answers.sampled.size());
  int64_t n_certified = 0;
  for (const auto& [prompt_index, traces] : answers.greedy) {
    PromptMargin prompt{.prompt_index = prompt_index,
                        .request_id = base.requests[static_cast<size_t>(prompt_index)].id};
    bool known = true;
    for (size_t i = 0; i < traces.size(); ++i) known = known && narrow(prompt, i == 0, *traces[i]);
    if (!known) {
      ++result.n_without_margins;
      continue;
    }
    prompt.certified =
        result.two_epsilon_nats && prompt.least_margin_nats > *result.two_epsilon_nats;
    prompt.within_noise = prompt.least_margin_nats <= thresholds.tie_nats;
    n_certified += prompt.certified ? 1 : 0;
    result.prompts.push_back(std::move(prompt));
  }
  std::ranges::stable_sort(result.prompts, {}, &PromptMargin::least_margin_nats);
  if (!result.two_epsilon_nats) {
    result.refusal = "no compared row lists two tokens on both sides, so no drift is known";
  } else if (std::isinf(*result.two_epsilon_nats)) {
    result.refusal = "a row moved by more than its top lists can show";
  } else if (result.prompts.empty()) {
    result.refusal = "no greedy answer has its margins recorded";
  }
  const auto n = static_cast<int64_t>(result.prompts.size());
  result.certified = proportion(n_certified, result.refusal.empty() ? n : 0);
  return result;
}

}  // namespace isobit
