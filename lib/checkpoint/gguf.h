// The GGUF file format, versions 2 and 3: typed metadata, tensor descriptions, aligned data.
//
// A GGUF comes from anywhere, and most memory-safety faults of GGUF readers came from believing one
// of its many lengths. Here every length is checked against the bytes that are left before it is
// used, nothing is reserved on a file's word, strings and arrays stay views into the file, and the
// values' types are checked again at each use. Accepted files are those that both the specification
// and llama.cpp accept; where they differ the stricter reading decides. Source: the GGUF
// specification (ggml, docs/gguf.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "checkpoint/stored_tensor.h"

namespace isobit {

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};
std::string_view name(GgufType type);  // "u8", ..., "string", "array"

// A metadata value: a scalar, a string, or an array of either. Views point into the file.
struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufType element_type = GgufType::kU8;  // of an array
  std::span<const std::byte> bytes;  // scalar, string or array of scalars, little-endian as stored
  std::vector<std::string_view> strings;  // array of strings
  size_t n_elements = 1;                  // of an array
};

struct GgufHeader {
  uint32_t version = 0;
  size_t alignment_bytes = 32;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<StoredTensor> tensors;  // in file order; shapes outermost first
};

// Parses and checks `file` (all of its bytes). `where` names the file in messages. Throws
// Error(environment).
GgufHeader parse_gguf(std::span<const std::byte> file, const std::string& where);

// The integer of any type that `key` holds, 0 or more; nothing when it is absent. Throws
// Error(environment) when it holds another type or a negative number.
std::optional<uint64_t> count_in(const GgufHeader& header, std::string_view key,
                                 const std::string& where);

// The metadata's tokenizer section, as plain views. Lengths and ids are checked against the token
// list.
struct GgufTokenizer {
  std::string_view model;  // "gpt2", "llama", ...
  std::string_view pre;    // "smollm", "llama-bpe", ...; empty when the file does not say
  std::vector<std::string_view> tokens;
  std::vector<float> scores;         // as many as tokens, or none
  std::vector<int32_t> token_types;  // 1 normal 2 unknown 3 control 4 user-defined 5 unused 6 byte;
                                     // as many as tokens, or none
  std::vector<std::string_view> merges;
  std::optional<int32_t> bos_token_id, eos_token_id, eot_token_id, eom_token_id, unknown_token_id,
      padding_token_id;
  std::optional<int32_t> cls_token_id, separator_token_id;
  std::optional<bool> add_bos, add_eos, add_space_prefix, remove_extra_whitespaces, lowercase,
      strip_accents;
  std::string precompiled_charsmap;  // tokenizer.ggml.precompiled_charsmap; empty when absent
  std::optional<std::string_view> chat_template;
  std::map<std::string, std::string_view> named_chat_templates;  // tokenizer.chat_template.NAME
};

// A mapped and parsed GGUF: one file, or all the files that one was split into (gguf_split.h), of
// which the first has the metadata. `path` is the file, or any one of the splits.
class GgufFile {
 public:
  explicit GgufFile(const std::filesystem::path& path);

  uint32_t version() const { return header_.version; }
  size_t alignment_bytes() const { return header_.alignment_bytes; }
  const std::map<std::string, GgufValue, std::less<>>& metadata() const { return header_.metadata; }
  // Of all files, in their order.
  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }
  const std::vector<MappedFile>& files() const { return files_; }
  // All bytes of the file that holds `tensor`.
  std::span<const std::byte> bytes_with(const StoredTensor& tensor) const;
  const std::string& where() const { return where_; }

  // Typed reads: nothing when the key is absent, Error(environment) when it holds another type.
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::optional<std::string_view> string(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  // An array of booleans; nothing also when the key holds something that is no array.
  std::optional<std::vector<bool>> booleans(std::string_view key) const;
  std::optional<uint64_t> count(std::string_view key) const;  // any integer type, 0 or more
  std::optional<double> real(std::string_view key) const;     // f32 or f64
  std::optional<std::vector<std::string_view>> strings(std::string_view key) const;
  std::optional<std::vector<float>> f32_array(std::string_view key) const;
  std::optional<std::vector<int32_t>> i32_array(
      std::string_view key) const;                                    // i32, or u32 that fits
  std::optional<std::string> byte_array(std::string_view key) const;  // i8 or u8

  // Throws Error(environment) when the section is absent or inconsistent.
  GgufTokenizer tokenizer() const;

 private:
  const GgufValue* find(std::string_view key) const;
  [[noreturn]] void wrong_type(std::string_view key, const GgufValue& value,
                               const char* expected) const;

  std::vector<MappedFile> files_;
  std::string where_;
  GgufHeader header_;
};

}  // namespace isobit
