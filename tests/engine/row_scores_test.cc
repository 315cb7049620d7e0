#include "engine/row_scores.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace isobit;

TEST_CASE("top alternatives are ordered by value, ties by the lowest id, zero signs equal") {
  const std::vector<float> row = {1, 3, 3, -0.0f, 0.0f, 2, 3};
  const auto top = top_logits(row, 6);
  const std::vector<int32_t> expected = {1, 2, 6, 5, 0, 3};
  REQUIRE(top.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) CHECK(top[i].token_id == expected[i]);
  CHECK(top_logits(row, 100).size() == row.size());
  CHECK(top_logits(row, 0).empty());
}

TEST_CASE("one flipped bit anywhere changes the hash of a row, also in the ragged last block") {
  std::vector<float> row(2500);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i) * 0.25f;
  const Hash128 clean = logits_hash(row);
  CHECK(clean == logits_hash(row));
  for (size_t at : {size_t{0}, size_t{1023}, size_t{1024}, size_t{2499}}) {
    std::vector<float> changed = row;
    changed[at] = std::nextafter(changed[at], 1e9f);
    CHECK(logits_hash(changed) != clean);
  }
}

TEST_CASE("the hash of a short row is the digest of one block digest, high half first") {
  const std::vector<float> row = {1.0f, -2.0f, 0.5f};
  XXH128_canonical_t inner, outer;
  XXH128_canonicalFromHash(&inner, XXH3_128bits(row.data(), 12));
  XXH128_canonicalFromHash(&outer, XXH3_128bits(&inner, 16));
  const Hash128 hash = logits_hash(row);
  for (size_t i = 0; i < 16; ++i) CHECK(hash[i] == outer.digest[i]);
}

TEST_CASE("a NaN or an infinity anywhere is seen") {
  std::vector<float> row(1000, 1.0f);
  CHECK(all_finite(row));
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    row[997] = bad;
    CHECK(!all_finite(row));
    row[997] = std::numeric_limits<float>::max();
    CHECK(all_finite(row));
  }
}
