// A golden set: comparisons whose every number was worked out by hand.
#include "compare/divergence.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

TEST_CASE("an answer compared with itself has nothing to report") {
  const Trace trace = answer({5, 6, 7});
  const Divergence d = compare_samples(trace, trace);
  CHECK(d.evidence == NumericEvidence::kLogitsHash);
  CHECK(d.gaps.empty());
  CHECK_FALSE(d.numeric);
  CHECK_FALSE(d.token);
  CHECK_FALSE(d.finish_differs);
  CHECK(d.n_compared == 3);
  CHECK(d.n_not_compared == 0);
  CHECK(d.max_drift->ulp == 0);
  CHECK(d.top_agreement_before == 1.0);
}

TEST_CASE("one flipped ulp is found at its position, with both bit patterns and the distance") {
  const Trace a = answer({5, 6, 7});
  Trace b = a;
  b.positions[1].logprob =
      std::bit_cast<float>(std::bit_cast<uint32_t>(-0.625f) + 2);  // two steps further from zero
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.numeric);
  CHECK(d.numeric->position == 1);
  CHECK(d.numeric->logprob_differs);
  CHECK_FALSE(d.numeric->logits_hash_differs);
  CHECK(d.numeric->token_id == 6);
  CHECK(std::bit_cast<uint32_t>(*d.numeric->reference_logprob) == 0xBF200000u);
  CHECK(std::bit_cast<uint32_t>(*d.numeric->candidate_logprob) == 0xBF200002u);
  CHECK(d.numeric->ulp == 2u);
  CHECK(*d.numeric->nats == std::ldexp(1.0, -23));  // 2 x 2^-24, the spacing in [0.5, 1)
  CHECK_FALSE(d.token);
  CHECK(d.n_numeric_differences == 1);
  CHECK(d.max_drift->ulp == 2u);
  CHECK(d.max_drift->ulp_position == 1);
}

TEST_CASE(
    "a row hash that differs is a numeric divergence although every recorded number is the same") {
  const Trace a = answer({5, 6, 7});
  Trace b = a;
  b.positions[2].logits_hash->back() ^= 1;
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.numeric);
  CHECK(d.numeric->position == 2);
  CHECK(d.numeric->logits_hash_differs);
  CHECK_FALSE(d.numeric->logprob_differs);
  CHECK(d.numeric->ulp == 0u);
  CHECK(d.max_drift->ulp == 0u);
}

TEST_CASE(
    "a flip says which tokens, how narrow it was, and what each side thought of the other's "
    "token") {
  Trace a = answer({5, 6, 7, 8});
  Trace b = answer({5, 6, 9, 9});
  a.positions[2].top = {{7, -0.75f}, {9, -0.875f}, {3, -4.0f}, {4, -5.0f}};
  a.positions[2].margin = 0.125f;
  b.positions[2].top = {{9, -0.8125f}, {1, -2.0f}, {7, -2.5f}, {3, -4.5f}};
  b.positions[2].margin = 1.1875f;
  b.positions[2].logits_hash = row_hash(9999);
  b.positions[1].logprob = -0.5f;  // drift before the flip
  b.positions[1].logits_hash = row_hash(9998);
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.token);
  CHECK(d.token->position == 2);
  CHECK(d.token->reference_token == 7);
  CHECK(d.token->candidate_token == 9);
  CHECK(d.token->reference_margin == 0.125f);
  CHECK(d.token->candidate_margin == 1.1875f);
  CHECK(d.token->candidate_token_rank_in_reference == 2);
  CHECK(d.token->reference_token_rank_in_candidate == 3);
  CHECK(d.token->same_row == false);
  CHECK(d.token->top_agreement == 0.75);  // 7, 9 and 3 of four
  CHECK(d.top_agreement_before == 1.0);
  REQUIRE(d.numeric);
  CHECK(d.numeric->position == 1);
  CHECK(d.max_drift->nats == 0.125);
  CHECK(d.max_drift->nats_position == 1);
  CHECK(d.n_compared == 3);
  CHECK(d.n_not_compared == 1);
  CHECK(d.n_argmax_flips == 1);
  CHECK(d.first_argmax_flip == 2);
}

TEST_CASE("at a flip the reference's token is looked up in the candidate's list") {
  Trace a = answer({5});
  Trace b = answer({6});
  b.positions[0].top = {{6, -0.5f}, {5, -0.625f}};
  b.positions[0].logits_hash = row_hash(1);
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.numeric);
  CHECK(d.numeric->reference_logprob == -0.5f);
  CHECK(d.numeric->candidate_logprob == -0.625f);
  CHECK(d.numeric->nats == 0.125);
}

TEST_CASE("positions after a flip are not compared") {
  const Trace a = answer({1, 2, 3, 4, 5});
  Trace b = answer({1, 9, 3, 4, 5, 6, 7});
  b.positions[3].logits_hash = row_hash(12345);
  const Divergence d = compare_samples(a, b);
  CHECK(d.token->position == 1);
  CHECK(d.n_compared == 2);
  CHECK(d.n_not_compared == 5);
  REQUIRE(d.numeric);
  CHECK(d.numeric->position ==
        1);  // the top lists name other tokens there; position 3 was not looked at
  CHECK(d.n_numeric_differences == 1);
}

TEST_CASE("teacher forcing keeps positions after a difference comparable") {
  Trace a = answer({1, 2, 3, 4});
  Trace b = a;
  b.positions[1].top[0].token_id = 77;  // the candidate would have chosen another token
  b.positions[3].logits_hash = row_hash(31);
  const Divergence d = compare_samples(a, b, {.n_forced = 4});
  CHECK_FALSE(d.token);
  CHECK(d.n_argmax_flips == 1);
  CHECK(d.first_argmax_flip == 1);
  CHECK(d.n_numeric_differences == 2);
  CHECK(d.n_compared == 4);
}

TEST_CASE(
    "forced positions stay comparable even where the recorded tokens differ, unforced ones do "
    "not") {
  const Trace a = answer({1, 2, 3, 4, 5});
  Trace b = answer({1, 9, 3, 4, 5});
  CHECK(compare_samples(a, b, {.n_forced = 3}).n_compared == 3);
  CHECK(compare_samples(a, b).n_compared == 2);
}

TEST_CASE("an answer that stopped where the other went on diverged at the next position") {
  const Trace a = answer({1, 2, 3}, FinishReason::kStopString);
  const Trace b = answer({1, 2, 3, 4, 5});
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.token);
  CHECK(d.token->position == 3);
  CHECK_FALSE(d.token->reference_token);
  CHECK(d.token->candidate_token == 4);
  CHECK_FALSE(d.token->reference_margin);
  CHECK(d.token->candidate_margin == 0.25f);
  CHECK(d.gaps.empty());
  CHECK(d.finish_differs);
}

TEST_CASE(
    "an answer that is shorter without a reason is truncated, not a divergence and not a match") {
  const Trace a = answer({1, 2, 3, 4});
  const Trace b = answer({1, 2, 3});
  const Divergence d = compare_samples(a, b);
  CHECK_FALSE(d.token);
  CHECK(d.has_gap(GapKind::kTruncated));
  CHECK(d.gaps[0].side == Side::kCandidate);
  CHECK(d.gaps[0].position == 3);
}

TEST_CASE("two answers that both end early at `length` are both truncated") {
  const Trace a = answer({1, 2, 3});
  CHECK(compare_samples(a, a, {.expected_tokens = 4}).gaps.size() == 2);
  CHECK(compare_samples(a, a, {.expected_tokens = 3}).gaps.empty());
  const Trace stopped = answer({1, 2, 3}, FinishReason::kStopToken);
  CHECK(compare_samples(stopped, stopped, {.expected_tokens = 4}).gaps.empty());
}

TEST_CASE("an empty answer is explained by a stop and by nothing else") {
  const Trace stopped = answer({}, FinishReason::kStopToken);
  CHECK(compare_samples(stopped, stopped).gaps.empty());
  CHECK(compare_samples(answer({}), answer({})).has_gap(GapKind::kTruncated));
}

TEST_CASE("the same tokens under another finish reason are a difference") {
  const Divergence d = compare_samples(answer({1, 2}, FinishReason::kStopToken), answer({1, 2}));
  CHECK(d.finish_differs);
  CHECK_FALSE(d.token);
}

TEST_CASE("an error, a cancellation and a non-finite row are gaps of their side") {
  const Trace a = answer({1, 2});
  Trace error = answer({1}, FinishReason::kError);
  Trace cancelled = answer({1}, FinishReason::kCancelled);
  Trace non_finite = answer({1, 2});
  non_finite.non_finite = true;
  for (const auto& [trace, kind] :
       {std::pair{error, GapKind::kError}, std::pair{cancelled, GapKind::kCancelled},
        std::pair{non_finite, GapKind::kNonFinite}}) {
    CHECK(compare_samples(a, trace).has_gap(kind));
    CHECK(compare_samples(a, trace).gaps[0].side == Side::kCandidate);
    CHECK(compare_samples(trace, a).gaps[0].side == Side::kReference);
    CHECK(compare_samples(trace, trace).gaps.size() == 2);
  }
}

TEST_CASE("a NaN logprob is a finding even where both sides have the same bits") {
  Trace a = answer({1, 2});
  a.positions[1].logprob = std::numeric_limits<float>::quiet_NaN();
  const Divergence d = compare_samples(a, a);
  CHECK(d.has_gap(GapKind::kNonFinite));
  CHECK(d.gaps[0].position == 1);
}

TEST_CASE("a hash that one position lacks is a gap of that side") {
  const Trace a = answer({1, 2, 3});
  Trace b = a;
  b.positions[2].logits_hash.reset();
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.gaps.size() == 1);
  CHECK(d.gaps[0].kind == GapKind::kHashMissing);
  CHECK(d.gaps[0].side == Side::kCandidate);
  CHECK(d.gaps[0].position == 2);
  CHECK(compare_samples(b, b).gaps.size() == 2);  // both lack it where another position has one
}

TEST_CASE("without hashes the logprobs are the evidence, and without those there is none") {
  const Trace a = answer({1, 2, 3});
  CHECK(compare_samples(without_hashes(a), without_hashes(a)).evidence ==
        NumericEvidence::kLogprobs);
  CHECK(compare_samples(tokens_only(a), tokens_only(a)).evidence == NumericEvidence::kNone);
  const Divergence mixed = compare_samples(a, without_hashes(a));
  CHECK(mixed.evidence == NumericEvidence::kLogprobs);
  CHECK(mixed.has_gap(GapKind::kHashMissing));
  const Divergence none = compare_samples(without_hashes(a), tokens_only(a));
  CHECK(none.has_gap(GapKind::kLogprobMissing));
  CHECK_FALSE(none.numeric);
  CHECK_FALSE(none.max_drift);
}

TEST_CASE("a shorter top list is a gap, not a difference") {
  const Trace a = without_hashes(answer({1, 2}));
  Trace b = a;
  b.positions[0].top.pop_back();
  const Divergence d = compare_samples(a, b);
  CHECK_FALSE(d.numeric);
  CHECK(d.has_gap(GapKind::kTopMissing));
}

TEST_CASE(
    "the same row with another token is a sampling difference, known by the hash or by the top "
    "list") {
  Trace a = answer({1, 2});
  Trace b = a;
  b.positions[1].token_id = 3;
  CHECK(compare_samples(a, b).token->same_row == true);
  CHECK(compare_samples(without_hashes(a), without_hashes(b)).token->same_row == true);
  CHECK_FALSE(compare_samples(tokens_only(a), tokens_only(b)).token->same_row);
}

TEST_CASE("a missing margin is taken from the top list where that has two entries") {
  Trace a = answer({1});
  a.positions[0].margin.reset();
  a.positions[0].top = {{1, -0.25f}, {2, -1.0f}};
  Trace b = answer({2});
  b.positions[0].margin.reset();
  b.positions[0].top = {{2, -0.25f}};
  const Divergence d = compare_samples(a, b);
  CHECK(d.token->reference_margin == 0.75f);
  CHECK_FALSE(d.token->candidate_margin);
}

TEST_CASE(
    "only the first n positions count when asked, and how the answers end after them does not") {
  const Trace longer = answer({1, 2, 3, 4, 5, 6});
  const Trace shorter = answer({1, 2, 3});
  const Divergence d = compare_samples(longer, shorter, {.first_n = 3});
  CHECK(d.gaps.empty());
  CHECK_FALSE(d.token);
  CHECK_FALSE(d.finish_differs);
  CHECK(d.n_compared == 3);
  CHECK(d.reference_length == 3);
  CHECK(compare_samples(longer, answer({1, 2}), {.first_n = 3}).has_gap(GapKind::kTruncated));
  CHECK(compare_samples(longer, answer({1, 2}, FinishReason::kStopToken), {.first_n = 3})
            .token->position == 2);
  CHECK(compare_samples(longer, answer({1, 7, 3}), {.first_n = 3}).token->position == 1);
  CHECK_THROWS_AS(compare_samples(longer, shorter, {.first_n = -1}), Error);
}

TEST_CASE(
    "a logprob of minus infinity on one side is a difference of so many ulp and no number of "
    "nats") {
  Trace a = answer({1});
  Trace b = a;
  b.positions[0].logprob = -std::numeric_limits<float>::infinity();
  const Divergence d = compare_samples(a, b);
  REQUIRE(d.numeric);
  CHECK(d.numeric->ulp);
  CHECK_FALSE(d.numeric->nats);
  CHECK(d.max_drift->nats == 0);
  CHECK(d.max_drift->ulp > 0);
}
