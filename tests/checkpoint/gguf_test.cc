#include "checkpoint/gguf.h"

#include <doctest/doctest.h>

#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

GgufHeader parse(const std::string& bytes) {
  return parse_gguf(std::as_bytes(std::span(bytes)), "f");
}

std::string refusal_of(const std::string& bytes) {
  return refusal([&] { parse(bytes); });
}
std::string refusal_of(const GgufWriter& writer) {
  return refusal_of(writer.bytes());
}

// One value of every type, two tensors.
GgufWriter varied() {
  GgufWriter w;
  w.string("general.architecture", "llama").u32("a.u32", 7).f32("a.f32", 0.5f).boolean("a.bool", 1);
  w.raw("a.u8", 0, little_endian(200, 1))
      .raw("a.i8", 1, little_endian(0xFE, 1))
      .raw("a.u16", 2, little_endian(65535, 2));
  w.raw("a.i16", 3, little_endian(0xFFFF, 2))
      .raw("a.i32", 5, little_endian(0xFFFFFFFD, 4))
      .raw("a.u64", 10, little_endian(1ull << 40, 8));
  w.raw("a.i64", 11, little_endian(5, 8))
      .raw("a.f64", 12, little_endian(std::bit_cast<uint64_t>(0.25), 8));
  w.strings("a.strings", {"x", "", "yz"})
      .array("a.f32s", 6, 2, f32_bytes({1, 2}))
      .array("a.i32s", 5, 1, little_endian(9, 4));
  w.tensor("t0", 0, {2, 3}, f32_bytes({1, 2, 3, 4, 5, 6}));
  w.tensor("t1", 3, {1, 32}, std::string(20, '\1'));
  return w;
}

// Writes `bytes` and opens them as a GgufFile; the folder lives as long as this.
struct Opened {
  TemporaryFolder folder;
  GgufFile file;
  explicit Opened(const std::string& bytes) : file(folder.write("m.gguf", bytes)) {}
};

}  // namespace

TEST_CASE("every value type is read as what it is") {
  const Opened opened(varied().bytes());
  const GgufFile& f = opened.file;
  CHECK(f.version() == 3);
  CHECK(f.string("general.architecture") == "llama");
  CHECK(f.count("a.u8") == 200);
  CHECK(f.count("a.u16") == 65535);
  CHECK(f.count("a.u32") == 7);
  CHECK(f.count("a.u64") == 1ull << 40);
  CHECK(f.count("a.i64") == 5);
  CHECK(f.real("a.f32") == 0.5);
  CHECK(f.real("a.f64") == 0.25);
  CHECK(f.boolean("a.bool") == true);
  CHECK(f.strings("a.strings") == std::vector<std::string_view>{"x", "", "yz"});
  CHECK(f.f32_array("a.f32s") == std::vector<float>{1, 2});
  CHECK(f.i32_array("a.i32s") == std::vector<int32_t>{9});
  CHECK_FALSE(f.count("not.there").has_value());
}

TEST_CASE("a value of another type is refused where it is used") {
  const Opened opened(varied().bytes());
  const GgufFile& f = opened.file;
  const std::string where = f.where() + ": metadata ";
  CHECK(refusal([&] { (void)f.string("a.u32"); }) == where + "'a.u32' is u32, expected string");
  CHECK(refusal([&] { (void)f.count("a.i32"); }) == where + "'a.i32' is -3, expected 0 or more");
  CHECK(refusal([&] { (void)f.count("a.i8"); }) == where + "'a.i8' is -2, expected 0 or more");
  CHECK(refusal([&] { (void)f.count("a.f32"); }) == where + "'a.f32' is f32, expected an integer");
  CHECK(refusal([&] { (void)f.real("a.u32"); }) == where + "'a.u32' is u32, expected f32");
  CHECK(refusal([&] { (void)f.boolean("a.u8"); }) == where + "'a.u8' is u8, expected bool");
  CHECK(refusal([&] { (void)f.strings("a.f32s"); }) ==
        where + "'a.f32s' is array of f32, expected array of string");
  CHECK(refusal([&] { (void)f.f32_array("a.i32s"); }) ==
        where + "'a.i32s' is array of i32, expected array of f32");
  CHECK(refusal([&] { (void)f.i32_array("a.u32"); }) ==
        where + "'a.u32' is u32, expected array of i32");
}

TEST_CASE("versions 2 and 3 are read, others are named") {
  GgufWriter w = varied();
  w.version = 2;
  CHECK(parse(w.bytes()).tensors.size() == 2);
  w.version = 1;
  CHECK(refusal_of(w) == "f: GGUF version 1, expected 2 or 3");
  w.version = 4;
  CHECK(refusal_of(w) == "f: GGUF version 4, expected 2 or 3");
  w.version = 0;
  CHECK(refusal_of(w) == "f: GGUF version 0, expected 2 or 3");
  w.version = 3u << 24;
  CHECK(refusal_of(w) == "f: GGUF version field is byte-swapped: the file is big-endian");
  w.magic = "GGML";
  CHECK(refusal_of(w) == "f: not a GGUF file: begins with 'GGML', expected 'GGUF'");
}

TEST_CASE("the smallest file is read, and every shorter one refused") {
  const std::string least = GgufWriter().bytes().substr(0, 24);
  CHECK(parse(least).tensors.empty());
  for (size_t n = 0; n < least.size(); ++n)
    CHECK(refusal_of(least.substr(0, n)).starts_with("f: "));
  CHECK(refusal_of("GGUF") == "f: the version takes 4 bytes at byte 4, but only 0 are left");
  CHECK(refusal_of("GG") == "f: the magic number takes 4 bytes at byte 0, but only 2 are left");
}

TEST_CASE("a file cut short at any byte is refused, up to the padding of the last tensor") {
  const std::string whole = varied().bytes();
  const size_t end = whole.size() - 12;  // t1 has 20 of its 32 bytes
  for (size_t n = 0; n < end; ++n) {
    CAPTURE(n);
    CHECK(refusal_of(whole.substr(0, n)).starts_with("f: "));
  }
  for (size_t n = end; n <= whole.size(); ++n) CHECK(parse(whole.substr(0, n)).tensors.size() == 2);
}

TEST_CASE("any flipped bit is refused or leaves every tensor inside the file") {
  const std::string whole = varied().bytes();
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = whole;
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

TEST_CASE("no length is believed past the end of the file") {
  const uint64_t huge = uint64_t{1} << 63;
  const auto start = [](uint64_t n_tensors, uint64_t n_metadata) {
    return "GGUF" + little_endian(3, 4) + little_endian(n_tensors, 8) +
           little_endian(n_metadata, 8);
  };
  CHECK(refusal_of(start(0, huge)) ==
        "f: 9223372036854775808 metadata values, at most 65536 are read");
  CHECK(refusal_of(start(huge, 0)) == "f: 9223372036854775808 tensors, at most 65536 are read");
  CHECK(refusal_of(start(0, 65536)) ==
        "f: metadata key 0 (length) takes 8 bytes at byte 24, but only 0 are left");
  CHECK(refusal_of(start(65536, 0)) ==
        "f: name of tensor 0 (length) takes 8 bytes at byte 24, but only 0 are left");
  const std::string head = "GGUF" + little_endian(3, 4) + little_endian(0, 8) + little_endian(1, 8);
  CHECK(refusal_of(head + little_endian(huge, 8)) ==
        "f: metadata key 0 takes 9223372036854775808 bytes at byte 32, but only 0 are left");
  const std::string key = head + GgufWriter::text("k");
  CHECK(refusal_of(key + little_endian(8, 4) + little_endian(~uint64_t{0}, 8)) ==
        "f: metadata 'k' takes 18446744073709551615 bytes at byte 45, but only 0 are left");
  CHECK(refusal_of(key + little_endian(9, 4) + little_endian(4, 4) + little_endian(huge, 8) +
                   std::string(64, '\0')) ==
        "f: metadata 'k' says it has 9223372036854775808 elements, but only 64 bytes are left");
  CHECK(refusal_of(key + little_endian(9, 4) + little_endian(8, 4) + little_endian(9, 8) +
                   std::string(64, '\0')) ==
        "f: metadata 'k' says it has 9 elements, but only 64 bytes are left");
}

TEST_CASE("each malformed value is refused in words that say what and where") {
  const auto with = [](uint32_t type, const std::string& value) {
    return refusal_of(GgufWriter().raw("k", type, value));
  };
  CHECK(with(13, "") == "f: metadata 'k' has value type 13; known types are 0 to 12");
  CHECK(with(7, "\2") == "f: metadata 'k' is a bool with the value 2, expected 0 or 1");
  CHECK(with(9, little_endian(7, 4) + little_endian(2, 8) + "\1\3") ==
        "f: metadata 'k' is a bool with the value 3, expected 0 or 1");
  CHECK(with(9, little_endian(9, 4) + little_endian(1, 8)) ==
        "f: metadata 'k' is an array of arrays");
  CHECK(with(9, little_endian(77, 4) + little_endian(1, 8)) ==
        "f: metadata 'k' has value type 77; known types are 0 to 12");
  CHECK(refusal_of(GgufWriter().u32("", 1)) == "f: metadata key 0 is empty");
  CHECK(refusal_of(GgufWriter().u32("a b", 1)) == "f: metadata key 0 'a b' is not printable ASCII");
  CHECK(refusal_of(GgufWriter().u32(std::string(65536, 'k'), 1)) ==
        "f: metadata key 0 has 65536 bytes, at most 65535 allowed");
  CHECK(refusal_of(GgufWriter().u32("k", 1).f32("k", 1)) == "f: metadata 'k' appears twice");
}

TEST_CASE("alignment is a power of two that a file can have") {
  for (const uint32_t bad : {0u, 1u, 4u, 12u, 48u, 131072u, 0x80000000u}) {
    CHECK(refusal_of(GgufWriter().u32("general.alignment", bad)) ==
          "f: general.alignment is " + std::to_string(bad) +
              ", expected a power of two from 8 to 65536");
  }
  CHECK(refusal_of(GgufWriter().raw("general.alignment", 10, little_endian(32, 8))) ==
        "f: general.alignment is u64, expected u32");
  GgufWriter w;
  w.alignment = 64;
  w.u32("general.alignment", 64)
      .tensor("a", 0, {1}, f32_bytes({1}))
      .tensor("b", 0, {1}, f32_bytes({2}));
  CHECK(parse(w.bytes()).tensors[1].offset_bytes % 64 == 0);
}

TEST_CASE("each malformed tensor description is refused in words that say what and where") {
  const auto info = [](const std::string& name, uint32_t n_dims, const std::vector<uint64_t>& dims,
                       uint32_t type, uint64_t offset) {
    std::string out = GgufWriter::text(name) + little_endian(n_dims, 4);
    for (const uint64_t d : dims) out += little_endian(d, 8);
    return out + little_endian(type, 4) + little_endian(offset, 8);
  };
  const auto with = [&](const std::string& tensor_info, size_t n_bytes) {
    return refusal_of(GgufWriter().raw_tensor(tensor_info, std::string(n_bytes, '\1')));
  };
  CHECK(with(info("t", 0, {}, 0, 0), 4) == "f: tensor 't' has 0 dimensions, expected 1 to 4");
  CHECK(with(info("t", 5, {1, 1, 1, 1, 1}, 0, 0), 4) ==
        "f: tensor 't' has 5 dimensions, expected 1 to 4");
  CHECK(with(info("t", 0xFFFFFFFF, {1}, 0, 0), 4) ==
        "f: tensor 't' has 4294967295 dimensions, expected 1 to 4");
  CHECK(with(info("t", 2, {4, 0}, 0, 0), 4) == "f: tensor 't' has a dimension of 0 elements");
  CHECK(with(info("t", 1, {uint64_t{1} << 63}, 0, 0), 4) ==
        "f: tensor 't' has a dimension of 9223372036854775808 elements");
  CHECK(with(info("t", 2, {uint64_t{1} << 32, uint64_t{1} << 32}, 0, 0), 4) ==
        "f: tensor 't' of shape (4294967296, 4294967296) has more bytes than 64 bits can count");
  CHECK(with(info("t", 1, {(uint64_t{1} << 63) - 1}, 28, 0), 4) ==
        "f: tensor 't' of shape (9223372036854775807) has more bytes than 64 bits can count");
  CHECK(with(info("t", 1, {1}, 99, 0), 4) == "f: tensor 't' has the unknown type id 99");
  for (const uint32_t removed : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    CHECK(with(info("t", 1, {1}, removed, 0), 4) ==
          "f: tensor 't' has the unknown type id " + std::to_string(removed));
  }
  CHECK(with(info("t", 1, {33}, 3, 0), 40) ==
        "f: tensor 't' has rows of 33 elements, not a multiple of the 32 of a Q4_1 block");
  CHECK(with(info("", 1, {1}, 0, 0), 4) == "f: tensor '' has a name of 0 bytes, expected 1 to 63");
  CHECK(with(info(std::string(64, 't'), 1, {1}, 0, 0), 4)
            .ends_with("has a name of 64 bytes, expected 1 to 63"));
  CHECK(with(info("t", 1, {1}, 0, 32), 36) ==
        "f: tensor 't' is at offset 32 of the data, expected 0");
  CHECK(with(info("t", 1, {100}, 0, 0), 32)
            .starts_with("f: tensor 't' (400 bytes at offset 0 of the data) reaches past the end "
                         "of the file"));
}

TEST_CASE("tensors lie in order without holes, overlaps, repeats or a rest") {
  const std::string one =
      little_endian(1, 4) + little_endian(1, 8) + little_endian(0, 4);  // one f32
  const auto second_at = [&](uint64_t offset) {
    GgufWriter w;
    w.tensor("a", 0, {1}, f32_bytes({1}));
    w.raw_tensor(GgufWriter::text("b") + one + little_endian(offset, 8), f32_bytes({2}));
    return refusal_of(w);
  };
  CHECK(second_at(0) == "f: tensor 'b' is at offset 0 of the data, expected 32");
  CHECK(second_at(4) == "f: tensor 'b' is at offset 4 of the data, expected 32");
  CHECK(second_at(64) == "f: tensor 'b' is at offset 64 of the data, expected 32");
  CHECK(second_at(~uint64_t{0}) ==
        "f: tensor 'b' is at offset 18446744073709551615 of the data, expected 32");
  CHECK(second_at(32) == "[nothing was thrown]");
  CHECK(refusal_of(
            GgufWriter().tensor("a", 0, {1}, f32_bytes({1})).tensor("a", 0, {1}, f32_bytes({1}))) ==
        "f: tensor 'a' appears twice");
  CHECK(refusal_of(varied().bytes() + "x") == "f: 13 bytes after the last tensor belong to none");
}

TEST_CASE(
    "a type that isobit has no name for keeps its size, so that the tensors after it are found") {
  const GgufHeader header = parse(GgufWriter()
                                      .tensor("a", 21, {1, 256}, std::string(110, '\1'))
                                      .tensor("b", 0, {1}, f32_bytes({1}))
                                      .bytes());
  CHECK(header.tensors[0].type_name == "IQ3_S");
  CHECK_FALSE(header.tensors[0].dtype.has_value());
  CHECK(header.tensors[1].n_bytes == 4);
}

TEST_CASE("the tokenizer section is read whole, and only when its arrays and ids fit together") {
  const auto base = [] {
    return GgufWriter()
        .string("tokenizer.ggml.model", "gpt2")
        .strings("tokenizer.ggml.tokens", {"a", "<0x0A>"});
  };
  const auto refused = [](const GgufWriter& w) {
    const Opened opened(w.bytes());
    const std::string message = refusal([&] { (void)opened.file.tokenizer(); });
    const std::string where = opened.file.where() + ": ";
    return message.starts_with(where) ? message.substr(where.size()) : message;
  };
  const Opened good(
      base()
          .string("tokenizer.ggml.pre", "smollm")
          .array("tokenizer.ggml.token_type", 5, 2, little_endian(1, 4) + little_endian(6, 4))
          .strings("tokenizer.ggml.merges", {"a b"})
          .u32("tokenizer.ggml.eos_token_id", 1)
          .boolean("tokenizer.ggml.add_bos_token", 0)
          .string("tokenizer.chat_template", "T")
          .string("tokenizer.chat_template.tool_use", "U")
          .bytes());
  const GgufTokenizer tokenizer = good.file.tokenizer();
  CHECK(tokenizer.pre == "smollm");
  CHECK(tokenizer.tokens.size() == 2);
  CHECK(tokenizer.token_types == std::vector<int32_t>{1, 6});
  CHECK(tokenizer.eos_token_id == 1);
  CHECK_FALSE(tokenizer.bos_token_id.has_value());
  CHECK(tokenizer.add_bos == false);
  CHECK(tokenizer.chat_template == "T");
  CHECK(tokenizer.named_chat_templates.at("tool_use") == "U");

  CHECK(refused(GgufWriter()) ==
        "no tokenizer: tokenizer.ggml.model and tokenizer.ggml.tokens are needed");
  CHECK(refused(base().array("tokenizer.ggml.scores", 6, 1, f32_bytes({1}))) ==
        "tokenizer.ggml.scores has 1 elements, but there are 2 tokens");
  CHECK(refused(base().array("tokenizer.ggml.scores", 0, 2, "ab")) ==
        "metadata 'tokenizer.ggml.scores' is array of u8, expected array of f32");
  CHECK(refused(base().array("tokenizer.ggml.token_type", 0, 2, "ab")) ==
        "metadata 'tokenizer.ggml.token_type' is array of u8, expected array of i32");
  CHECK(refused(base().array("tokenizer.ggml.token_type", 5, 1, little_endian(1, 4))) ==
        "tokenizer.ggml.token_type has 1 elements, but there are 2 tokens");
  CHECK(refused(base().array("tokenizer.ggml.token_type", 5, 2,
                             little_endian(6, 4) + little_endian(6, 4))) ==
        "token 0 is a byte token spelled 'a', expected '<0xNN>'");
  CHECK(refused(base().array("tokenizer.ggml.token_type", 5, 2,
                             little_endian(7, 4) + little_endian(6, 4))) ==
        "token 0 has the type 7, expected 0 to 6");
  CHECK(refused(base().u32("tokenizer.ggml.bos_token_id", 2)) ==
        "tokenizer.ggml.bos_token_id is 2, but there are 2 tokens");
  CHECK(refused(base().raw("tokenizer.ggml.eos_token_id", 5, little_endian(0xFFFFFFFF, 4))) ==
        "metadata 'tokenizer.ggml.eos_token_id' is -1, expected 0 or more");
  for (const std::string spelling : {"<0x-1>", "<0xZZ>", "<0x1>", "<0x123>", "0x0A", ""}) {
    const auto w = GgufWriter()
                       .string("tokenizer.ggml.model", "llama")
                       .strings("tokenizer.ggml.tokens", {spelling})
                       .array("tokenizer.ggml.token_type", 5, 1, little_endian(6, 4));
    CHECK(refused(w) == "token 0 is a byte token spelled '" + spelling + "', expected '<0xNN>'");
  }
}
