#include <algorithm>
#include <set>

#include "checkpoint/gguf.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

constexpr size_t kMaxKeyBytes = 65535;  // specification
constexpr size_t kMaxTensorNameBytes =
    64;  // llama.cpp keeps names in 64 bytes, one of them the terminator
constexpr uint32_t kMaxDims = 4;
constexpr size_t kMaxAlignment = 65536;
// What describes an entry here takes ten times the bytes of a short one, so their number is bounded
// too. Real files have some dozens of values and at most some thousands of tensors.
constexpr uint64_t kMaxEntries = 65536;

struct FileType {
  uint32_t id;
  std::string_view name;
  size_t block_elems, block_bytes;
};

// Every tensor type of ggml that is still in use, so that all offsets of a file can be checked
// whatever it holds.
constexpr FileType kFileTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
};

// Walks the file from front to back. Every read says what it wanted when the file ends first.
class Cursor {
 public:
  Cursor(std::span<const std::byte> file, const std::string& where) : file_(file), where_(where) {}

  size_t position() const { return position_; }
  size_t left() const { return file_.size() - position_; }
  const std::string& where() const { return where_; }

  std::span<const std::byte> take(uint64_t n_bytes, const std::string& what) {
    if (n_bytes > left()) {
      refuse(where_,
             what + " takes " + std::to_string(n_bytes) + " bytes at byte " +
                 std::to_string(position_) + ", but only " + std::to_string(left()) + " are left",
             "the file is truncated or damaged: download it again");
    }
    const auto out = file_.subspan(position_, static_cast<size_t>(n_bytes));
    position_ += static_cast<size_t>(n_bytes);
    return out;
  }
  uint64_t unsigned_le(size_t n_bytes, const std::string& what) {
    uint64_t value = 0;
    const auto bytes = take(n_bytes, what);
    for (size_t i = 0; i < n_bytes; ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
    return value;
  }
  uint32_t u32(const std::string& what) { return static_cast<uint32_t>(unsigned_le(4, what)); }
  uint64_t u64(const std::string& what) { return unsigned_le(8, what); }
  std::string_view string(const std::string& what) {
    const auto bytes = take(u64(what + " (length)"), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> file_;
  const std::string& where_;
  size_t position_ = 0;
};

// Bytes of a scalar; 0 for a string or an array.
size_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

GgufType read_type(Cursor& cursor, const std::string& what) {
  const uint32_t id = cursor.u32(what + " (type)");
  if (id > static_cast<uint32_t>(GgufType::kF64)) {
    refuse(cursor.where(),
           what + " has value type " + std::to_string(id) + "; known types are 0 to 12");
  }
  return static_cast<GgufType>(id);
}

void check_bools(std::span<const std::byte> bytes, const Cursor& cursor, const std::string& what) {
  for (const std::byte b : bytes) {
    if (b > std::byte{1}) {
      refuse(cursor.where(), what + " is a bool with the value " +
                                 std::to_string(static_cast<int>(b)) + ", expected 0 or 1");
    }
  }
}

void read_array(Cursor& cursor, GgufValue& value, const std::string& what) {
  value.element_type = read_type(cursor, what);
  if (value.element_type == GgufType::kArray)
    refuse(cursor.where(), what + " is an array of arrays");
  const uint64_t n = cursor.u64(what + " (count)");
  // The least that an element can take: a string's length, or the scalar. So no count is believed
  // past the file's end.
  const size_t least =
      value.element_type == GgufType::kString ? 8 : scalar_bytes(value.element_type);
  if (n > cursor.left() / least) {
    refuse(cursor.where(),
           what + " says it has " + std::to_string(n) + " elements, but only " +
               std::to_string(cursor.left()) + " bytes are left",
           "the file is truncated or damaged: download it again");
  }
  value.n_elements = static_cast<size_t>(n);
  if (value.element_type == GgufType::kString) {
    value.strings.reserve(value.n_elements);  // at most twice the bytes that are left
    for (uint64_t i = 0; i < n; ++i) value.strings.push_back(cursor.string(what + " element"));
    return;
  }
  value.bytes = cursor.take(n * least, what);
  if (value.element_type == GgufType::kBool) check_bools(value.bytes, cursor, what);
}

GgufValue read_value(Cursor& cursor, const std::string& what) {
  GgufValue value;
  value.type = read_type(cursor, what);
  if (value.type == GgufType::kArray) {
    read_array(cursor, value, what);
  } else if (value.type == GgufType::kString) {
    const std::string_view text = cursor.string(what);
    value.bytes = std::as_bytes(std::span(text));
  } else {
    value.bytes = cursor.take(scalar_bytes(value.type), what);
    if (value.type == GgufType::kBool) check_bools(value.bytes, cursor, what);
  }
  return value;
}

std::string read_key(Cursor& cursor, uint64_t index) {
  const std::string what = "metadata key " + std::to_string(index);
  const std::string_view key = cursor.string(what);
  if (key.empty()) refuse(cursor.where(), what + " is empty");
  if (key.size() > kMaxKeyBytes) {
    refuse(cursor.where(),
           what + " has " + std::to_string(key.size()) + " bytes, at most 65535 allowed");
  }
  const bool printable =
      std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (!printable) refuse(cursor.where(), what + " " + shown(key) + " is not printable ASCII");
  return std::string(key);
}

void read_metadata(Cursor& cursor, uint64_t n, GgufHeader& header) {
  for (uint64_t i = 0; i < n; ++i) {
    std::string key = read_key(cursor, i);
    const std::string what = "metadata " + shown(key);
    GgufValue value = read_value(cursor, what);
    if (!header.metadata.emplace(std::move(key), std::move(value)).second)
      refuse(cursor.where(), what + " appears twice");
  }
}

size_t read_alignment(const GgufHeader& header, const std::string& where) {
  const auto it = header.metadata.find("general.alignment");
  if (it == header.metadata.end()) return 32;
  if (it->second.type != GgufType::kU32) {
    refuse(where, "general.alignment is " + std::string(name(it->second.type)) + ", expected u32");
  }
  size_t alignment = 0;
  for (size_t i = 0; i < 4; ++i) alignment |= static_cast<size_t>(it->second.bytes[i]) << (8 * i);
  if (alignment < 8 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    refuse(where, "general.alignment is " + std::to_string(alignment) +
                      ", expected a power of two from 8 to 65536");
  }
  return alignment;
}

std::vector<int64_t> read_shape(Cursor& cursor, const std::string& what) {
  const uint32_t n_dims = cursor.u32(what + " (dimensions)");
  if (n_dims == 0 || n_dims > kMaxDims) {
    refuse(cursor.where(),
           what + " has " + std::to_string(n_dims) + " dimensions, expected 1 to 4");
  }
  std::vector<int64_t> shape;
  for (uint32_t i = 0; i < n_dims; ++i) {
    const uint64_t d = cursor.u64(what + " (dimension)");
    if (d == 0 || d > static_cast<uint64_t>(INT64_MAX)) {
      refuse(cursor.where(), what + " has a dimension of " + std::to_string(d) + " elements");
    }
    shape.push_back(static_cast<int64_t>(d));
  }
  std::reverse(shape.begin(), shape.end());  // stored innermost first
  return shape;
}

const FileType& read_tensor_type(Cursor& cursor, const std::string& what) {
  const uint32_t id = cursor.u32(what + " (type)");
  for (const FileType& type : kFileTypes) {
    if (type.id == id) return type;
  }
  refuse(cursor.where(), what + " has the unknown type id " + std::to_string(id));
}

// One tensor description; offset_bytes is left relative to the data section.
StoredTensor read_tensor(Cursor& cursor, uint64_t index) {
  const std::string_view tensor_name = cursor.string("name of tensor " + std::to_string(index));
  const std::string what = "tensor " + shown(tensor_name);
  if (tensor_name.empty() || tensor_name.size() >= kMaxTensorNameBytes) {
    refuse(cursor.where(), what + " has a name of " + std::to_string(tensor_name.size()) +
                               " bytes, expected 1 to 63");
  }
  StoredTensor tensor;
  tensor.name = std::string(tensor_name);
  tensor.shape = read_shape(cursor, what);
  const FileType& type = read_tensor_type(cursor, what);
  tensor.type_name = std::string(type.name);
  tensor.dtype = dtype_from_name(type.name);
  tensor.offset_bytes = cursor.u64(what + " (offset)");
  if (static_cast<uint64_t>(tensor.shape.back()) % type.block_elems != 0) {
    refuse(cursor.where(), what + " has rows of " + std::to_string(tensor.shape.back()) +
                               " elements, not a multiple of the " +
                               std::to_string(type.block_elems) + " of a " + tensor.type_name +
                               " block");
  }
  const std::optional<int64_t> n_elems = checked_n_elems(tensor.shape);
  uint64_t n_bytes = 0;
  if (!n_elems || __builtin_mul_overflow(static_cast<uint64_t>(*n_elems) / type.block_elems,
                                         type.block_bytes, &n_bytes)) {
    refuse(cursor.where(), what + " of shape " + shape_text(tensor.shape) +
                               " has more bytes than 64 bits can count");
  }
  tensor.n_bytes = static_cast<size_t>(n_bytes);
  return tensor;
}

std::optional<size_t> padded(size_t n, size_t alignment) {
  size_t sum = 0;
  if (__builtin_add_overflow(n, alignment - 1, &sum)) return std::nullopt;
  return sum / alignment * alignment;
}

// Tensors lie in order, each at the padded end of the one before, and the file ends with the last
// (padded or not).
void check_data_section(GgufHeader& header, size_t data_at, size_t file_bytes,
                        const std::string& where) {
  size_t running = 0;  // from data_at
  size_t end = 0;
  for (StoredTensor& tensor : header.tensors) {
    const std::string what = "tensor " + shown(tensor.name);
    if (tensor.offset_bytes != running) {
      refuse(where, what + " is at offset " + std::to_string(tensor.offset_bytes) +
                        " of the data, expected " + std::to_string(running));
    }
    if (data_at > file_bytes || running > file_bytes - data_at ||
        tensor.n_bytes > file_bytes - data_at - running) {
      refuse(where,
             what + " (" + std::to_string(tensor.n_bytes) + " bytes at offset " +
                 std::to_string(running) + " of the data) reaches past the end of the file (" +
                 std::to_string(file_bytes) + " bytes)",
             "the file is truncated: download it again");
    }
    end = data_at + running + tensor.n_bytes;
    tensor.offset_bytes = data_at + running;
    const std::optional<size_t> next = padded(running + tensor.n_bytes, header.alignment_bytes);
    ISOBIT_REQUIRE(next.has_value());  // the sum lies within a mapped file
    running = *next;
  }
  if (header.tensors.empty()) return;
  if (file_bytes > std::max(end, data_at + running)) {
    refuse(where, std::to_string(file_bytes - end) + " bytes after the last tensor belong to none");
  }
}

void check_counts(uint64_t n_tensors, uint64_t n_metadata, const std::string& where) {
  const auto check = [&](uint64_t n, const char* what) {
    if (n <= kMaxEntries) return;
    refuse(
        where,
        std::to_string(n) + " " + what + ", at most " + std::to_string(kMaxEntries) + " are read",
        "the file is damaged, or no model");
  };
  check(n_tensors, "tensors");
  check(n_metadata, "metadata values");
}

void check_version(uint32_t version, const std::string& where) {
  if (version == 2 || version == 3) return;
  if ((version & 0xFFFF) == 0 && version != 0) {
    refuse(where, "GGUF version field is byte-swapped: the file is big-endian",
           "convert it to little-endian");
  }
  refuse(where, "GGUF version " + std::to_string(version) + ", expected 2 or 3",
         version == 1 ? "convert it again" : "");
}

}  // namespace

GgufHeader parse_gguf(std::span<const std::byte> file, const std::string& where) {
  Cursor cursor(file, where);
  const auto magic = cursor.take(4, "the magic number");
  if (std::string_view(reinterpret_cast<const char*>(magic.data()), 4) != "GGUF") {
    refuse(where, "not a GGUF file: begins with " +
                      shown({reinterpret_cast<const char*>(magic.data()), 4}) +
                      ", expected 'GGUF'");
  }
  GgufHeader header;
  header.version = cursor.u32("the version");
  check_version(header.version, where);
  const uint64_t n_tensors = cursor.u64("the tensor count");
  const uint64_t n_metadata = cursor.u64("the metadata count");
  check_counts(n_tensors, n_metadata, where);
  read_metadata(cursor, n_metadata, header);
  header.alignment_bytes = read_alignment(header, where);

  std::set<std::string> names;
  for (uint64_t i = 0; i < n_tensors; ++i) {
    header.tensors.push_back(read_tensor(cursor, i));
    const std::string& tensor_name = header.tensors.back().name;
    if (!names.insert(tensor_name).second)
      refuse(where, "tensor " + shown(tensor_name) + " appears twice");
  }
  const std::optional<size_t> data_at = padded(cursor.position(), header.alignment_bytes);
  ISOBIT_REQUIRE(data_at.has_value());
  check_data_section(header, *data_at, file.size(), where);
  return header;
}

}  // namespace isobit
