// The axis table and the words that it accepts.
#include "matrix/axes.h"

#include <doctest/doctest.h>

#include <set>

#include "base/file.h"
#include "base/json.h"
#include "tests/matrix/matrix_support.h"

using namespace isobit;
using namespace isobit::testing;

TEST_CASE("every axis accepts its own default, and keys are unique") {
  std::set<std::string> keys;
  for (const Axis& axis : axes()) {
    CAPTURE(axis.key);
    CHECK(keys.insert(axis.key).second);
    CHECK(normalize_axis_value(axis, axis.default_value) == axis.default_value);
    CHECK(&find_axis(axis.key) == &axis);
    for (const std::string& word : axis.words) CHECK(normalize_axis_value(axis, word) == word);
    for (const std::string& word : axis.later_words) {
      const Error e = error_of([&] { normalize_axis_value(axis, word); });
      CHECK(e.code() == ErrorCode::unsupported);
      CHECK(e.message().find(word) != std::string::npos);
    }
  }
  for (const char* key :
       {"load.concurrency",     "load.batch_shape",  "load.position",      "load.neighbours",
        "load.arrival",         "prompt.length",     "output.length",      "engine.chunked_prefill",
        "engine.kernel_set",    "engine.kv_dtype",   "engine.threads",     "engine.isa",
        "sampling.temperature", "sampling.seed",     "sampling.top_p",     "engine.prefix_cache",
        "engine.speculation",   "engine.preemption", "hw.tensor_parallel", "state.restart",
        "sampling.rng"}) {
    CHECK(keys.contains(key));
  }
}

TEST_CASE("schedule and identity axes are those of the product") {
  for (const char* key : {"prompt.length", "output.length", "engine.kernel_set", "engine.kv_dtype",
                          "sampling.temperature", "sampling.seed", "sampling.top_k",
                          "sampling.top_p", "sampling.min_p"}) {
    CHECK(find_axis(key).kind == AxisKind::kIdentity);
  }
  for (const char* key : {"load.concurrency", "load.batch_shape", "load.position",
                          "load.neighbours", "load.arrival", "engine.chunked_prefill",
                          "engine.threads", "engine.isa", "engine.prefix_cache", "sampling.rng"}) {
    CHECK(find_axis(key).kind == AxisKind::kSchedule);
  }
}

TEST_CASE("a value has one spelling") {
  CHECK(normalize_axis_value(find_axis("load.concurrency"), "008") == "8");
  CHECK(normalize_axis_value(find_axis("engine.chunked_prefill"), "off") == "off");
  CHECK(normalize_axis_value(find_axis("engine.chunked_prefill"), "016") == "16");
  CHECK(normalize_axis_value(find_axis("sampling.temperature"), "0.70") == "0.7");
  CHECK(normalize_axis_value(find_axis("sampling.temperature"), "1.0") == "1");
  CHECK(normalize_axis_value(find_axis("sampling.frequency_penalty"), "-0.0") == "0");
  CHECK(normalize_axis_value(find_axis("sampling.seed"), "18446744073709551615") ==
        "18446744073709551615");
  CHECK(normalize_axis_values(find_axis("load.concurrency"), "1,8,08,32") ==
        std::vector<std::string>{"1", "8", "32"});
  CHECK(normalize_axis_values(find_axis("load.concurrency"), "edges,2,3") ==
        std::vector<std::string>{"2", "8", "9", "16", "17", "44", "45", "255", "256", "257", "3"});
}

TEST_CASE("what is no value is refused, with the nearest word") {
  const auto refuse = [](const char* key, const char* value) {
    return error_of([&] { normalize_axis_values(find_axis(key), value); });
  };
  CHECK(refuse("load.position", "fist").message().find("did you mean 'first'") !=
        std::string::npos);
  CHECK(
      refuse("engine.kernel_set", "cpu-adaptative").message().find("did you mean 'cpu-adaptive'") !=
      std::string::npos);
  for (const auto& [key, value] : std::vector<std::pair<const char*, const char*>>{
           {"load.concurrency", "0"},
           {"load.concurrency", "-1"},
           {"load.concurrency", "1.5"},
           {"load.concurrency", ""},
           {"load.concurrency", "1,,2"},
           {"load.concurrency", "1,"},
           {"load.concurrency", " 1"},
           {"load.concurrency", "65537"},
           {"load.concurrency", "99999999999999999999"},
           {"load.concurrency", "+1"},
           {"load.concurrency", "0x10"},
           {"engine.chunked_prefill", "0"},
           {"engine.chunked_prefill", "on"},
           {"sampling.temperature", "nan"},
           {"sampling.temperature", "inf"},
           {"sampling.temperature", "-1"},
           {"sampling.temperature", "1e"},
           {"sampling.top_p", "1.01"},
           {"sampling.seed", "-1"},
           {"sampling.seed", "18446744073709551616"},
           {"load.position", "FIRST"},
           {"load.position", ""},
           {"engine.kv_dtype", "f8"}}) {
    CAPTURE(key);
    CAPTURE(value);
    CHECK(refuse(key, value).code() == ErrorCode::usage);
  }
  CHECK(error_of([] { find_axis("load.concurency"); })
            .message()
            .find("did you mean 'load.concurrency'") != std::string::npos);
  CHECK(error_of([] { find_axis(std::string(100000, 'x')); }).message().size() < 500);
}

TEST_CASE("axes of a later version accept their default only") {
  for (const char* key : {"engine.prefix_cache", "engine.speculation", "engine.preemption",
                          "hw.tensor_parallel", "state.restart", "sampling.rng"}) {
    const Error e = error_of([&] { normalize_axis_value(find_axis(key), "2"); });
    CHECK(e.code() == ErrorCode::unsupported);
    CHECK(e.message().find(key) != std::string::npos);
  }
}

TEST_CASE("the JSON Schema of matrix files names the axes of the table, in order") {
  const Json schema =
      parse_json(read_file(ISOBIT_SOURCE_DIR "/schemas/matrix.schema.json"), "schema");
  std::vector<std::string> keys;
  for (const Axis& axis : axes()) keys.push_back(axis.key);
  CHECK(schema["$defs"]["axis"]["enum"].get<std::vector<std::string>>() == keys);
}
