// What a target answered, per generated position, and what its scheduler really did. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isobit {

using Hash128 = std::array<uint8_t, 16>;

struct TokenScore {
  int32_t token_id = 0;
  float logprob = 0;  // of the raw row: before temperature, penalties and filters
};

struct TracePosition {
  int32_t token_id = 0;
  float logprob = 0;
  std::optional<float> margin;  // top-1 minus top-2 raw logit (a server's: of logprobs); nats
  std::vector<TokenScore> top;  // by (logprob descending, id ascending)
  std::optional<Hash128> logits_hash;  // the head's whole output row (numeric contract section 3)
};

// A stop token is an answer's last position; a stop string is cut from the text alone.
enum class FinishReason { kLength, kStopToken, kStopString, kCancelled, kError };
const char* name(FinishReason reason);
std::optional<FinishReason> finish_reason_from_name(const std::string& name);

// Proof that a cell happened. Counts are over the steps that this sample took part in.
struct SchedulingFacts {
  int32_t max_batch_requests = 0;  // most requests in one step with this one
  int32_t min_batch_requests = 0;
  int32_t max_batch_tokens = 0;  // most token rows in one step
  int32_t first_row = 0;         // this sample's row in the step that produced its first token
  std::vector<int32_t> prefill_chunks_tokens;  // in order; one entry: not chunked
  int32_t n_steps = 0;
  int32_t n_mixed_steps = 0;  // steps in which prefill and decode were computed together
  int32_t n_cached_tokens = 0;
  int32_t n_preemptions = 0;
};

struct Trace {
  std::string request_id;
  int32_t sample_index = 0;
  uint64_t seed = 0;
  std::vector<TracePosition> positions;
  FinishReason finish_reason = FinishReason::kLength;
  std::string text;         // decoded output; may end in an incomplete UTF-8 sequence
  std::string error;        // set when finish_reason is kError: what the target said
  bool non_finite = false;  // a logits row held a NaN or an infinity: a finding, its hash is absent
  SchedulingFacts scheduling;
  double ttft_ms = 0;
  double total_ms = 0;
  // (dim) mean over the answer's positions of the rows after the final norm; empty: not recorded.
  std::vector<float> embedding;
};

}  // namespace isobit
