#include "checkpoint/safetensors.h"

#include <doctest/doctest.h>

#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

SafetensorsHeader parse(const std::string& bytes) {
  return parse_safetensors(std::as_bytes(std::span(bytes)), "f");
}

std::string refusal_of(const std::string& bytes) {
  return refusal([&] { parse(bytes); });
}
std::string refusal_of_header(const std::string& header, size_t buffer_bytes) {
  return refusal_of(safetensors_bytes(header, std::string(buffer_bytes, '\1')));
}

const std::string kTwoTensors = safetensors_bytes(
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[8,12]}})",
    std::string(12, '\1'));

}  // namespace

TEST_CASE("tensors come out by offset, with their place in the file") {
  const SafetensorsHeader header = parse(kTwoTensors);
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.metadata.at("format") == "pt");
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[0].offset_bytes == kTwoTensors.size() - 12);
  CHECK(header.tensors[1].dtype == DType::kBF16);
  CHECK(header.tensors[1].shape == std::vector<int64_t>{2, 1});
  CHECK(header.tensors[1].offset_bytes + header.tensors[1].n_bytes == kTwoTensors.size());
}

TEST_CASE("empty files of the format, empty metadata, empty tensors and scalars are read") {
  CHECK(parse(safetensors_bytes("{}", "")).tensors.empty());
  CHECK(parse(safetensors_bytes(R"({"__metadata__":{}})", "")).tensors.empty());
  const auto header = parse(safetensors_bytes(
      R"({"__metadata__":{},"e":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
      std::string(8, '\0')));
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].n_bytes == 0);
  CHECK(header.tensors[1].shape.empty());
}

TEST_CASE("a type that isobit has no name for is described, not refused") {
  const auto header =
      parse(safetensors_bytes(R"({"x":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "ab"));
  CHECK_FALSE(header.tensors[0].dtype.has_value());
  CHECK(header.tensors[0].type_name == "F4");
}

TEST_CASE("a file cut short at any byte is refused") {
  for (size_t n = 0; n < kTwoTensors.size(); ++n) {
    CAPTURE(n);
    const std::string message = refusal_of(kTwoTensors.substr(0, n));
    CHECK(message.starts_with("f: "));
    CHECK(message != "[nothing was thrown]");
  }
}

TEST_CASE("any flipped bit is refused or leaves every tensor inside the file") {
  for (size_t bit = 0; bit < kTwoTensors.size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = kTwoTensors;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    try {
      for (const StoredTensor& tensor : parse(bytes).tensors) {
        CHECK(tensor.offset_bytes <= bytes.size());
        CHECK(tensor.n_bytes <= bytes.size() - tensor.offset_bytes);
      }
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
      CHECK(e.message().starts_with("f: "));
    }
  }
}

TEST_CASE("each malformed header is refused in words that say what and where") {
  const auto one = [](const std::string& entry, size_t buffer_bytes) {
    return refusal_of_header("{\"t\":" + entry + "}", buffer_bytes);
  };
  CHECK(refusal_of("short") == "f: not a safetensors file: 5 bytes, at least 8 expected");
  CHECK(refusal_of(little_endian(100'000'001, 8)) ==
        "f: header length 100000001 is over the format's limit of 100000000 bytes");
  CHECK(refusal_of(little_endian(~uint64_t{0}, 8) + "{}") ==
        "f: header length 18446744073709551615 is over the format's limit of 100000000 bytes");
  CHECK(refusal_of(little_endian(3, 8) + "{}") ==
        "f: header length 3 reaches past the end of the file (10 bytes)");
  CHECK(refusal_of(little_endian(0, 8)) == "f: header does not begin with '{'");
  CHECK(refusal_of(safetensors_bytes(" {}", "")) == "f: header does not begin with '{'");
  CHECK(refusal_of(safetensors_bytes("{}\n", "")) ==
        "f: header is not one JSON object padded with spaces");
  CHECK(refusal_of(safetensors_bytes("{}[]", "")) ==
        "f: header is not one JSON object padded with spaces");
  CHECK(refusal_of(safetensors_bytes("{}{}", "")).starts_with("f: header: "));
  CHECK(refusal_of(safetensors_bytes("{\"\xff\":1}", "")).starts_with("f: header: "));
  CHECK(one("1", 0) == "f: tensor 't': entry is not an object");
  CHECK(one(R"({"dtype":"F32","shape":[1]})", 4) == "f: tensor 't': no data_offsets");
  CHECK(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1})", 4) ==
        "f: tensor 't': unknown member 'x'");
  CHECK(one(R"({"dtype":"F33","shape":[1],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': unknown dtype 'F33'");
  CHECK(one(R"({"dtype":7,"shape":[1],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': dtype is not a string");
  CHECK(one(R"({"dtype":"F32","shape":4,"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': shape is not an array");
  CHECK(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': shape holds -1, expected whole numbers of 0 or more");
  CHECK(one(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': shape holds 1.0, expected whole numbers of 0 or more");
  CHECK(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,8]})", 4) ==
        "f: tensor 't': data_offsets is not a pair of whole numbers");
  CHECK(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,-4]})", 4) ==
        "f: tensor 't': data_offsets is not a pair of whole numbers");
  CHECK(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4) ==
        "f: tensor 't': data_offsets [4, 0] are reversed");
  CHECK(one(R"({"dtype":"F4","shape":[3],"data_offsets":[0,2]})", 2) ==
        "f: tensor 't': size is not a whole number of bytes");
  CHECK(refusal_of_header(R"({"__metadata__":[]})", 0) == "f: __metadata__ is not an object");
  CHECK(refusal_of_header(R"({"__metadata__":{"k":1}})", 0) ==
        "f: __metadata__ member 'k' is not a string");
}

TEST_CASE("offsets that do not follow from dtype and shape are refused") {
  const auto one = [](const std::string& entry, size_t buffer_bytes) {
    return refusal_of_header("{\"t\":" + entry + "}", buffer_bytes);
  };
  CHECK(one(R"({"dtype":"F32","shape":[1000,1000],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': data_offsets hold 4 bytes, but F32 (1000, 1000) takes 4000000");
  CHECK(one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})", 4) ==
        "f: tensor 't': shape (4294967296, 4294967296) has more elements than 64 bits can count");
  CHECK(
      one(R"({"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]})", 0) ==
      "f: tensor 't': shape (0, 4294967296, 4294967296) has more elements than 64 bits can count");
  CHECK(one(R"({"dtype":"F64","shape":[9223372036854775807],"data_offsets":[0,8]})", 8) ==
        "f: tensor 't': shape (9223372036854775807) has more elements than 64 bits can count");
  CHECK(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 4) ==
        "f: tensors reach to byte 8 of a buffer of 4");
}

TEST_CASE("the buffer has no hole, no overlap and no rest, and no name twice") {
  const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const auto b = [](const std::string& offsets) {
    return R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}";
  };
  CHECK(refusal_of_header("{" + a + b("[5,9]") + "}", 9) ==
        "f: tensor 'b' begins at byte 5 of the buffer, but the one before it ends at 4 (a hole)");
  CHECK(
      refusal_of_header("{" + a + b("[3,7]") + "}", 7) ==
      "f: tensor 'b' begins at byte 3 of the buffer, but the one before it ends at 4 (an overlap)");
  CHECK(
      refusal_of_header("{" + a + b("[0,4]") + "}", 4) ==
      "f: tensor 'b' begins at byte 0 of the buffer, but the one before it ends at 4 (an overlap)");
  CHECK(refusal_of_header("{" + a + "}", 7) == "f: 3 bytes after the last tensor belong to none");
  const std::string other_a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[4,8]})";
  CHECK(refusal_of_header("{" + a + "," + a + "}", 4) ==
        "f: header: not valid JSON: duplicate key \"a\"");
  CHECK(refusal_of_header("{" + a + "," + other_a + "}", 8) ==
        "f: header: not valid JSON: duplicate key \"a\"");
  CHECK(
      refusal_of_header(R"({"t":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}})", 0)
          .find("duplicate key \"dtype\"") != std::string::npos);
}

TEST_CASE("a header made to exhaust memory or time is refused before it is built") {
  CHECK(refusal_of(safetensors_bytes("{\"a\":" + std::string(100'000, '['), "}"))
            .starts_with("f: header"));
  std::string keys = "{";
  for (int i = 0; i < 70'000; ++i) keys += (i ? ",\"" : "\"") + std::to_string(i) + "\":1";
  CHECK(refusal_of(safetensors_bytes(keys + "}", "")) == "f: header: more than 60000 keys");
  std::string values = "{\"a\":[";
  for (int i = 0; i < 300'000; ++i) values += "[],";
  CHECK(refusal_of(safetensors_bytes(values + "0]}", "")) == "f: header: more than 300000 values");
}

TEST_CASE("names are shown as printable text, however they are spelled") {
  CHECK(refusal_of_header("{\"\\u001b[31m\":1}", 0) ==
        "f: tensor '\\x1b[31m': entry is not an object");
  CHECK(refusal_of_header("{\"" + std::string(200, 'n') + "\":1}", 0) ==
        "f: tensor '" + std::string(80, 'n') + "...': entry is not an object");
}
