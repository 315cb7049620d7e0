// A configuration says what it sets in the words of the axes, and nothing else passes.
#include "matrix/configuration_file.h"

#include <doctest/doctest.h>

#include "tests/matrix/matrix_support.h"

using namespace isobit;
using namespace isobit::testing;

TEST_CASE("settings become values of axes, spelled one way") {
  const Configuration c = read_configuration(R"({
    // after the upgrade
    "$schema": "schemas/configuration.schema.json",
    "label": "new",
    "kernel_set": "cpu-adaptive",
    "isa": "avx2",
    "threads": 2,
    "kv_dtype": "f32",
    "chunked_prefill": "016",
    "contract": "1",
    "environment": {"driver": "550.54.15"}
  })",
                                             "new.json");
  CHECK(c.label == "new");
  CHECK(c.settings == AxisValues{{"engine.kernel_set", "cpu-adaptive"},
                                 {"engine.isa", "avx2"},
                                 {"engine.threads", "2"},
                                 {"engine.kv_dtype", "f32"},
                                 {"engine.chunked_prefill", "16"}});
  CHECK(c.contract == "1");
  CHECK(c.environment.at("driver") == "550.54.15");
  const Configuration again = read_configuration(configuration_to_json(c).dump(), "again");
  CHECK(again.settings == c.settings);
  CHECK(again.environment == c.environment);
  CHECK(again.label == c.label);
  CHECK(again.contract == c.contract);
}

TEST_CASE("an empty configuration sets nothing") {
  const Configuration c = read_configuration("{}", "c");
  CHECK(c.settings.empty());
  CHECK(configuration_to_json(c) == Json::object());
}

TEST_CASE("what is not a configuration is refused with its place and the nearest word") {
  for (const auto& [text, word] : std::vector<std::pair<std::string, std::string>>{
           {"", "c.json: not valid JSON"},
           {"[]", "c.json: an object is expected, found an array"},
           {R"({"kernel_sets": "cpu"})",
            "unknown key \"kernel_sets\" (did you mean 'kernel_set'?)"},
           {R"({"kernel_set": "cpuu"})", "c.json: kernel_set: "},
           {R"({"kernel_set": 5})", "cpu"},
           {R"({"threads": 0})", "c.json: threads: "},
           {R"({"threads": 1.5})", "a string or a whole number is expected, found 1.5"},
           {R"({"threads": true})", "found true or false"},
           {R"({"label": 1})", "c.json: label: a string is expected"},
           {R"({"environment": ["a"]})", "an object is expected, found an array"},
           {R"({"environment": {"a": 1}})", "a: a string is expected, found 1"},
           {R"({"environment": {"a b": "1"}})", "the name 'a b' is not"},
           {R"({"environment": {"": "1"}})", "the name '' is not"},
           {"{\"label\": \"a\", \"label\": \"b\"}", "duplicate key"}}) {
    CAPTURE(text);
    const Error e = error_of([&] { read_configuration(text, "c.json"); });
    CHECK(e.code() == ErrorCode::usage);
    CHECK_MESSAGE(e.message().find(word) != std::string::npos, e.message());
  }
  const Error server = error_of([&] { read_configuration(R"({"server": {}})", "c.json"); });
  CHECK(server.code() == ErrorCode::unsupported);
  CHECK(server.message().find("servers") != std::string::npos);
}

TEST_CASE("a configuration cut at any byte, or with a flipped bit, is an error and no more") {
  const std::string text =
      R"({"kernel_set": "cpu", "threads": 2, "environment": {"driver": "550"}, "label": "x"})";
  for (size_t n = 0; n < text.size(); ++n)
    CHECK_THROWS_AS(read_configuration(text.substr(0, n), "c"), Error);
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      try {
        read_configuration(flipped, "c");
      } catch (const Error& e) {
        REQUIRE((e.code() == ErrorCode::usage || e.code() == ErrorCode::unsupported));
      }
    }
  }
}
