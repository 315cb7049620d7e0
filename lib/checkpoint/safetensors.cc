#include "checkpoint/safetensors.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "base/json.h"
#include "checkpoint/checkpoint_json.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the reference reader's limit

struct FileType {
  std::string_view name;
  size_t bits;
};

// Every type of the format; those that DType names too can be computed or at least digested.
constexpr FileType kFileTypes[] = {
    {"BOOL", 8},    {"U8", 8},      {"I8", 8},          {"I16", 16},        {"U16", 16},
    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"F64", 64},    {"I64", 64},    {"U64", 64},        {"C64", 64},        {"F8_E5M2", 8},
    {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F4", 4},
    {"F6_E2M3", 6}, {"F6_E3M2", 6},
};

const FileType& file_type(const std::string& name, const std::string& at) {
  for (const FileType& type : kFileTypes) {
    if (type.name == name) return type;
  }
  refuse(at, "unknown dtype " + shown(name));
}

struct HeaderText {
  std::string_view json;  // without its padding
  size_t buffer_at = 0;   // where the tensors' buffer begins in the file: after the padding
};

HeaderText header_text(std::span<const std::byte> file, const std::string& where) {
  if (file.size() < kLengthBytes) {
    refuse(where, "not a safetensors file: " + std::to_string(file.size()) +
                      " bytes, at least 8 expected");
  }
  uint64_t n = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) n |= static_cast<uint64_t>(file[i]) << (8 * i);
  if (n > kMaxHeaderBytes) {
    refuse(where,
           "header length " + std::to_string(n) + " is over the format's limit of 100000000 bytes",
           "the file is not safetensors, or is damaged");
  }
  if (n > file.size() - kLengthBytes) {
    refuse(where,
           "header length " + std::to_string(n) + " reaches past the end of the file (" +
               std::to_string(file.size()) + " bytes)",
           "the file is truncated: download it again");
  }
  std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                        static_cast<size_t>(n));
  if (text.empty() || text.front() != '{') refuse(where, "header does not begin with '{'");
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  if (text.back() != '}') refuse(where, "header is not one JSON object padded with spaces");
  return {text, kLengthBytes + static_cast<size_t>(n)};
}

int64_t dimension(const Json& value, const std::string& at) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    refuse(at, "shape holds " + value.dump() + ", expected whole numbers of 0 or more");
  }
  return value.get<int64_t>();
}

struct Entry {
  StoredTensor tensor;
  uint64_t begin = 0, end = 0;  // in the buffer
};

void read_shape(const Json& shape, Entry& entry, const std::string& at) {
  if (!shape.is_array()) refuse(at, "shape is not an array");
  for (const Json& d : shape) entry.tensor.shape.push_back(dimension(d, at));
}

void read_offsets(const Json& offsets, Entry& entry, const std::string& at) {
  const bool is_pair = offsets.is_array() && offsets.size() == 2 &&
                       offsets[0].is_number_unsigned() && offsets[1].is_number_unsigned();
  if (!is_pair) refuse(at, "data_offsets is not a pair of whole numbers");
  entry.begin = offsets[0].get<uint64_t>();
  entry.end = offsets[1].get<uint64_t>();
  if (entry.begin > entry.end) {
    refuse(at, "data_offsets [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) +
                   "] are reversed");
  }
}

// dtype and shape must give exactly the bytes between the offsets.
void check_size(const Entry& entry, size_t bits, const std::string& at) {
  const std::optional<int64_t> n_elems = checked_n_elems(entry.tensor.shape);
  uint64_t n_bits = 0;
  if (!n_elems || __builtin_mul_overflow(static_cast<uint64_t>(*n_elems), bits, &n_bits)) {
    refuse(at,
           "shape " + shape_text(entry.tensor.shape) + " has more elements than 64 bits can count");
  }
  if (n_bits % 8 != 0) refuse(at, "size is not a whole number of bytes");
  if (n_bits / 8 != entry.end - entry.begin) {
    refuse(at, "data_offsets hold " + std::to_string(entry.end - entry.begin) + " bytes, but " +
                   entry.tensor.type_name + " " + shape_text(entry.tensor.shape) + " takes " +
                   std::to_string(n_bits / 8));
  }
}

Entry read_entry(const std::string& name, const Json& value, const std::string& where) {
  const std::string at = where + ": tensor " + shown(name);
  if (!value.is_object()) refuse(at, "entry is not an object");
  for (const auto& [key, unused] : value.items()) {
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      refuse(at, "unknown member " + shown(key));
  }
  for (const char* key : {"dtype", "shape", "data_offsets"}) {
    if (!value.contains(key)) refuse(at, std::string("no ") + key);
  }
  if (!value["dtype"].is_string()) refuse(at, "dtype is not a string");
  Entry entry;
  entry.tensor.name = name;
  entry.tensor.type_name = value["dtype"].get<std::string>();
  const FileType& type = file_type(entry.tensor.type_name, at);
  entry.tensor.dtype = dtype_from_name(type.name);
  read_shape(value["shape"], entry, at);
  read_offsets(value["data_offsets"], entry, at);
  check_size(entry, type.bits, at);
  return entry;
}

std::map<std::string, std::string> read_metadata(const Json& value, const std::string& where) {
  if (!value.is_object()) refuse(where, "__metadata__ is not an object");
  std::map<std::string, std::string> out;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse(where, "__metadata__ member " + shown(key) + " is not a string");
    out.emplace(key, text.get<std::string>());
  }
  return out;
}

// The tensors must tile the buffer: no hole, no overlap, nothing after the last.
void check_tiling(const std::vector<Entry>& entries, uint64_t buffer_bytes,
                  const std::string& where) {
  uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      refuse(where, "tensor " + shown(entry.tensor.name) + " begins at byte " +
                        std::to_string(entry.begin) +
                        " of the buffer, but the one before it ends at " + std::to_string(at) +
                        (entry.begin > at ? " (a hole)" : " (an overlap)"));
    }
    at = entry.end;
  }
  if (at > buffer_bytes) {
    refuse(where,
           "tensors reach to byte " + std::to_string(at) + " of a buffer of " +
               std::to_string(buffer_bytes),
           "the file is truncated: download it again");
  }
  if (at < buffer_bytes) {
    refuse(where,
           std::to_string(buffer_bytes - at) + " bytes after the last tensor belong to none");
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& where) {
  const auto [json, buffer_at] = header_text(file, where);
  const Json root = parse_checkpoint_json(json, where + ": header");

  SafetensorsHeader header;
  std::vector<Entry> entries;
  for (const auto& [name, value] : root.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value, where);
    } else {
      entries.push_back(read_entry(name, value, where));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  check_tiling(entries, file.size() - buffer_at, where);
  for (Entry& entry : entries) {
    entry.tensor.offset_bytes = buffer_at + static_cast<size_t>(entry.begin);
    entry.tensor.n_bytes = static_cast<size_t>(entry.end - entry.begin);
    header.tensors.push_back(std::move(entry.tensor));
  }
  return header;
}

}  // namespace isobit
