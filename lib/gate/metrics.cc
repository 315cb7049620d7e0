#include "gate/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isobit {
namespace {

const std::vector<Scope> kAnyScope = {Scope::kRun, Scope::kCell, Scope::kAxis, Scope::kTag,
                                      Scope::kPrompt};
const std::vector<Scope> kManyPrompts = {Scope::kRun, Scope::kCell, Scope::kAxis, Scope::kTag};
const std::vector<Scope> kNoiseScopes = {Scope::kRun, Scope::kCell};

}  // namespace

const std::vector<Metric>& metrics() {
  static const std::vector<Metric> table = {
      {"token_mismatch_rate", "share",
       "prompts of which an answer has other tokens or ends otherwise", kAnyScope, true, false,
       token_mismatch_rate},
      {"token_match_rate", "share", "prompts of which every answer has the same tokens", kAnyScope,
       true, false, token_match_rate},
      {"bit_mismatch_rate", "share",
       "prompts of which an answer has other bits in its logits or logprobs", kAnyScope, true,
       false, bit_mismatch_rate},
      {"bit_match_rate", "share", "prompts of which every answer has the same bits", kAnyScope,
       true, false, bit_match_rate},
      {"missing_rate", "share", "answers that are missing, incomplete or failed", kAnyScope, true,
       false, missing_rate},
      {"token_flips", "answers", "answers with another token", kAnyScope, false, false,
       token_flips},
      {"suspicious_flips", "answers",
       "answers with another token at a margin that rounding does not close", kAnyScope, false,
       false, suspicious_flips},
      {"sampling_flips", "answers", "answers with another token from the same logits", kAnyScope,
       false, false, sampling_flips},
      {"drift_flips", "answers", "answers with another token that drifting logits explain",
       kAnyScope, false, false, drift_flips},
      {"tie_flips", "answers", "answers with another token at a margin within the noise", kAnyScope,
       false, false, tie_flips},
      {"drifted_answers", "answers", "answers of which some position has other bits", kAnyScope,
       false, false, drifted_answers},
      {"finish_differences", "answers", "answers with the same tokens that end for another reason",
       kAnyScope, false, false, finish_differences},
      {"failed_answers", "answers", "answers for which the target reported an error", kAnyScope,
       false, false, failed_answers},
      {"distinct_outputs",
       "outputs",
       "the most different answers that one prompt got in a cell",
       {Scope::kRun, Scope::kCell, Scope::kAxis},
       false,
       true,
       distinct_outputs},
      {"first_flip_position", "tokens", "the earliest position at which a token differs", kAnyScope,
       false, false, first_flip_position},
      {"max_drift_nats", "nats", "the largest change of a chosen token's logprob before any flip",
       kAnyScope, false, false, max_drift_nats},
      {"max_drift_ulp", "ulp", "the same in representable steps", kAnyScope, false, false,
       max_drift_ulp},
      {"max_flip_margin", "nats", "the largest margin at which a token flipped", kAnyScope, false,
       false, max_flip_margin},
      {"top_agreement", "share", "top-list tokens in common before any flip, mean over answers",
       kAnyScope, false, false, top_agreement},
      {"noise_p_value", "probability",
       "of at least so many differing prompts if they differed no more often than the reference's "
       "own repeats; over several cells the least, times their number",
       kNoiseScopes, false, false, noise_p_value},
      {"excess_mismatch_rate", "share",
       "the rate of differing prompts above that of the reference's own repeats", kNoiseScopes,
       true, false, excess_mismatch_rate},
      {"ttft_p50_ratio", "ratio", "median time to the first token, over the reference's",
       kManyPrompts, false, false, ttft_p50_ratio},
      {"ttft_p95_ratio", "ratio",
       "95th percentile of the time to the first token, over the reference's", kManyPrompts, false,
       false, ttft_p95_ratio},
      {"latency_p50_ratio", "ratio", "median time of an answer, over the reference's", kManyPrompts,
       false, false, latency_p50_ratio},
      {"latency_p95_ratio", "ratio",
       "95th percentile of the time of an answer, over the reference's", kManyPrompts, false, false,
       latency_p95_ratio},
      {"request_speed_ratio", "ratio",
       "generated tokens per second and request in flight, over the reference's", kManyPrompts,
       false, false, request_speed_ratio},
      {"max_gap_drift", "nats",
       "the largest change of the gap between two leading tokens, forced positions included",
       kAnyScope, false, false, max_gap_drift},
      {"throughput_ratio",
       "ratio",
       "a cell's generated tokens per second, over the reference's",
       {Scope::kCell},
       false,
       true,
       throughput_ratio},
      {"std_length",
       "tokens",
       "standard deviation of the lengths of one prompt's answers, mean over prompts",
       {Scope::kCell},
       false,
       true,
       std_length},
      {"std_top1_prob",
       "probability",
       "standard deviation of the most likely token's probability before answers part",
       {Scope::kCell},
       false,
       true,
       std_top1_prob},
      {"survival_share",
       "share",
       "answers that are still the same after the last split of the cell (Kaplan and Meier)",
       {Scope::kCell},
       false,
       true,
       survival_share},
      {"flip_margin_1_percent",
       "nats",
       "the margin at which the fitted flip law has 1 % of choices flip, at the median drift",
       {Scope::kRun},
       false,
       true,
       flip_margin_1_percent},
      {"certified_rate",
       "share",
       "prompts whose every margin is above what any drift that was seen could close",
       {Scope::kRun},
       true,
       true,
       certified_rate},
      {"undecided_divergences", "answers",
       "answers that differ where the cells do not decide for which reason", kAnyScope, false,
       false, undecided_divergences},
      {"run_to_run_divergences", "answers",
       "answers that differ as repeats of one request do, or may", kAnyScope, false, false,
       run_to_run_divergences},
      {"edit_similarity", "share", "how alike the tokens of two answers are, mean over answers",
       kAnyScope, false, false, edit_similarity},
      {"chrf", "share", "how alike their texts are (character n-grams), mean over answers",
       kAnyScope, false, false, chrf},
      {"embedding_cosine", "cosine",
       "of the answers' mean hidden states, mean over answers (run --embeddings records them)",
       kAnyScope, false, false, embedding_cosine},
  };
  return table;
}

bool is_of_whole_run(const Metric& metric) {
  return metric.of_whole_cells && metric.scopes == std::vector<Scope>{Scope::kRun};
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.emplace_back(metric.name);
  return names;
}

const Metric* find_metric(const std::string& name) {
  const auto at = std::find_if(metrics().begin(), metrics().end(),
                               [&](const Metric& m) { return m.name == name; });
  return at == metrics().end() ? nullptr : &*at;
}

bool needs_full_detail(const Policy& policy) {
  static const std::set<std::string> kOfFullDetail = {"edit_similarity", "chrf", "embedding_cosine",
                                                      "flip_margin_1_percent", "certified_rate"};
  return std::ranges::any_of(policy.rules,
                             [](const Rule& rule) { return kOfFullDetail.contains(rule.metric); });
}

std::string figure_text(const Metric& metric, double value) {
  const std::string unit = metric.unit;
  if (unit == "share") return fmt::format("{:.4g} %", 100 * value);
  if (unit == "ratio") return fmt::format("{:.3g} x", value);
  if (unit == "nats") return fmt::format("{:.4g} nats", value);
  return fmt::format("{:.6g}", value);
}

}  // namespace isobit
