// Every detector must find its planted fault wherever it is planted, and leave clean pairs alone.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compare/level.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr uint64_t kSeed = 20261129;

float random_logprob(std::mt19937_64& random) {
  return -static_cast<float>(random() % 1000003) / 65536.0f - 1e-4f;
}

// Lengths, finishes, evidence and list sizes vary; odd values (ties, huge margins, exact zeros)
// occur.
Trace random_answer(std::mt19937_64& random) {
  Trace trace;
  const bool hashes = random() % 3 != 0;
  const size_t n = 1 + random() % 24;
  const size_t n_top = 1 + random() % 6;
  for (size_t i = 0; i < n; ++i) {
    TracePosition p;
    p.token_id = static_cast<int32_t>(random() % 50000);
    p.logprob = random() % 20 == 0 ? 0.0f : random_logprob(random);
    if (random() % 4 != 0) p.margin = random() % 10 == 0 ? 0.0f : -random_logprob(random);
    if (hashes) p.logits_hash = row_hash(random());
    for (size_t k = 0; k < n_top; ++k) {
      p.top.push_back({.token_id = k == 0 ? p.token_id : static_cast<int32_t>(random() % 50000),
                       .logprob = random_logprob(random)});
    }
    trace.positions.push_back(std::move(p));
  }
  const FinishReason reasons[] = {FinishReason::kLength, FinishReason::kStopToken,
                                  FinishReason::kStopString};
  trace.finish_reason = reasons[random() % 3];
  trace.total_ms = static_cast<double>(random() % 1000);
  return trace;
}

// What a schedule changes without changing the answer.
Trace scheduled_otherwise(Trace trace, std::mt19937_64& random) {
  trace.scheduling.max_batch_requests = static_cast<int32_t>(random() % 64);
  trace.scheduling.prefill_chunks_tokens = {16, 16, static_cast<int32_t>(random() % 16)};
  trace.total_ms = static_cast<double>(random() % 1000);
  trace.ttft_ms = 1;
  return trace;
}

struct Fault {
  std::string name;
  std::function<void(Trace&, size_t)> plant;  // at a position
  std::function<bool(const Divergence&, size_t)> found;
};

bool numeric_at(const Divergence& d, size_t at) {
  return d.numeric && d.numeric->position == static_cast<int32_t>(at);
}
bool token_at(const Divergence& d, size_t at) {
  return d.token && d.token->position == static_cast<int32_t>(at);
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"one bit of a row hash",
       [](Trace& t, size_t i) { (*t.positions[i].logits_hash)[i % 16] ^= 1 << (i % 8); },
       [](const Divergence& d, size_t i) {
         return numeric_at(d, i) && d.numeric->logits_hash_differs;
       }},
      {"one ulp of a logprob",
       [](Trace& t, size_t i) {
         t.positions[i].logprob = std::nextafterf(t.positions[i].logprob, -1e9f);
       },
       [](const Divergence& d, size_t i) {
         // Below +0 lies -0, so the step from a logprob of exactly 0 counts two.
         const uint32_t steps = d.numeric && d.numeric->reference_logprob == 0.0f ? 2 : 1;
         return numeric_at(d, i) && d.numeric->logprob_differs && d.numeric->ulp == steps;
       }},
      {"the sign of a zero logprob",
       [](Trace& t, size_t i) {
         t.positions[i].logprob = t.positions[i].logprob == 0 ? -0.0f : -t.positions[i].logprob;
       },
       [](const Divergence& d, size_t i) {
         return numeric_at(d, i) && d.numeric->logprob_differs;
       }},
      {"one ulp of a top logprob",
       [](Trace& t, size_t i) {
         t.positions[i].top.back().logprob =
             std::nextafterf(t.positions[i].top.back().logprob, -1e9f);
       },
       [](const Divergence& d, size_t i) { return numeric_at(d, i) && d.numeric->top_differs; }},
      {"another id in the top list",
       [](Trace& t, size_t i) { t.positions[i].top.back().token_id += 1; },
       [](const Divergence& d, size_t i) { return numeric_at(d, i) && d.numeric->top_differs; }},
      {"another token", [](Trace& t, size_t i) { t.positions[i].token_id += 1; },
       [](const Divergence& d, size_t i) { return token_at(d, i); }},
      {"a lost tail",
       [](Trace& t, size_t i) {
         t.positions.resize(i);
         t.finish_reason = FinishReason::kLength;
       },
       [](const Divergence& d, size_t) { return d.has_gap(GapKind::kTruncated); }},
      {"an early stop",
       [](Trace& t, size_t i) {
         t.positions.resize(i);
         t.finish_reason = FinishReason::kStopToken;
       },
       [](const Divergence& d, size_t i) { return token_at(d, i) && !d.token->candidate_token; }},
      {"a lost hash", [](Trace& t, size_t i) { t.positions[i].logits_hash.reset(); },
       [](const Divergence& d, size_t) { return d.has_gap(GapKind::kHashMissing); }},
      {"a non-finite row", [](Trace& t, size_t) { t.non_finite = true; },
       [](const Divergence& d, size_t) { return d.has_gap(GapKind::kNonFinite); }},
      {"an error", [](Trace& t, size_t) { t.finish_reason = FinishReason::kError; },
       [](const Divergence& d, size_t) { return d.has_gap(GapKind::kError); }},
      {"another finish reason",
       [](Trace& t, size_t) {
         t.finish_reason = t.finish_reason == FinishReason::kStopToken ? FinishReason::kStopString
                                                                       : FinishReason::kStopToken;
       },
       [](const Divergence& d, size_t) { return d.finish_differs; }},
  };
  return all;
}

}  // namespace

TEST_CASE("a thousand clean pairs raise no alarm") {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const Trace a = random_answer(random);
    const Trace b = scheduled_otherwise(a, random);
    const Divergence d = compare_samples(a, b);
    INFO("pair " << i << " of seed " << kSeed);
    REQUIRE_FALSE(d.numeric);
    REQUIRE_FALSE(d.token);
    REQUIRE_FALSE(d.finish_differs);
    REQUIRE(d.gaps.empty());
    REQUIRE(sameness_at(Level::kBitwise, d) == Sameness::kSame);
  }
}

TEST_CASE("every planted fault is found at every position, and is never the same at level 2") {
  std::mt19937_64 random(kSeed);
  for (const Fault& fault : faults()) {
    for (int i = 0; i < 50; ++i) {
      Trace a = random_answer(random);
      for (TracePosition& p : a.positions) p.logits_hash = row_hash(random());
      const size_t at = random() % a.positions.size();
      Trace b = a;
      fault.plant(b, at);
      const Divergence d = compare_samples(a, b);
      INFO(fault.name << " at position " << at << " of " << a.positions.size() << ", pair " << i
                      << " of seed " << kSeed);
      REQUIRE(fault.found(d, at));
      REQUIRE(sameness_at(Level::kBitwise, d) != Sameness::kSame);
    }
  }
}

TEST_CASE("comparing the other way round finds the same places, mirrored") {
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 300; ++i) {
    const Trace a = random_answer(random);
    Trace b = a;
    const Fault& fault = faults()[static_cast<size_t>(i) % faults().size()];
    if (!b.positions[0].logits_hash && fault.name == "one bit of a row hash") continue;
    fault.plant(b, random() % b.positions.size());
    const Divergence ab = compare_samples(a, b);
    const Divergence ba = compare_samples(b, a);
    INFO(fault.name << ", pair " << i << " of seed " << kSeed);
    REQUIRE(ab.token.has_value() == ba.token.has_value());
    if (ab.token) {
      REQUIRE(ab.token->position == ba.token->position);
      REQUIRE(ab.token->reference_token == ba.token->candidate_token);
      REQUIRE(ab.token->reference_margin == ba.token->candidate_margin);
      REQUIRE(ab.token->candidate_token_rank_in_reference ==
              ba.token->reference_token_rank_in_candidate);
      REQUIRE(ab.token->top_agreement == ba.token->top_agreement);
    }
    REQUIRE(ab.numeric.has_value() == ba.numeric.has_value());
    if (ab.numeric) REQUIRE(ab.numeric->position == ba.numeric->position);
    REQUIRE(ab.gaps.size() == ba.gaps.size());
    REQUIRE(ab.finish_differs == ba.finish_differs);
    REQUIRE(ab.n_compared == ba.n_compared);
    REQUIRE(sameness_at(Level::kBitwise, ab) == sameness_at(Level::kBitwise, ba));
    REQUIRE(sameness_at(Level::kRequestReproducible, ab) ==
            sameness_at(Level::kRequestReproducible, ba));
  }
}
