#include "matrix/exercised.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"

namespace isobit {
namespace {

using Samples = std::vector<const SampleRecord*>;

std::string count(size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

// Prompts whose item is among the last C admitted.
std::set<int32_t> last_wave(const BuiltWorkload& built) {
  const size_t n = built.prompt_index.size();
  const size_t first = n - std::min(n, static_cast<size_t>(built.workload.concurrency));
  std::set<int32_t> prompts;
  for (size_t i = first; i < n; ++i) {
    if (built.prompt_index[i]) prompts.insert(*built.prompt_index[i]);
  }
  return prompts;
}

std::string judge_concurrency(const Samples& samples, const BuiltWorkload& built) {
  const int32_t wanted = built.workload.concurrency;
  int32_t peak = 0;
  for (const SampleRecord* s : samples)
    peak = std::max(peak, s->trace.scheduling.max_batch_requests);
  if (peak == 0) return "the target did not report how many requests it computed together";
  if (peak != wanted) {
    return "at most " + count(static_cast<size_t>(peak), "request") +
           " shared a step, load.concurrency asks for " + std::to_string(wanted);
  }
  if (wanted == 1) return {};
  const std::set<int32_t> tail = last_wave(built);
  for (const SampleRecord* s : samples) {
    if (s->trace.scheduling.max_batch_requests < 2 && !tail.contains(s->prompt_index)) {
      return "prompt " + std::to_string(s->prompt_index) + " ran alone";
    }
  }
  return {};
}

int64_t computed_prompt_tokens(const SchedulingFacts& facts) {
  return std::accumulate(facts.prefill_chunks_tokens.begin(), facts.prefill_chunks_tokens.end(),
                         int64_t{0});
}

// A preempted request computes its prompt (and what it had generated) again: one more piece each
// time.
std::string judge_unchunked(const Samples& samples) {
  for (const SampleRecord* s : samples) {
    const SchedulingFacts& facts = s->trace.scheduling;
    const size_t n = facts.prefill_chunks_tokens.size();
    if (n > 1 + static_cast<size_t>(std::max(0, facts.n_preemptions))) {
      return "prompt " + std::to_string(s->prompt_index) + " was computed in " + count(n, "piece") +
             " with chunked prefill off";
    }
  }
  return {};
}

std::string judge_chunked(const Samples& samples, const BuiltWorkload& built, int32_t chunk) {
  std::vector<size_t> prompt_tokens(built.prompt_index.size());
  for (size_t i = 0; i < built.prompt_index.size(); ++i) {
    if (built.prompt_index[i]) {
      const auto prompt = static_cast<size_t>(*built.prompt_index[i]);
      prompt_tokens.resize(std::max(prompt_tokens.size(), prompt + 1));
      prompt_tokens[prompt] = built.workload.items[i].request.prompt_token_ids.size();
    }
  }
  size_t n_long = 0;
  for (const SampleRecord* s : samples) {
    const SchedulingFacts& facts = s->trace.scheduling;
    const auto& chunks = facts.prefill_chunks_tokens;
    const std::string prompt = "prompt " + std::to_string(s->prompt_index);
    const auto too_big = std::ranges::find_if(chunks, [&](int32_t n) { return n > chunk; });
    if (too_big != chunks.end()) {
      return prompt + " had a piece of " + std::to_string(*too_big) +
             " tokens, engine.chunked_prefill allows " + std::to_string(chunk);
    }
    const auto n_to_compute =
        static_cast<int64_t>(prompt_tokens.at(static_cast<size_t>(s->prompt_index))) -
        facts.n_cached_tokens;
    if (n_to_compute <= chunk) continue;
    n_long++;
    if (chunks.size() < 2)
      return prompt + " has more than " + std::to_string(chunk) + " tokens but was not cut";
    if (computed_prompt_tokens(facts) < n_to_compute) {
      return prompt + ": its pieces have " + std::to_string(computed_prompt_tokens(facts)) +
             " tokens together, it has " + std::to_string(n_to_compute);
    }
  }
  return n_long > 0 ? std::string()
                    : "no prompt is longer than the chunk of " + std::to_string(chunk) + " tokens";
}

std::string judge_chunks(const CellRecord& cell, const Samples& samples,
                         const BuiltWorkload& built) {
  const bool reported = std::ranges::any_of(samples, [](const SampleRecord* s) {
    return !s->trace.scheduling.prefill_chunks_tokens.empty();
  });
  const std::string value = axis_value(cell, "engine.chunked_prefill");
  if (!reported) {
    // A server that is not asked about chunks need not tell.
    return cell.values.contains("engine.chunked_prefill")
               ? "the target did not report how it cut prompts"
               : "";
  }
  return value == "off" ? judge_unchunked(samples)
                        : judge_chunked(samples, built, std::stoi(value));
}

std::string judge_ragged(const BuiltWorkload& built) {
  size_t longest = 0, shortest = SIZE_MAX;
  for (const WorkItem& item : built.workload.items) {
    longest = std::max(longest, item.request.prompt_token_ids.size());
    shortest = std::min(shortest, item.request.prompt_token_ids.size());
  }
  if (longest >= 2 * shortest) return {};
  return "the batch's prompts have from " + std::to_string(shortest) + " to " +
         std::to_string(longest) + " tokens: not ragged (the longest needs twice the shortest)";
}

std::string judge_mixed(const Samples& samples) {
  const auto n = static_cast<size_t>(std::ranges::count_if(
      samples, [](const SampleRecord* s) { return s->trace.scheduling.n_mixed_steps > 0; }));
  if (n > 0 && 2 * n >= samples.size()) return {};
  return std::to_string(n) + " of " + count(samples.size(), "sample") +
         " took part in a step with both prefill and decode, at least half should";
}

std::string judge_shape(const CellRecord& cell, const Samples& samples,
                        const BuiltWorkload& built) {
  const std::string shape = axis_value(cell, "load.batch_shape");
  if (shape == "ragged") return judge_ragged(built);
  return shape == "mixed" ? judge_mixed(samples) : std::string();
}

std::string judge_position(const CellRecord& cell, const Samples& samples) {
  if (axis_value(cell, "load.position") == "first") return {};
  const int32_t row = samples[0]->trace.scheduling.first_row;
  const bool all_same = std::ranges::all_of(
      samples, [&](const SampleRecord* s) { return s->trace.scheduling.first_row == row; });
  // A needle stands in the same row of every wave, and one sample has one row: there it must only
  // have left row 0.
  const bool one_row_expected =
      samples.size() == 1 || axis_value(cell, "load.batch_shape") == "needle";
  if (!all_same || (one_row_expected && row != 0)) return {};
  return "every sample stood in row " + std::to_string(row) +
         " of its batch, as far as the target reported";
}

}  // namespace

Exercised judge_exercised(const CellRecord& cell, std::span<const SampleRecord* const> samples,
                          const BuiltWorkload& built) {
  Samples finished;
  for (const SampleRecord* s : samples) {
    if (s->trace.finish_reason != FinishReason::kError) finished.push_back(s);
  }
  if (finished.empty()) {
    return {false, samples.empty() ? "no sample was recorded"
                                   : "every sample ended in an error: " + samples[0]->trace.error};
  }
  std::string reason = judge_concurrency(finished, built);
  if (reason.empty()) reason = judge_chunks(cell, finished, built);
  if (reason.empty()) reason = judge_shape(cell, finished, built);
  if (reason.empty()) reason = judge_position(cell, finished);
  return {reason.empty(), reason};
}

}  // namespace isobit
