#include "checkpoint/gguf.h"

#include <bit>
#include <cmath>

#include "checkpoint/gguf_split.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

uint64_t unsigned_le(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

int64_t signed_le(std::span<const std::byte> bytes) {
  const auto shift = static_cast<unsigned>(64 - 8 * bytes.size());
  return static_cast<int64_t>(unsigned_le(bytes) << shift) >> shift;
}

float f32_le(std::span<const std::byte> bytes) {
  return std::bit_cast<float>(static_cast<uint32_t>(unsigned_le(bytes)));
}

[[noreturn]] void refuse_type(const std::string& where, std::string_view key,
                              const GgufValue& value, const char* expected) {
  std::string found(name(value.type));
  if (value.type == GgufType::kArray) found += " of " + std::string(name(value.element_type));
  refuse(where, "metadata " + shown(key) + " is " + found + ", expected " + expected);
}

}  // namespace

std::string_view name(GgufType type) {
  constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                         "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<size_t>(type)];
}

std::optional<uint64_t> count_in(const GgufHeader& header, std::string_view key,
                                 const std::string& where) {
  const auto it = header.metadata.find(key);
  if (it == header.metadata.end()) return std::nullopt;
  const GgufValue* value = &it->second;
  switch (value->type) {
    case GgufType::kU8:
    case GgufType::kU16:
    case GgufType::kU32:
    case GgufType::kU64:
      return unsigned_le(value->bytes);
    case GgufType::kI8:
    case GgufType::kI16:
    case GgufType::kI32:
    case GgufType::kI64: {
      const int64_t v = signed_le(value->bytes);
      if (v < 0)
        refuse(where,
               "metadata " + shown(key) + " is " + std::to_string(v) + ", expected 0 or more");
      return static_cast<uint64_t>(v);
    }
    default:
      refuse_type(where, key, *value, "an integer");
  }
}

GgufFile::GgufFile(const std::filesystem::path& path)
    : where_("checkpoint '" + path.string() + "'") {
  files_.emplace_back(path);
  header_ = parse_gguf(files_.front().bytes(), where_);
  if (const std::optional<GgufSplit> split = read_gguf_split(header_, path, where_))
    header_ = open_gguf_split(*split, path.parent_path(), files_);
}

std::span<const std::byte> GgufFile::bytes_with(const StoredTensor& tensor) const {
  return files_[tensor.file_index].bytes();
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto it = header_.metadata.find(key);
  return it == header_.metadata.end() ? nullptr : &it->second;
}

void GgufFile::wrong_type(std::string_view key, const GgufValue& value,
                          const char* expected) const {
  refuse_type(where_, key, value, expected);
}

std::optional<std::string_view> GgufFile::string(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::kString) wrong_type(key, *value, "string");
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()), value->bytes.size());
}

std::optional<bool> GgufFile::boolean(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::kBool) wrong_type(key, *value, "bool");
  return value->bytes[0] != std::byte{0};
}

std::optional<std::vector<bool>> GgufFile::booleans(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value || value->type != GgufType::kArray) return std::nullopt;
  if (value->element_type != GgufType::kBool) wrong_type(key, *value, "array of bool");
  std::vector<bool> out;
  for (const std::byte b : value->bytes) out.push_back(b != std::byte{0});
  return out;
}

std::optional<uint64_t> GgufFile::count(std::string_view key) const {
  return count_in(header_, key, where_);
}

std::optional<double> GgufFile::real(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type == GgufType::kF32) return static_cast<double>(f32_le(value->bytes));
  if (value->type == GgufType::kF64) return std::bit_cast<double>(unsigned_le(value->bytes));
  wrong_type(key, *value, "f32");
}

std::optional<std::vector<std::string_view>> GgufFile::strings(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::kArray || value->element_type != GgufType::kString) {
    wrong_type(key, *value, "array of string");
  }
  return value->strings;
}

std::optional<std::vector<float>> GgufFile::f32_array(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::kArray || value->element_type != GgufType::kF32)
    wrong_type(key, *value, "array of f32");
  std::vector<float> out;
  for (size_t i = 0; i < value->n_elements; ++i)
    out.push_back(f32_le(value->bytes.subspan(4 * i, 4)));
  return out;
}

std::optional<std::vector<int32_t>> GgufFile::i32_array(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  const bool is_signed = value->element_type == GgufType::kI32;
  if (value->type != GgufType::kArray || (!is_signed && value->element_type != GgufType::kU32)) {
    wrong_type(key, *value, "array of i32");
  }
  std::vector<int32_t> out;
  for (size_t i = 0; i < value->n_elements; ++i) {
    const auto v = static_cast<uint32_t>(unsigned_le(value->bytes.subspan(4 * i, 4)));
    if (!is_signed && v > INT32_MAX) {
      refuse(where_, "metadata " + shown(key) + " element " + std::to_string(i) + " is " +
                         std::to_string(v) + ", which does not fit in i32");
    }
    out.push_back(static_cast<int32_t>(v));
  }
  return out;
}

std::optional<std::string> GgufFile::byte_array(std::string_view key) const {
  const GgufValue* value = find(key);
  if (!value) return std::nullopt;
  if (value->type != GgufType::kArray ||
      (value->element_type != GgufType::kI8 && value->element_type != GgufType::kU8)) {
    wrong_type(key, *value, "array of i8");
  }
  return std::string(reinterpret_cast<const char*>(value->bytes.data()), value->n_elements);
}

}  // namespace isobit
