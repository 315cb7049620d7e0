#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/error.h"
#include "numeric/lanes_scalar.h"
#include "numeric/philox.h"

namespace isobit {
namespace {

struct Candidate {
  float z;
  int32_t token_id;
};

bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.z > b.z || (a.z == b.z && a.token_id < b.token_id);
}

int32_t argmax(std::span<const float> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    if (row[i] > row[best]) best = i;
  }
  return static_cast<int32_t>(best);
}

// Step 1: repetition over distinct prompt and output tokens, frequency and presence over output
// tokens, then the bias.
void penalise(std::span<float> row, const Sampling& s, std::span<const int32_t> prompt,
              std::span<const int32_t> output) {
  const auto repetition = static_cast<float>(s.repetition_penalty),
             frequency = static_cast<float>(s.frequency_penalty);
  const auto presence = static_cast<float>(s.presence_penalty);
  std::map<int32_t, int32_t> output_counts, distinct;
  for (const int32_t id : prompt) distinct[id] = 1;
  for (const int32_t id : output) {
    distinct[id] = 1;
    ++output_counts[id];
  }
  if (s.repetition_penalty != 1) {
    for (const auto& [id, _] : distinct) {
      float& z = row[static_cast<size_t>(id)];
      z = z > 0 ? z / repetition : z * repetition;
    }
  }
  for (const auto& [id, count] : output_counts) {
    float& z = row[static_cast<size_t>(id)];
    if (s.frequency_penalty != 0) z = z - frequency * static_cast<float>(count);
    if (s.presence_penalty != 0) z = z - presence;
  }
  for (const auto& [id, bias] : s.logit_bias)
    row[static_cast<size_t>(id)] = row[static_cast<size_t>(id)] + static_cast<float>(bias);
}

void keep_top_k(std::vector<Candidate>& candidates, int32_t k) {
  if (k <= 0 || static_cast<size_t>(k) >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + (k - 1), candidates.end(),
                   ranks_before);
  candidates.resize(static_cast<size_t>(k));
}

void keep_min_p(std::vector<Candidate>& candidates, float max, float min_p) {
  if (min_p <= 0) return;
  std::erase_if(candidates, [&](const Candidate& c) { return !(exp_f32(c.z - max) >= min_p); });
}

// Weights are integers, so that their sum has no order.
uint64_t top_p_weight(float z, float max) {
  return static_cast<uint64_t>(std::floor(static_cast<double>(exp_f32(z - max)) * 4294967296.0));
}

void keep_top_p(std::vector<Candidate>& candidates, float max, double top_p) {
  if (top_p >= 1) return;
  std::sort(candidates.begin(), candidates.end(), ranks_before);
  uint64_t total = 0;
  for (const Candidate& c : candidates) total += top_p_weight(c.z, max);
  const double wanted = top_p * static_cast<double>(total);
  uint64_t sum = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    sum += top_p_weight(candidates[i].z, max);
    if (static_cast<double>(sum) >= wanted) {
      candidates.resize(i + 1);
      return;
    }
  }
}

// Gumbel-max. g < 17 for every draw (u <= 1 - 2^-24), so a candidate further than that below the
// best cannot win: skipping its two logarithms changes nothing.
int32_t gumbel_max(const std::vector<Candidate>& candidates, const SamplePoint& point) {
  constexpr float kLargestNoise = 17.0f;
  const Candidate* best = nullptr;
  float best_score = 0;
  for (const Candidate& c : candidates) {
    if (best && c.z + kLargestNoise < best_score) continue;
    const float score = c.z + gumbel_noise(point.seed, static_cast<uint32_t>(point.position),
                                           static_cast<uint32_t>(c.token_id),
                                           static_cast<uint32_t>(point.sample_index));
    if (!best || score > best_score || (score == best_score && c.token_id < best->token_id)) {
      best = &c;
      best_score = score;
    }
  }
  ISOBIT_REQUIRE(best != nullptr);
  return best->token_id;
}

bool is_penalised(const Sampling& s) {
  return s.repetition_penalty != 1 || s.frequency_penalty != 0 || s.presence_penalty != 0 ||
         !s.logit_bias.empty();
}

void check_range(const char* parameter, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw Error(ErrorCode::usage, std::string("sampling parameter '") + parameter + "' is " +
                                    std::to_string(value) + "; it must lie in [" +
                                    std::to_string(low) + ", " + std::to_string(high) + "]");
}

}  // namespace

bool is_plain_greedy(const Sampling& s) {
  return s.temperature == 0 && !is_penalised(s);
}

int32_t sample_token(std::span<const float> raw, const Sampling& s, const SamplePoint& point,
                     std::span<const int32_t> prompt, std::span<const int32_t> output,
                     std::vector<float>& scratch) {
  std::span<const float> row = raw;
  if (is_penalised(s)) {
    scratch.assign(raw.begin(), raw.end());
    penalise(scratch, s, prompt, output);
    row = scratch;
  }
  if (s.temperature == 0) return argmax(row);

  const auto temperature = static_cast<float>(s.temperature);
  std::vector<Candidate> candidates;
  candidates.reserve(row.size());
  for (size_t id = 0; id < row.size(); ++id)
    candidates.push_back({row[id] / temperature, static_cast<int32_t>(id)});
  const float max = std::min_element(candidates.begin(), candidates.end(), ranks_before)->z;
  keep_top_k(candidates, s.top_k);
  keep_min_p(candidates, max, static_cast<float>(s.min_p));
  keep_top_p(candidates, max, s.top_p);
  return gumbel_max(candidates, point);
}

void validate_sampling(const Sampling& s, int64_t vocab_size) {
  // Below 1e-6, z/T would overflow for logits that occur.
  if (s.temperature != 0) check_range("temperature", s.temperature, 1e-6, 1e6);
  check_range("top_k", s.top_k, 0, 2147483647.0);
  check_range("top_p", s.top_p, 0, 1);
  check_range("min_p", s.min_p, 0, 1);
  check_range("repetition_penalty", s.repetition_penalty, 1e-3, 1e3);
  check_range("frequency_penalty", s.frequency_penalty, -1e3, 1e3);
  check_range("presence_penalty", s.presence_penalty, -1e3, 1e3);
  check_range("n", s.n, 1, 1024);
  for (const auto& [id, bias] : s.logit_bias) {
    check_range("logit_bias", bias, -1e6, 1e6);
    if (id < 0 || id >= vocab_size) {
      throw Error(ErrorCode::usage, "logit_bias names token id " + std::to_string(id) +
                                        "; the vocabulary ends at " +
                                        std::to_string(vocab_size - 1));
    }
  }
}

}  // namespace isobit
