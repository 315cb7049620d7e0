#include "engine/sampler.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/error.h"
#include "numeric/philox.h"

using namespace isobit;

namespace {

int32_t draw(std::span<const float> row, const Sampling& s, uint64_t seed, int64_t position = 5,
             int32_t sample_index = 0, std::span<const int32_t> prompt = {},
             std::span<const int32_t> output = {}) {
  std::vector<float> scratch;
  return sample_token(row, s, {.seed = seed, .position = position, .sample_index = sample_index},
                      prompt, output, scratch);
}

std::vector<float> wavy_row(size_t n) {
  std::vector<float> row(n);
  for (size_t i = 0; i < n; ++i)
    row[i] = 6.0f * static_cast<float>(std::sin(static_cast<double>(i) * 0.7)) -
             static_cast<float>(i % 13);
  return row;
}

}  // namespace

TEST_CASE("temperature 0 takes the lowest id of the largest values") {
  const std::array<float, 5> row = {1, 4, 2, 4, -1};
  CHECK(draw(row, {}, 1) == 1);
}

TEST_CASE("penalties act on prompt and output as the contract says, and move the argmax") {
  const std::array<float, 4> row = {4.0f, 3.9f, -1.0f, 3.0f};
  Sampling s;
  s.repetition_penalty = 2;  // 4 / 2 = 2 for a token of the prompt
  const std::array<int32_t, 1> prompt = {0};
  CHECK(draw(row, s, 1, 5, 0, prompt) == 1);

  Sampling frequency;
  frequency.frequency_penalty = 0.5;
  const std::array<int32_t, 2> twice = {0, 0};  // 4 - 0.5 * 2 = 3
  CHECK(draw(row, frequency, 1, 5, 0, {}, twice) == 1);
  CHECK(draw(row, frequency, 1, 5, 0, twice, {}) == 0);  // counts output tokens only

  Sampling presence;
  presence.presence_penalty = 0.2;
  CHECK(draw(row, presence, 1, 5, 0, {}, twice) == 1);

  Sampling bias;
  bias.logit_bias = {{2, 6.0}};
  CHECK(draw(row, bias, 1) == 2);
}

TEST_CASE("top-k keeps exactly k, ties by the lowest id") {
  const std::array<float, 6> row = {1, 2, 2, 2, 0, 2};
  Sampling s;
  s.temperature = 100;
  s.top_k = 2;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const int32_t id = draw(row, s, seed);
    CHECK((id == 1 || id == 2));
  }
}

TEST_CASE("min-p and top-p keep what their definitions keep") {
  // Probabilities relative to the best: 1, e^-1, e^-2, e^-3; normalised about .64 .24 .087 .032.
  const std::array<float, 4> row = {3, 2, 1, 0};
  Sampling min_p;
  min_p.temperature = 1;
  min_p.min_p = 0.2;  // e^-1 = .37 stays, e^-2 = .135 goes
  Sampling top_p;
  top_p.temperature = 1;
  top_p.top_p = 0.7;  // .64 is short of .7, so the second is the last kept
  std::array<int, 4> by_min_p{}, by_top_p{};
  for (uint64_t seed = 0; seed < 400; ++seed) {
    ++by_min_p[static_cast<size_t>(draw(row, min_p, seed))];
    ++by_top_p[static_cast<size_t>(draw(row, top_p, seed))];
  }
  for (const auto& counts : {by_min_p, by_top_p}) {
    CHECK(counts[0] > 0);
    CHECK(counts[1] > 0);
    CHECK(counts[2] == 0);
    CHECK(counts[3] == 0);
  }
  top_p.top_p = 0;  // one always stays
  CHECK(draw(row, top_p, 7) == 0);
}

TEST_CASE("a draw is the largest logit plus noise: skipping hopeless candidates changes nothing") {
  const std::vector<float> row = wavy_row(5000);
  Sampling s;
  s.temperature = 1.7;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    int32_t best = 0;
    float best_score = -1e30f;
    for (size_t id = 0; id < row.size(); ++id) {
      const float score = row[id] / 1.7f + gumbel_noise(seed, 11, static_cast<uint32_t>(id), 2);
      if (score > best_score) {
        best_score = score;
        best = static_cast<int32_t>(id);
      }
    }
    CHECK(draw(row, s, seed, 11, 2) == best);
  }
}

TEST_CASE("frequencies of draws follow the softmax") {
  const std::array<float, 4> row = {1.0f, 0.0f, 0.5f, -1.0f};
  Sampling s;
  s.temperature = 1;
  constexpr int kDraws = 20000;
  std::array<int, 4> counts{};
  for (uint64_t seed = 0; seed < kDraws; ++seed) ++counts[static_cast<size_t>(draw(row, s, seed))];
  double total = 0;
  for (const float z : row) total += std::exp(z);
  double chi_square = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double expected = kDraws * std::exp(row[i]) / total;
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  CHECK(chi_square <
        16.3);  // 3 degrees of freedom, p = 0.001; the seeds are fixed, so this never flickers
}

TEST_CASE("seed, position and sample index each move a draw, and repeating them repeats it") {
  const std::vector<float> row = wavy_row(300);
  Sampling s;
  s.temperature = 5;
  int by_seed = 0, by_position = 0, by_sample = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const int32_t base = draw(row, s, seed);
    CHECK(base == draw(row, s, seed));
    by_seed += base != draw(row, s, seed + 1000);
    by_position += base != draw(row, s, seed, 6);
    by_sample += base != draw(row, s, seed, 5, 1);
  }
  CHECK(by_seed > 25);
  CHECK(by_position > 25);
  CHECK(by_sample > 25);
}

TEST_CASE("a parameter out of range is named with its range") {
  Sampling s;
  s.top_p = 1.5;
  CHECK_THROWS_WITH_AS(validate_sampling(s, 10), doctest::Contains("top_p"), Error);
  s = {};
  s.temperature = 1e-40;  // z/T would overflow
  CHECK_THROWS_WITH_AS(validate_sampling(s, 10), doctest::Contains("temperature"), Error);
  s.temperature = std::nan("");
  CHECK_THROWS_AS(validate_sampling(s, 10), Error);
  s = {};
  s.logit_bias = {{10, 1.0}};
  CHECK_THROWS_WITH_AS(validate_sampling(s, 10), doctest::Contains("token id 10"), Error);
}
