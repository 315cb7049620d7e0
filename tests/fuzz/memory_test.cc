// Memory against what a file says: whatever lengths and counts it claims, reading it takes a small
// multiple of its own size and a fixed amount, both stated here. Files of megabytes, since a small
// one proves nothing about a multiple.
#include <doctest/doctest.h>

#include <functional>
#include <span>

#include "base/error.h"
#include "checkpoint/checkpoint_json.h"
#include "checkpoint/gguf.h"
#include "checkpoint/open.h"
#include "checkpoint/safetensors.h"
#include "tests/checkpoint/written_checkpoint.h"
#include "tests/fuzz/allocation_meter.h"
#include "text/prompts.h"
#include "text/tokenizer.h"

namespace isobit::test {
namespace {

constexpr size_t kFactor = 4;
constexpr size_t kMiB = size_t{1} << 20;
// What JSON's values may cost over their text, up to the number of them that is read.
constexpr size_t kJsonAllowance = 48 * kMiB;
// A GGUF's metadata and tensor descriptions, up to the number of them that is read.
constexpr size_t kGgufAllowance = 32 * kMiB;

struct Reading {
  std::string message;  // of the refusal; empty when it was read
  size_t most_bytes = 0;
};

Reading reading(const std::function<void()>& read) {
  Reading out;
  start_metering();
  try {
    read();
  } catch (const Error& e) {
    out.message = e.message();
  }
  out.most_bytes = most_live_bytes();
  return out;
}

Reading reading_safetensors(const std::string& bytes) {
  return reading([&] { parse_safetensors(std::as_bytes(std::span(bytes)), "f"); });
}
Reading reading_gguf(const std::string& bytes) {
  return reading([&] { parse_gguf(std::as_bytes(std::span(bytes)), "f"); });
}

std::string gguf_start(uint64_t n_tensors, uint64_t n_metadata) {
  return "GGUF" + little_endian(3, 4) + little_endian(n_tensors, 8) + little_endian(n_metadata, 8);
}

std::string repeated(const std::string& text, size_t n) {
  std::string out;
  out.reserve(text.size() * n);
  for (size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string numbered(const std::string& before, const std::string& after, size_t n) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += before + std::to_string(i) + after;
  return out;
}

}  // namespace

TEST_CASE("the meter sees an allocation that is believed on a file's word") {
  const Reading r = reading([] { std::vector<char> planted(10 * kMiB); });
  CHECK(r.most_bytes >= 10 * kMiB);
  CHECK(r.most_bytes < 11 * kMiB);
}

TEST_CASE("a GGUF of a few bytes that claims 2^63 of anything takes no more than a few kilobytes") {
  const uint64_t huge = uint64_t{1} << 63;
  const std::string key = GgufWriter::text("k");
  const std::string one = gguf_start(0, 1) + key;
  const std::string tensor = gguf_start(1, 0) + GgufWriter::text("t");
  for (const std::string& bytes :
       {gguf_start(huge, 0), gguf_start(0, huge), gguf_start(huge, huge), gguf_start(60000, 0),
        gguf_start(0, 60000), gguf_start(0, 1) + little_endian(huge, 8),
        one + little_endian(8, 4) + little_endian(huge, 8),
        one + little_endian(9, 4) + little_endian(8, 4) + little_endian(huge, 8),
        one + little_endian(9, 4) + little_endian(0, 4) + little_endian(huge, 8),
        one + little_endian(9, 4) + little_endian(10, 4) + little_endian(uint64_t{1} << 61, 8),
        gguf_start(1, 0) + little_endian(huge, 8),
        tensor + little_endian(0xFFFFFFFF, 4) + std::string(64, '\xFF'),
        tensor + little_endian(1, 4) + little_endian(huge - 1, 8) + little_endian(24, 4) +
            little_endian(0, 8)}) {
    const Reading r = reading_gguf(bytes);
    CAPTURE(r.message);
    CHECK_FALSE(r.message.empty());
    CHECK(r.most_bytes < 16 * 1024);
  }
}

TEST_CASE("a GGUF made of the smallest entries takes at most a multiple of its size") {
  // Each string takes the 8 bytes of its length, and a view of it 16.
  const size_t n = 1'000'000;
  const std::string strings = gguf_start(0, 1) + GgufWriter::text("k") + little_endian(9, 4) +
                              little_endian(8, 4) + little_endian(n, 8) + std::string(n * 8, '\0');
  const Reading of_strings = reading_gguf(strings);
  CHECK(of_strings.message.empty());
  CHECK(of_strings.most_bytes < kFactor * strings.size());

  std::string values = gguf_start(0, 65536);
  for (size_t i = 0; i < 65536; ++i)
    values += GgufWriter::text(std::to_string(i)) + little_endian(0, 4) + "x";
  const Reading of_values = reading_gguf(values);
  CHECK(of_values.message.empty());
  CHECK(of_values.most_bytes < kFactor * values.size() + kGgufAllowance);
  CHECK(reading_gguf(gguf_start(0, 65537) + values.substr(24)).message ==
        "f: 65537 metadata values, at most 65536 are read");

  GgufWriter tensors;
  tensors.alignment = 8;
  tensors.u32("general.alignment", 8);
  for (size_t i = 0; i < 65536; ++i) tensors.tensor("t" + std::to_string(i), 24, {1}, "x");
  const std::string of_tensors = tensors.bytes();
  const Reading r = reading_gguf(of_tensors);
  CHECK(r.message.empty());
  CHECK(r.most_bytes < kFactor * of_tensors.size() + kGgufAllowance);
  CHECK(reading_gguf(gguf_start(65537, 0) + std::string(64, '\0')).message ==
        "f: 65537 tensors, at most 65536 are read");
}

TEST_CASE("a GGUF cannot have a view made of each of its bytes by calling it an expert") {
  constexpr int64_t kExperts = 1'000'000;
  const SmallModel model;
  GgufWriter writer = gguf_metadata(model);
  writer.u32("llama.expert_count", kExperts).u32("llama.expert_used_count", 1);
  add_gguf_tensors(writer, model);
  writer.tensor("blk.0.ffn_gate_exps.weight", 24, {kExperts, 1, 1}, std::string(kExperts, 'x'));
  const TemporaryFolder folder;
  const std::string bytes = writer.bytes();
  const auto path = folder.write("m.gguf", bytes);
  const Reading r = reading([&] { open_checkpoint(path); });
  CHECK(r.message.ends_with(": num_experts is 1000000, expected 1 to 10000"));
  CHECK(r.most_bytes < kFactor * bytes.size());
}

TEST_CASE("a safetensors header made of the smallest values is refused before it fills memory") {
  for (const std::string value : {"[],", "{},", "0,", "\"\",", "null,"}) {
    const std::string header = "{\"a\":[" + repeated(value, 2'000'000) + "0]}";
    const std::string bytes = safetensors_bytes(header, "");
    const Reading r = reading_safetensors(bytes);
    CAPTURE(value);
    CHECK(r.message.find("more than 300000 values") != std::string::npos);
    CHECK(r.most_bytes < kFactor * bytes.size() + kJsonAllowance);
  }
  const std::string keys =
      "{" + numbered("\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", 14'000) +
      "\"__metadata__\":{}}";
  const std::string bytes = safetensors_bytes(keys, "");
  const Reading r = reading_safetensors(bytes);
  CHECK(r.message.empty());
  CHECK(r.most_bytes < kFactor * bytes.size() + kJsonAllowance);
}

TEST_CASE("a safetensors header that claims more than the file has is refused by its length") {
  for (const uint64_t n : {uint64_t{99'999'999}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const Reading r = reading_safetensors(little_endian(n, 8) + "{}");
    CHECK_FALSE(r.message.empty());
    CHECK(r.most_bytes < 16 * 1024);
  }
  // Shapes and offsets are claims too.
  const Reading r = reading_safetensors(safetensors_bytes(
      R"({"t":{"dtype":"U8","shape":[1152921504606846976],"data_offsets":[0,1152921504606846976]}})",
      ""));
  CHECK(r.message == "f: tensors reach to byte 1152921504606846976 of a buffer of 0");
  CHECK(r.most_bytes < 64 * 1024);
}

TEST_CASE("a configuration made of the smallest values is refused before it fills memory") {
  const std::string text = "{\"a\":[" + repeated("[],", 2'000'000) + "0]}";
  const Reading r = reading([&] { parse_checkpoint_json(text, "c"); });
  CHECK(r.message.find("more than 300000 values") != std::string::npos);
  CHECK(r.most_bytes < kFactor * text.size() + kJsonAllowance);
}

TEST_CASE(
    "a prompt with as many biases as a line can hold is read, in time that grows with the line") {
  // Each compared with all before it would be 10^11 comparisons.
  const std::string line = R"({"prompt":"x","sampling":{"logit_bias":{)" +
                           numbered("\"", "\":-1,", 400'000) + R"("400000":-1}}})";
  const std::vector<PromptRecord> records = parse_prompts(line, "p");
  REQUIRE(records.size() == 1);
  CHECK(records[0].sampling.logit_bias.size() == 400'001);
  CHECK(to_json(records[0])["sampling"]["logit_bias"].size() == 400'001);
}

TEST_CASE("a tokenizer's ids and counts are no sizes") {
  const std::string model = R"("model":{"type":"BPE","vocab":{"a":0},"merges":[]})";
  const std::string far = R"({"added_tokens":[{"id":2147483646,"content":"z"}],)" + model + "}";
  const Reading added = reading([&] { load_tokenizer_json(far, "t"); });
  CHECK_FALSE(added.message.empty());
  CHECK(added.most_bytes < 8 * kMiB);
  const Reading sparse = reading([&] {
    load_tokenizer_json(R"({"model":{"type":"BPE","vocab":{"a":0,"b":2147483646},"merges":[]}})",
                        "t");
  });
  CHECK_FALSE(sparse.message.empty());
  CHECK(sparse.most_bytes < 8 * kMiB);
}

}  // namespace isobit::test
