#include "why/minimal_subset.h"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

using namespace isobit;

namespace {

std::vector<int> numbers(int n) {
  std::vector<int> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

bool holds_all(const std::vector<int>& items, const std::set<int>& wanted) {
  return std::set<int>(items.begin(), items.end()).size() == items.size() &&
         std::includes(items.begin(), items.end(), wanted.begin(), wanted.end());
}

}  // namespace

TEST_CASE("the guilty ones of a list are found, wherever they stand, and nothing else is kept") {
  for (const std::set<int>& guilty :
       {std::set<int>{}, {0}, {31}, {7}, {0, 31}, {3, 4, 5}, {1, 9, 17, 30}}) {
    const std::vector<int> found = minimal_subset<int>(
        numbers(32), [&](const std::vector<int>& kept) { return holds_all(kept, guilty); });
    CHECK(std::set<int>(found.begin(), found.end()) == guilty);
    CHECK(std::is_sorted(found.begin(), found.end()));
  }
}

TEST_CASE("a list of which only the length matters is cut to the least length") {
  for (const size_t least : {size_t{1}, size_t{2}, size_t{29}, size_t{64}}) {
    const auto found = minimal_subset<int>(
        numbers(64), [&](const std::vector<int>& kept) { return kept.size() >= least; }, 1);
    CHECK(found.size() == least);
  }
}

TEST_CASE("at_least is kept even where less would show it") {
  CHECK(minimal_subset<int>(
            numbers(9), [](const std::vector<int>&) { return true; }, 2)
            .size() == 2);
  CHECK(minimal_subset<int>(numbers(0), [](const std::vector<int>&) { return true; }).empty());
}

TEST_CASE("one guilty item of many is found in a number of tries that grows as the logarithm") {
  int n_tries = 0;
  const auto found = minimal_subset<int>(numbers(1024), [&](const std::vector<int>& kept) {
    ++n_tries;
    return holds_all(kept, {777});
  });
  CHECK(found == std::vector<int>{777});
  CHECK(n_tries < 40);
}

TEST_CASE("smallest_number ends where one below no longer shows it") {
  for (int least = 1; least <= 20; ++least) {
    CHECK(smallest_number<int>(1, 20, [&](int n) { return n >= least; }) == least);
  }
  const auto odd = [](int n) { return n % 2 == 1 && n > 4; };  // not monotone
  const int found = smallest_number<int>(1, 19, odd);
  CHECK(odd(found));
  CHECK_FALSE(odd(found - 1));
}
