#include "compare/level.h"

#include <doctest/doctest.h>

#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

Sameness at(int level, const Trace& a, const Trace& b,
            const SampleComparisonOptions& options = {}) {
  return sameness_at(*level_from_number(level), compare_samples(a, b, options));
}

Trace drifted(Trace trace, size_t at) {
  trace.positions[at].logits_hash = row_hash(4242);
  trace.positions[at].logprob -= 0.001f;
  return trace;
}

}  // namespace

TEST_CASE("level 1 asks for tokens and finish reason, level 2 also for bits") {
  const Trace a = answer({1, 2, 3});
  CHECK(at(1, a, a) == Sameness::kSame);
  CHECK(at(2, a, a) == Sameness::kSame);
  CHECK(at(1, a, drifted(a, 1)) == Sameness::kSame);
  CHECK(at(2, a, drifted(a, 1)) == Sameness::kDifferent);
  CHECK(at(1, a, answer({1, 2, 4})) == Sameness::kDifferent);
  CHECK(at(1, answer({1, 2}, FinishReason::kStopToken), answer({1, 2})) == Sameness::kDifferent);
}

TEST_CASE("level 2 falls back to logprob bits only where no side has a hash") {
  const Trace a = answer({1, 2, 3});
  CHECK(at(2, without_hashes(a), without_hashes(a)) == Sameness::kSame);
  CHECK(at(2, without_hashes(a), without_hashes(drifted(a, 2))) == Sameness::kDifferent);
  CHECK(at(2, a, without_hashes(a)) == Sameness::kUnsupported);
  CHECK(at(2, tokens_only(a), tokens_only(a)) == Sameness::kUnsupported);
  CHECK(at(2, without_hashes(a), tokens_only(a)) == Sameness::kUnsupported);
  CHECK(at(1, tokens_only(a), tokens_only(a)) == Sameness::kSame);
}

TEST_CASE("one missing hash makes level 2 unsupported, and a difference elsewhere still counts") {
  const Trace a = answer({1, 2, 3});
  Trace b = a;
  b.positions[2].logits_hash.reset();
  CHECK(at(2, a, b) == Sameness::kUnsupported);
  CHECK(at(2, a, drifted(b, 0)) == Sameness::kDifferent);
  CHECK(at(1, a, b) == Sameness::kSame);
}

TEST_CASE("a hash needs no logprobs beside it") {
  Trace a = answer({1, 2, 3});
  for (TracePosition& p : a.positions) {
    p.logprob = 0;
    p.top.clear();
  }
  CHECK(at(2, a, a) == Sameness::kSame);
  CHECK(at(2, a, answer({1, 2, 3})) == Sameness::kSame);
}

TEST_CASE("incomplete answers are never the same, at any level") {
  const Trace a = answer({1, 2, 3});
  Trace nan = a;
  nan.non_finite = true;
  for (const Trace& b : {answer({1, 2}), answer({1, 2, 3}, FinishReason::kError),
                         answer({1, 2}, FinishReason::kCancelled), nan}) {
    CHECK(at(1, a, b) == Sameness::kMissing);
    CHECK(at(2, a, b) == Sameness::kMissing);
    CHECK(at(1, b, b, {.expected_tokens = 3}) == Sameness::kMissing);
  }
  CHECK(at(1, answer({}), answer({})) == Sameness::kMissing);
  CHECK(at(1, a, answer({1, 9}, FinishReason::kError)) == Sameness::kDifferent);
}

TEST_CASE("only levels 0, 1 and 2 exist") {
  CHECK(number(*level_from_number(0)) == 0);
  CHECK_FALSE(level_from_number(-1));
  CHECK_FALSE(level_from_number(3));
  CHECK(number(*level_from_number(2)) == 2);
}

namespace {

FlipKind flip(float reference_margin, float candidate_margin, const Sampling& sampling = {}) {
  Trace a = answer({1, 2});
  Trace b = answer({1, 3});
  a.positions[1].margin = reference_margin;
  b.positions[1].margin = candidate_margin;
  b.positions[1].logits_hash = row_hash(7);
  return *classify_flip(compare_samples(a, b), sampling, {});
}

}  // namespace

TEST_CASE("a flip is judged by the larger of its margins") {
  CHECK(flip(0.00005f, 0.00009f) == FlipKind::kTie);
  CHECK(flip(0.00005f, 0.01f) == FlipKind::kDrift);
  CHECK(flip(0.01f, 1.5f) == FlipKind::kSuspicious);
  CHECK(flip(1.5f, 0.01f) == FlipKind::kSuspicious);
  CHECK(flip(1.0f, 1.0f) == FlipKind::kDrift);  // the threshold itself is not above it
}

TEST_CASE("margins say nothing about sampled or penalised choices") {
  Sampling sampled;
  sampled.temperature = 0.8;
  Sampling penalised;
  penalised.repetition_penalty = 1.1;
  Sampling biased;
  biased.logit_bias = {{5, 1.0}};
  for (const Sampling& sampling : {sampled, penalised, biased})
    CHECK(flip(3.0f, 3.0f, sampling) == FlipKind::kDrift);
}

TEST_CASE("another token from the same row is a sampling flip") {
  const Trace a = answer({1, 2});
  Trace b = a;
  b.positions[1].token_id = 9;
  CHECK(classify_flip(compare_samples(a, b), {}, {}) == FlipKind::kSampling);
}

TEST_CASE("a flip without margins or with an ended side is of unknown kind, and no flip has none") {
  const Trace a = answer({1, 2});
  CHECK(classify_flip(compare_samples(tokens_only(a), tokens_only(answer({1, 3}))), {}, {}) ==
        FlipKind::kUnknown);
  CHECK(classify_flip(compare_samples(answer({1}, FinishReason::kStopToken), a), {}, {}) ==
        FlipKind::kUnknown);
  CHECK_FALSE(classify_flip(compare_samples(a, a), {}, {}));
}
