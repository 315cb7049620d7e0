// A baseline file gives back what went in, to the bit, and notices what happened to it on the way.
#include "record/baseline_file.h"

#include <doctest/doctest.h>

#include <bit>

#include "base/digest.h"
#include "base/error.h"
#include "record/run_json.h"
#include "tests/record/recorded_run.h"

using namespace isobit;
using isobit::testing::recorded_run;

namespace {

BaselineFile sample_baseline() {
  return {.name = "prod",
          .version = 3,
          .created = "2026-02-03T04:05:06Z",
          .note = "after the \"driver\" upgrade",
          .policy = "{\n  // why\n  \"level\": 1\n}\n",
          .run = recorded_run()};
}

Error error_of(const std::string& text) {
  try {
    read_baseline_file(text, "b.json");
  } catch (const Error& e) {
    return e;
  }
  FAIL("nothing was refused");
  std::abort();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// `change` in a part whose checksum is then made right again.
std::string edited(const char* part, const std::function<void(Json&)>& change) {
  Json root = parse_json(baseline_file_text(sample_baseline()), "b.json");
  change(root[part]);
  root["checksums"][part] = sha256_hex(canonical_json(root[part]));
  return root.dump();
}

}  // namespace

TEST_CASE("a baseline comes back as it was written, odd values included") {
  const BaselineFile in = sample_baseline();
  const BaselineFile out = read_baseline_file(baseline_file_text(in), "b.json");
  CHECK(out.name == in.name);
  CHECK(out.version == in.version);
  CHECK(out.created == in.created);
  CHECK(out.note == in.note);
  CHECK(out.policy == in.policy);
  CHECK(canonical_json(run_sections(out.run)) == canonical_json(run_sections(in.run)));
  CHECK(out.run.target == in.run.target);
  const Trace &was = in.run.samples[1].trace, &is = out.run.samples[1].trace;
  CHECK(is.text == was.text);
  CHECK(is.seed == was.seed);
  REQUIRE(is.positions.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(std::bit_cast<uint32_t>(is.positions[i].logprob) ==
          std::bit_cast<uint32_t>(was.positions[i].logprob));
    CHECK(is.positions[i].margin == was.positions[i].margin);
    CHECK(is.positions[i].logits_hash == was.positions[i].logits_hash);
    CHECK(is.positions[i].top.size() == was.positions[i].top.size());
  }
  CHECK(out.run.requests[0].sampling.seed == in.run.requests[0].sampling.seed);
  CHECK(out.run.samples[0].trace.embedding == in.run.samples[0].trace.embedding);
}

TEST_CASE("every float comes back with its bits") {
  BaselineFile in = sample_baseline();
  uint32_t state = 1;  // of a full-period generator modulo 2^32
  for (int round = 0; round < 2000; ++round) {
    std::vector<TracePosition>& positions = in.run.samples[0].trace.positions;
    for (TracePosition& p : positions) {
      state = state * 1664525u + 1013904223u;
      p.logprob = std::bit_cast<float>(state);
    }
    const RunRecord out = run_from_sections(run_sections(in.run), "b.json");
    for (size_t i = 0; i < positions.size(); ++i) {
      REQUIRE(std::bit_cast<uint32_t>(out.samples[0].trace.positions[i].logprob) ==
              std::bit_cast<uint32_t>(positions[i].logprob));
    }
  }
}

TEST_CASE("the same content gives the same bytes, one element a line") {
  const std::string text = baseline_file_text(sample_baseline());
  CHECK(text == baseline_file_text(sample_baseline()));
  CHECK(text == baseline_file_text(read_baseline_file(text, "b.json")));
  BaselineFile other = sample_baseline();
  other.run.samples[2].trace.positions[1].token_id = 4711;
  const std::string changed = baseline_file_text(other);
  size_t n_lines = 0, n_changed = 0;
  for (size_t a = 0, b = 0; a < text.size() && b < changed.size(); ++n_lines) {
    const size_t a_end = text.find('\n', a), b_end = changed.find('\n', b);
    n_changed += text.substr(a, a_end - a) != changed.substr(b, b_end - b);
    a = a_end + 1;
    b = b_end + 1;
  }
  CHECK(n_lines > 40);
  CHECK(n_changed == 2);  // the answer, and the checksum of the answers
}

TEST_CASE("a file that another program laid out anew is still the same baseline") {
  const std::string text = baseline_file_text(sample_baseline());
  CHECK_NOTHROW(read_baseline_file(parse_json(text, "b.json").dump(2), "b.json"));
}

TEST_CASE("one changed value is named by the part that it is in") {
  const std::string text = baseline_file_text(sample_baseline());
  for (const auto& [from, to, part] : std::vector<std::array<std::string, 3>>{
           {"\"index\":1", "\"index\":2", "cells"},
           {"\"value\":\"ab\"", "\"value\":\"ac\"", "fingerprint"},
           {"\"finish_reason\":\"length\"", "\"finish_reason\":\"cancelled\"", "samples"},
           {"\"max_tokens\":4", "\"max_tokens\":5", "requests"},
           {"\"created\": \"2026-01-02T03:04:05Z\"", "\"created\": \"2027\"", "run"},
           {"// why", "// not", "policy"},
           {"\"version\": 3", "\"version\": 4", "baseline"}}) {
    CAPTURE(part);
    const Error e = error_of(replaced(text, from, to));
    CHECK(e.code() == ErrorCode::environment);
    CHECK(e.message().find("b.json: the checksum of \"" + part + "\"") == 0);
    CHECK(e.hint().find("export") != std::string::npos);
  }
}

TEST_CASE("what contradicts itself is refused even where its checksum is right") {
  const auto refused = [](const char* part, const std::function<void(Json&)>& change,
                          const std::string& word) {
    CAPTURE(part);
    CAPTURE(word);
    const Error e = error_of(edited(part, change));
    CHECK(e.code() == ErrorCode::environment);
    CHECK_MESSAGE(e.message().find(word) != std::string::npos, e.message());
  };
  refused(
      "samples", [](Json& s) { s[0]["cell"] = 2; }, "samples[0]: cell: is 2, there are 2");
  refused(
      "samples", [](Json& s) { s[0]["prompt"] = -1; }, "samples[0]: prompt");
  refused(
      "samples", [](Json& s) { s[1] = s[0]; }, "samples[1]: is out of order, or there twice");
  refused(
      "samples", [](Json& s) { s[0]["logprobs"].erase(0); }, "2 entries for 3 tokens");
  refused(
      "samples", [](Json& s) { s[0]["logprobs"] = Json::array(); }, "logprobs");
  refused(
      "samples", [](Json& s) { s[0]["logits_hashes"][0] = "00"; }, "32 hexadecimal digits");
  refused(
      "samples", [](Json& s) { s[0]["tokens"][0] = 1e12; }, "32 bits");
  refused(
      "samples", [](Json& s) { s[0]["logprobs"][0] = 1e300; }, "a float is expected");
  refused(
      "samples", [](Json& s) { s[0]["logprobs"][0] = "zz"; }, "a float is expected");
  refused(
      "samples", [](Json& s) { s[0]["total_ms"] = -1; }, "a number from 0");
  refused(
      "samples", [](Json& s) { s[0]["finish_reason"] = "lenght"; }, "did you mean 'length'");
  refused(
      "cells", [](Json& s) { s[1]["index"] = 0; }, "cells[1]: is out of order");
  refused(
      "cells", [](Json& s) { s[0]["reference_index"] = 1; }, "is not a reference cell");
  refused(
      "requests", [](Json& s) { s[0]["max_toknes"] = 1; }, "did you mean 'max_tokens'");
  refused(
      "requests", [](Json& s) { s[0]["sampling"]["seed"] = "-1"; }, "64 bits");
  refused(
      "requests", [](Json& s) { s[0].erase("tags"); }, "\"tags\" is missing");
  refused(
      "fingerprint", [](Json& s) { s.push_back(s[1]); }, "fingerprint[2]");
  refused(
      "run", [](Json& s) { s["status"] = "finished"; }, "running or complete");
  refused(
      "policy", [](Json& s) { s.push_back(1); }, "strings are expected");
}

TEST_CASE("another format, or a later one, is refused by name") {
  CHECK(error_of("{}").message().find("format is nothing, expected \"isobit.baseline\"") !=
        std::string::npos);
  CHECK(error_of("[1]").message().find("expected \"isobit.baseline\"") != std::string::npos);
  const std::string text = baseline_file_text(sample_baseline());
  const Error later = error_of(replaced(text, "\"format_version\": 1", "\"format_version\": 2"));
  CHECK(later.message().find("format_version is 2, expected 1") != std::string::npos);
}

TEST_CASE("a file cut at any byte is refused, and a flipped bit never crashes") {
  const std::string text = baseline_file_text(sample_baseline());
  for (size_t n = 0; n + 1 < text.size(); ++n)  // the last byte is a newline
    CHECK_THROWS_AS(read_baseline_file(text.substr(0, n), "b.json"), Error);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string flipped = text;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 7)));
    try {
      read_baseline_file(flipped, "b.json");
    } catch (const Error& e) {
      REQUIRE(e.code() == ErrorCode::environment);
    }
  }
}
