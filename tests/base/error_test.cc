#include "base/error.h"

#include <doctest/doctest.h>

using namespace isobit;

TEST_CASE("the nearest word is offered for a typo and not for another word") {
  const std::vector<std::string> words = {"run", "plan", "compare", "gate"};
  CHECK(nearest_word("rnu", words) == "run");
  CHECK(nearest_word("comapre", words) == "compare");
  CHECK(nearest_word("gat", words) == "gate");
  CHECK(nearest_word("zebra", words).empty());
  CHECK(did_you_mean("plna", words) == " (did you mean 'plan'?)");
  CHECK(nearest_word(std::string(100000, 'a'), words).empty());
}

TEST_CASE("a broken precondition is an internal error that names it") {
  CHECK_THROWS_WITH_AS(ISOBIT_REQUIRE(1 == 2), doctest::Contains("1 == 2"), Error);
}
