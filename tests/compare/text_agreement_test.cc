// How much alike different answers are, by hand; chrF beside sacreBLEU 2 (CHRF().sentence_score).
#include "compare/text_agreement.h"

#include <doctest/doctest.h>

#include <cmath>

#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

double edit(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  return edit_similarity(answer(a).positions, answer(b).positions);
}

Trace said(const std::vector<int32_t>& tokens, std::string text, std::vector<float> embedding) {
  Trace trace = answer(tokens);
  trace.text = std::move(text);
  trace.embedding = std::move(embedding);
  return trace;
}

}  // namespace

TEST_CASE("edit similarity is one less the edits per token of the longer answer") {
  CHECK(edit({1, 2, 3, 4}, {1, 2, 3, 4}) == 1);
  CHECK(edit({1, 2, 3, 4}, {1, 9, 3, 4}) == 0.75);  // one replaced
  CHECK(edit({1, 2, 3, 4}, {1, 3, 4}) == 0.75);     // one left out
  CHECK(edit({1, 2, 3, 4}, {2, 3, 4, 5}) == 0.5);   // one off each end
  CHECK(edit({1, 2, 3}, {4, 5, 6, 7}) == 0);        // nothing in common
  CHECK(edit({}, {}) == 1);
  CHECK(edit({}, {1, 2}) == 0);
  // kitten and sitting: three edits of seven.
  CHECK(edit({'k', 'i', 't', 't', 'e', 'n'}, {'s', 'i', 't', 't', 'i', 'n', 'g'}) ==
        doctest::Approx(4.0 / 7));
}

TEST_CASE("edit similarity is the same both ways") {
  CHECK(edit({1, 2, 3, 4, 5}, {3, 4, 9}) == edit({3, 4, 9}, {1, 2, 3, 4, 5}));
}

TEST_CASE("chrF is the F2 of precision and recall averaged over the orders") {
  // abc and abd. Order 1: two of three match, order 2: one of two, order 3: none of one. Precision
  // and recall are both (2/3 + 1/2 + 0) / 3 = 7/18, and so is F. Longer orders do not exist.
  CHECK(chrf("abc", "abd") == doctest::Approx(7.0 / 18));
  // abcd against ab: orders 1 and 2 exist on both sides. Precision 1; recall (2/4 + 1/3) / 2 =
  // 5/12; F = 5 * 5/12 / (4 + 5/12) = 25/53.
  CHECK(chrf("abcd", "ab") == doctest::Approx(25.0 / 53));
  // The other way round precision is 5/12 and recall 1: F = 5 * 5/12 / (4 * 5/12 + 1) = 25/32.
  CHECK(chrf("ab", "abcd") == doctest::Approx(25.0 / 32));
}

TEST_CASE("chrF is sacreBLEU's on sentences, whatever their alphabet") {
  CHECK(chrf("In the beginning God created the heaven and the earth.",
             "In the beginning God made the heavens and earth.") ==
        doctest::Approx(0.620718691851379).epsilon(1e-12));
  CHECK(chrf("gr\xC3\xB6\xC3\x9F"
             "e \xE2\x9C\x93 ok",
             "grosse \xE2\x9C\x93 ok") == doctest::Approx(0.30038060761124485).epsilon(1e-12));
}

TEST_CASE("chrF leaves out white space and counts code points") {
  CHECK(chrf("a b c", "abc") == 1);
  CHECK(chrf("\xC3\xA9", "\xC3\xA8") == 0);  // e acute, e grave: one character each, not the same
  CHECK(chrf("a", "b") == 0);
  CHECK(chrf("", "a") == 0);
  CHECK(chrf("", "") == 1);
}

TEST_CASE("bytes that are no text are characters of their own") {
  CHECK(chrf("a\xFF", "a\xFE") == doctest::Approx(0.25));  // order 1: one of two; order 2: none
  CHECK(chrf("\xE2\x82", "\xE2\x82") == 1);                // a sequence that is cut off
  CHECK(chrf("x\xE2\x82", "x\xE2\x83") < 1);
}

TEST_CASE("the cosine needs two embeddings of one size") {
  const std::vector<float> x = {1, 0}, y = {0, 2}, z = {3, 3}, none, three = {1, 2, 3};
  CHECK(cosine(x, y) == 0.0);
  CHECK(*cosine(x, z) == doctest::Approx(std::sqrt(0.5)));
  CHECK(*cosine(z, z) == doctest::Approx(1));
  CHECK_FALSE(cosine(x, none));
  CHECK_FALSE(cosine(x, three));
  CHECK_FALSE(cosine(x, std::vector<float>{0, 0}));
  CHECK_FALSE(cosine(x, std::vector<float>{std::nanf(""), 1}));
}

TEST_CASE("a pair's agreement lacks what was not recorded") {
  const TextAgreement all =
      text_agreement(said({1, 2}, "abc", {1, 0}), said({1, 3}, "abd", {1, 0}));
  CHECK(all.edit_similarity == 0.5);
  CHECK(*all.chrf == doctest::Approx(7.0 / 18));
  CHECK(all.cosine == 1.0);
  const TextAgreement tokens = text_agreement(said({1, 2}, "", {}), said({1, 3}, "abd", {1, 0}));
  CHECK(tokens.edit_similarity == 0.5);
  CHECK_FALSE(tokens.chrf);
  CHECK_FALSE(tokens.cosine);
}

TEST_CASE("a cell sums agreement up and says why a figure is missing") {
  RunRecord run = clean_run(2);
  for (SampleRecord& sample : run.samples) sample.trace.text = "same";
  trace_of(run, 1, 0).positions[3].token_id = 77;
  trace_of(run, 1, 0).text = "samx";
  RunComparison comparison = compare_within_run(run, {.detail = Detail::kFull});
  const CellAgreement& agreement = comparison.cells[1].agreement;
  REQUIRE(agreement.edit_similarity);
  CHECK(agreement.edit_similarity->n == 2);
  CHECK(agreement.edit_similarity->mean == 0.875);
  CHECK(agreement.edit_similarity->min == 0.75);
  // same and samx: 3/4, 2/3, 1/2, 0 of four orders.
  CHECK(agreement.chrf->min == doctest::Approx((3.0 / 4 + 2.0 / 3 + 1.0 / 2) / 4));
  CHECK(agreement.chrf_absent.empty());
  CHECK_FALSE(agreement.cosine);
  CHECK(agreement.cosine_absent == "no embedding of the answer was recorded on both sides");
  run.redacted = true;
  for (SampleRecord& sample : run.samples) sample.trace.text.clear();
  comparison = compare_within_run(run, {.detail = Detail::kFull});
  CHECK_FALSE(comparison.cells[1].agreement.chrf);
  CHECK(comparison.cells[1].agreement.edit_similarity->min == 0.75);
  CHECK(comparison.cells[1].agreement.chrf_absent == "run run-a is redacted: it keeps no texts");
}
