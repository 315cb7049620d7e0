#include "base/json_places.h"

#include <doctest/doctest.h>

using namespace isobit;

namespace {

std::string at(const std::optional<TextPlace>& place) {
  return place ? place_text(*place) : "none";
}

}  // namespace

TEST_CASE("values and keys are found by pointer, past comments, escapes and nesting") {
  const JsonPlaces places(
      "// \"first\": {[ \n"
      "{ \"a\": 1, /* \"a\": 2 */\n"
      "  \"b\\\"}\": [true,\n"
      "    {\"c/d\": \"x, y]\"}, []],\n"
      "  \"e~\": {} // end\n"
      "}\n");
  CHECK(at(places.of_value("")) == ", line 2, column 1");
  CHECK(at(places.of_key("/a")) == ", line 2, column 3");
  CHECK(at(places.of_value("/a")) == ", line 2, column 8");
  CHECK(at(places.of_key("/b\"}")) == ", line 3, column 3");
  CHECK(at(places.of_value("/b\"}/0")) == ", line 3, column 12");
  CHECK(at(places.of_value("/b\"}/1")) == ", line 4, column 5");
  CHECK(at(places.of_value("/b\"}/1/c~1d")) == ", line 4, column 13");
  CHECK(at(places.of_value("/b\"}/2")) == ", line 4, column 23");
  CHECK(at(places.of_value("/e~0")) == ", line 5, column 9");
  const std::vector<TextPlace> elements = places.of_elements("/b\"}");
  REQUIRE(elements.size() == 3);
  CHECK(place_text(elements[1]) == ", line 4, column 5");
  CHECK(places.of_elements("/a").empty());
  CHECK(pointer_step("c/d~") == "/c~1d~0");
}

TEST_CASE("what is not there has no place") {
  const JsonPlaces places("[1, {}]");
  CHECK(at(places.of_value("/2")) == "none");
  CHECK(at(places.of_key("/0")) == "none");
  CHECK(at(places.of_key("/1")) == "none");
}
