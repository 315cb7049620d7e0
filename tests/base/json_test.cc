#include "base/json.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

using namespace isobit;

namespace {

std::string refusal(std::string_view text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, "f.json", limits);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::usage);
    return e.message();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("key order is kept and values arrive as written") {
  const Json v = parse_json(R"({"b": 1, "a": [true, null, "é\u00e9", -2.5e3]})", "f.json");
  CHECK(v.dump() == R"({"b":1,"a":[true,null,"éé",-2500.0]})");
}

TEST_CASE("a fault is named with file, line and column") {
  const std::string message = refusal("{\n  \"a\": 1,\n  \"b\": ?\n}");
  CHECK(message.find("f.json") == 0);
  CHECK(message.find("line 3, column 8") != std::string::npos);
}

TEST_CASE("duplicate keys, trailing text, comments, bad UTF-8 and deep nesting are refused") {
  CHECK(refusal(R"({"a": 1, "b": {"a": 2}, "a": 3})").find("duplicate key \"a\"") !=
        std::string::npos);
  CHECK(refusal("{} {}") != "accepted");
  CHECK(refusal("{\"a\": 1} // no") != "accepted");
  CHECK(refusal("\"\xff\"") != "accepted");
  CHECK(refusal("") != "accepted");
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  CHECK(refusal(deep).find("nesting deeper than 256") != std::string::npos);
  CHECK(refusal(std::string(1000000, '[')) != "accepted");  // no stack to overflow
}

TEST_CASE("comments are skipped where they are allowed") {
  const JsonLimits limits{.max_depth = 8, .comments = JsonComments::allowed};
  CHECK(parse_json("{ // one\n \"a\": /* two */ 1 }", "f.json", limits)["a"] == 1);
}

TEST_CASE(
    "every truncation of a document is refused, and every flipped byte is refused or parsed") {
  const std::string whole = R"({"a":[1,2.5,"x\n",true,null],"b":{"c":""}})";
  for (size_t n = 0; n < whole.size(); ++n) CHECK(refusal(whole.substr(0, n)) != "accepted");
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x20', '\x80'}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      CHECK_NOTHROW(refusal(changed));
    }
  }
}

TEST_CASE("canonical form follows RFC 8785: sorted keys, shortest numbers, minimal escapes") {
  const Json v = parse_json(
      R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0.0, 100.0, 1e21, 123e-7],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]})",
      "f.json");
  CHECK(canonical_json(v) ==
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27,0,"
        "100,1e+21,"
        "0.0000123],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST_CASE("canonical keys are ordered by UTF-16 code units") {
  // The RFC's own example: U+1F600 (a surrogate pair) sorts before U+FB33.
  const Json v = parse_json(
      R"({"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7})", "f.json");
  CHECK(canonical_json(v) ==
        "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\xef\xac\xb3\":3}");
}

TEST_CASE("canonical form has no NaN") {
  CHECK_THROWS_AS(canonical_json(Json(std::numeric_limits<double>::quiet_NaN())), Error);
}

TEST_CASE("an object of 200,000 members is read and written in canonical form in linear time") {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i)
    text += (i ? "," : "") + std::string("\"k") + std::to_string(i) + "\":" + std::to_string(i);
  text += "}";
  const Json v = parse_json(text, "f.json");  // quadratic, this would take minutes
  CHECK(v.size() == 200000);
  CHECK(canonical_json(v).size() == text.size());
}
