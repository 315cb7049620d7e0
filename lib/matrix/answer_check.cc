#include "matrix/answer_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace isobit {
namespace {

// A margin is a difference of raw logits, the list's gap one of two logprobs: each of the three is
// rounded to 24 bits, at magnitudes up to some hundred.
constexpr float kGapTolerance = 1e-3F;

const TokenScore* listed(const TracePosition& row) {
  const auto at = std::ranges::find(row.top, row.token_id, &TokenScore::token_id);
  return at == row.top.end() ? nullptr : &*at;
}

std::string fault_of_list(const TracePosition& row, int32_t n_top) {
  if (row.top.size() > static_cast<size_t>(std::max(0, n_top)))
    return "lists " + std::to_string(row.top.size()) + " alternatives, asked for were " +
           std::to_string(n_top);
  std::set<int32_t> ids;
  for (const TokenScore& score : row.top) ids.insert(score.token_id);
  if (ids.size() != row.top.size()) return "lists an alternative twice";
  if (!std::ranges::is_sorted(row.top, std::ranges::greater(), &TokenScore::logprob))
    return "lists a likelier alternative after another";
  return {};
}

std::string fault_of_margin(const TracePosition& row) {
  if (!row.margin || row.top.size() < 2) return {};
  const float gap = row.top[0].logprob - row.top[1].logprob;
  if (std::abs(gap - *row.margin) <= kGapTolerance * std::max(1.0F, *row.margin)) return {};
  return "has a margin of " + std::to_string(*row.margin) + ", its two likeliest tokens are " +
         std::to_string(gap) + " apart";
}

}  // namespace

AnswerCheck::AnswerCheck(const Request& request, const std::vector<int32_t>& eos_ids, bool redacted)
    : request_(request), stop_ids_(request.stop.token_ids), ids_are_digests_(redacted) {
  if (!request.stop.ignore_eos) stop_ids_.insert(stop_ids_.end(), eos_ids.begin(), eos_ids.end());
}

std::string AnswerCheck::fault(const Trace& trace) const {
  const FinishReason finish = trace.finish_reason;
  if (finish == FinishReason::kError || finish == FinishReason::kCancelled) return {};
  if (trace.request_id != request_.id)
    return "is said to answer '" + trace.request_id.substr(0, 80) + "', its prompt is '" +
           request_.id.substr(0, 80) + "'";
  std::string found = fault_of_length(trace);
  if (found.empty()) found = fault_of_ending(trace);
  if (found.empty()) found = fault_of_scheduling(trace);
  return found.empty() && !trace.non_finite ? fault_of_rows(trace) : found;
}

std::string AnswerCheck::fault_of_length(const Trace& trace) const {
  const size_t n = trace.positions.size();
  const auto asked = static_cast<size_t>(std::max(0, request_.max_tokens));
  if (n == 0) return "has no tokens and says that it ended well";
  const bool must_be_full = trace.finish_reason == FinishReason::kLength;
  if (n <= asked && !(must_be_full && n < asked)) return {};
  return "has " + std::to_string(n) + " tokens" + (n < asked ? " and ended at its length" : "") +
         ", asked for were " + std::to_string(request_.max_tokens);
}

bool AnswerCheck::stops(const TracePosition& position) const {
  return std::ranges::find(stop_ids_, position.token_id) != stop_ids_.end();
}

std::string AnswerCheck::fault_of_ending(const Trace& trace) const {
  if (trace.finish_reason == FinishReason::kStopString && request_.stop.strings.empty())
    return "ended at a stop string, and its request has none";
  if (ids_are_digests_) return {};
  const auto& positions = trace.positions;
  if (trace.finish_reason == FinishReason::kStopToken && !stops(positions.back()))
    return "ended at a stop token, and its last token " +
           std::to_string(positions.back().token_id) + " is none";
  // A token that is forced ends nothing.
  for (size_t i = request_.forced_token_ids.size(); i + 1 < positions.size(); ++i) {
    if (stops(positions[i]))
      return "goes on past the stop token " + std::to_string(positions[i].token_id) +
             " at position " + std::to_string(i);
  }
  for (const std::string& stop : request_.stop.strings) {
    if (!stop.empty() && request_.forced_token_ids.empty() &&
        trace.text.find(stop) != std::string::npos)
      return "goes on past a stop string";
  }
  return {};
}

// Each piece of the prompt is one step, the last of which gives the first token; each further token
// is one more. What is preempted computes some of them again.
std::string AnswerCheck::fault_of_scheduling(const Trace& trace) const {
  const SchedulingFacts& facts = trace.scheduling;
  if (facts.min_batch_requests > facts.max_batch_requests || facts.n_mixed_steps > facts.n_steps)
    return "has scheduling facts of which a part is more than the whole";
  if (facts.n_preemptions != 0 || facts.prefill_chunks_tokens.empty()) return {};
  const int64_t n_prompt = std::accumulate(facts.prefill_chunks_tokens.begin(),
                                           facts.prefill_chunks_tokens.end(), int64_t{0}) +
                           facts.n_cached_tokens;
  if (n_prompt != static_cast<int64_t>(request_.prompt_token_ids.size()))
    return "computed a prompt of " + std::to_string(n_prompt) + " tokens, it has " +
           std::to_string(request_.prompt_token_ids.size());
  const size_t expected = facts.prefill_chunks_tokens.size() + trace.positions.size() - 1;
  if (static_cast<size_t>(std::max(0, facts.n_steps)) == expected) return {};
  return "took part in " + std::to_string(facts.n_steps) + " steps, its " +
         std::to_string(trace.positions.size()) + " tokens and " +
         std::to_string(facts.prefill_chunks_tokens.size()) + " pieces of the prompt take " +
         std::to_string(expected);
}

// Numeric contract section 5: at temperature 0 the argmax of the row, which no penalty moved.
bool AnswerCheck::takes_the_likeliest() const {
  const Sampling& s = request_.sampling;
  return s.temperature == 0 && s.repetition_penalty == 1 && s.frequency_penalty == 0 &&
         s.presence_penalty == 0 && s.logit_bias.empty();
}

std::string AnswerCheck::fault_of_rows(const Trace& trace) const {
  for (size_t i = 0; i < trace.positions.size(); ++i) {
    const bool is_forced = i < request_.forced_token_ids.size();
    const std::string found = fault_of_row(trace.positions[i], is_forced);
    if (!found.empty()) return "position " + std::to_string(i) + " " + found;
  }
  return {};
}

// Two logits may round to one logprob: likeliest is whatever has the first's.
std::string AnswerCheck::fault_of_row(const TracePosition& row, bool is_forced) const {
  std::string found = fault_of_list(row, request_.n_top);
  if (found.empty()) found = fault_of_margin(row);
  if (!found.empty() || row.top.empty()) return found;
  const TokenScore* mine = listed(row);
  if (mine && mine->logprob != row.logprob)
    return "gives its token two logprobs, " + std::to_string(row.logprob) + " and " +
           std::to_string(mine->logprob);
  const bool may_be_unlisted = row.logprob <= row.top.back().logprob;
  if (!mine && !may_be_unlisted)
    return "has token " + std::to_string(row.token_id) +
           ", likelier than a listed one, and does not list it";
  if (!is_forced && takes_the_likeliest() && row.logprob != row.top.front().logprob)
    return "took token " + std::to_string(row.token_id) +
           " at temperature 0, and another is likelier";
  return {};
}

}  // namespace isobit
