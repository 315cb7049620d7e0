// Rearranges checkpoint rows into the panels that cpu_packed.h describes. No value is changed, only
// moved.
#include "kernels/cpu/cpu_packed.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/error.h"
#include "numeric/block_parts.h"

namespace isobit {
namespace {

static_assert(std::endian::native == std::endian::little,
              "panels are written as little-endian words");

// Weights of all matrices share chunks of huge pages, where the kernel gives them: a decode step
// sweeps every weight once, so TLB misses count, and most matrices of a small model are smaller
// than one huge page.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kChunkBytes = 16 * kHugePage;
constexpr size_t kAlignment = 64;

struct FreeAligned {
  void operator()(std::byte* p) const { std::free(p); }
};

struct Chunk {
  std::unique_ptr<std::byte, FreeAligned> bytes;
  size_t size = 0, used = 0;
};

size_t rounded_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

std::shared_ptr<Chunk> make_chunk(size_t n_bytes) {
  auto chunk = std::make_shared<Chunk>();
  chunk->size = rounded_up(n_bytes, kHugePage);
  chunk->bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kHugePage, chunk->size)));
  if (chunk->bytes == nullptr) throw std::bad_alloc();
#if defined(__linux__)
  madvise(chunk->bytes.get(), chunk->size, MADV_HUGEPAGE);  // a wish: failing changes nothing
#endif
  return chunk;
}

// Zeroed bytes that live as long as the pointer; the chunk goes with the last matrix in it.
std::shared_ptr<std::byte> allocate_zeroed(size_t n_bytes) {
  static std::mutex mutex;
  static std::weak_ptr<Chunk> latest;
  const size_t needed = rounded_up(n_bytes, kAlignment);
  const std::lock_guard lock(mutex);
  std::shared_ptr<Chunk> chunk = latest.lock();
  if (chunk == nullptr || chunk->size - chunk->used < needed) {
    chunk = make_chunk(std::max(needed, kChunkBytes));
    latest = chunk;
  }
  std::byte* p = chunk->bytes.get() + chunk->used;
  chunk->used += needed;
  std::memset(p, 0, n_bytes);
  return {std::move(chunk), p};
}

uint32_t byte_at(const std::byte* p, int64_t i) {
  return static_cast<uint32_t>(p[i]);
}

void put_u32(std::byte* words, int64_t row, int64_t column, uint32_t v) {
  std::memcpy(words + (row * kPanelColumns + column) * 4, &v, 4);
}

void put_f32(std::byte* row0, int64_t row, int64_t column, float v) {
  put_u32(row0, row, column, std::bit_cast<uint32_t>(v));
}

// Of 32 k and 32 columns of a format with block parts.
int64_t parts_bytes(DType dtype) {
  return ((has_offsets(dtype) ? 4 : 2) * 4 + 32) * kPanelColumns;
}

// Copies a value of `size` bytes to its column of a row of 32 such values.
void put_column(std::byte* row, int64_t column, const std::byte* value, size_t size) {
  std::memcpy(row + static_cast<size_t>(column) * size, value, size);
}

// Nibbles of one column, 8 k a word: value_of(k) in 0..15.
template <class ValueOf>
void put_nibbles(std::byte* words, int64_t n_k, int64_t column, ValueOf value_of) {
  for (int64_t group = 0; group < n_k / 8; ++group) {
    uint32_t word = 0;
    for (int64_t j = 0; j < 8; ++j) word |= value_of(group * 8 + j) << (4 * j);
    put_u32(words, group, column, word);
  }
}

template <size_t kElemBytes>
void put_plain(std::byte* panel, int64_t column, const std::byte* row, int64_t n_in) {
  for (int64_t k = 0; k < n_in; ++k) {
    std::memcpy(panel + static_cast<size_t>(k * kPanelColumns + column) * kElemBytes,
                row + static_cast<size_t>(k) * kElemBytes, kElemBytes);
  }
}

void put_q8_0(std::byte* block, int64_t column, const std::byte* stored) {
  put_column(block, column, stored, 2);
  for (int64_t k = 0; k < 32; ++k)
    put_column(block + 64 + k * kPanelColumns, column, stored + 2 + k, 1);
}

// Q4_0 and Q4_1 keep element j in the low and element j + 16 in the high nibble of byte j.
void put_q4(std::byte* block, int64_t column, const std::byte* stored, int64_t n_halves) {
  for (int64_t h = 0; h < n_halves; ++h) put_column(block + h * 64, column, stored + 2 * h, 2);
  const std::byte* nibbles = stored + 2 * n_halves;
  put_nibbles(block + n_halves * 64, 32, column, [&](int64_t k) {
    return k < 16 ? byte_at(nibbles, k) & 15u : byte_at(nibbles, k - 16) >> 4;
  });
}

struct ScaleAndMin {
  uint32_t scale, min;
};

// ggml's packing of eight 6-bit scales and eight 6-bit mins in 12 bytes.
ScaleAndMin q4_k_scale(const std::byte* packed, int64_t i) {
  if (i < 4) return {byte_at(packed, i) & 63u, byte_at(packed, i + 4) & 63u};
  return {(byte_at(packed, i + 4) & 15u) | (byte_at(packed, i - 4) >> 6) << 4,
          (byte_at(packed, i + 4) >> 4) | (byte_at(packed, i) >> 6) << 4};
}

void put_q4_k(std::byte* block, int64_t column, const std::byte* stored) {
  put_column(block, column, stored, 2);
  put_column(block + 64, column, stored + 2, 2);
  uint32_t scale_low = 0, min_low = 0, high = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const ScaleAndMin s = q4_k_scale(stored + 4, i);
    scale_low |= (s.scale & 15u) << (4 * i);
    min_low |= (s.min & 15u) << (4 * i);
    high |= (s.scale >> 4) << (2 * i) | (s.min >> 4) << (16 + 2 * i);
  }
  put_u32(block + 128, 0, column, scale_low);
  put_u32(block + 256, 0, column, min_low);
  put_u32(block + 384, 0, column, high);
  const std::byte* quants = stored + 16;  // per 64 k, 32 bytes: low nibbles are the first 32 k
  put_nibbles(block + 512, 256, column, [&](int64_t k) {
    const uint32_t b = byte_at(quants, k / 64 * 32 + k % 32);
    return k % 64 < 32 ? b & 15u : b >> 4;
  });
}

void put_q6_k(std::byte* block, int64_t column, const std::byte* stored) {
  const std::byte* low = stored;  // per 128 k, 64 bytes: k and k + 64 share byte k % 64
  const std::byte* high =
      stored + 128;  // per 128 k, 32 bytes: k, k + 32, k + 64, k + 96 share byte k % 32
  const std::byte* scales = stored + 192;
  put_column(block, column, stored + 208, 2);
  for (int64_t i = 0; i < 16; ++i)
    put_column(block + 64 + i * kPanelColumns, column, scales + i, 1);
  put_nibbles(block + 576, 256, column, [&](int64_t k) {
    const uint32_t b = byte_at(low, k / 128 * 64 + k % 64);
    return k % 128 < 64 ? b & 15u : b >> 4;
  });
  for (int64_t group = 0; group < 16; ++group) {
    uint32_t word = 0;
    for (int64_t j = 0; j < 16; ++j) {
      const int64_t k = group * 16 + j;
      word |= (byte_at(high, k / 128 * 32 + k % 32) >> (k % 128 / 32 * 2) & 3u) << (2 * j);
    }
    put_u32(block + 576 + 4096, group, column, word);
  }
}

void put_block(DType dtype, std::byte* block, int64_t column, const std::byte* stored) {
  switch (dtype) {
    case DType::kQ8_0:
      return put_q8_0(block, column, stored);
    case DType::kQ4_0:
      return put_q4(block, column, stored, 1);
    case DType::kQ4_1:
      return put_q4(block, column, stored, 2);
    case DType::kQ4_K:
      return put_q4_k(block, column, stored);
    case DType::kQ6_K:
      return put_q6_k(block, column, stored);
    default:
      ISOBIT_REQUIRE(!"a dtype that the engine supports");
  }
}

// One stored block, 32 k at a time: kSteps and kStepsOffsets.
void put_parts(DType dtype, std::byte* blocks, int64_t column, const std::byte* stored) {
  const BlockParts parts = block_parts(dtype, reinterpret_cast<const uint8_t*>(stored));
  const bool offsets = has_offsets(dtype);
  const auto n = static_cast<int64_t>(traits(dtype).block_elems);
  for (int64_t k = 0; k < n; k += 32, blocks += parts_bytes(dtype)) {
    std::byte* q = blocks + 2 * 4 * kPanelColumns;
    for (int64_t g = 0; g < 2; ++g) put_f32(blocks, g, column, parts.step[k / 16 + g]);
    if (offsets) {
      for (int64_t g = 0; g < 2; ++g) put_f32(q, g, column, parts.offset[k / 16 + g]);
      q += 2 * 4 * kPanelColumns;
    }
    for (int64_t i = 0; i < 32; ++i)
      q[i * kPanelColumns + column] = static_cast<std::byte>(parts.q[k + i]);
  }
}

void put_row(const TensorView& w, std::byte* panel, int64_t column, int64_t model_row) {
  const DTypeTraits& t = traits(w.dtype);
  const std::byte* row = w.row(model_row);
  if (!t.quantised) {
    return t.block_bytes == 2 ? put_plain<2>(panel, column, row, w.row_elems())
                              : put_plain<4>(panel, column, row, w.row_elems());
  }
  const int64_t n_blocks = w.row_elems() / static_cast<int64_t>(t.block_elems);
  const auto stored_bytes = static_cast<int64_t>(t.block_bytes);
  if (has_block_parts(w.dtype)) {
    const auto step = static_cast<int64_t>(t.block_elems) / 32 * parts_bytes(w.dtype);
    for (int64_t b = 0; b < n_blocks; ++b)
      put_parts(w.dtype, panel + b * step, column, row + b * stored_bytes);
    return;
  }
  for (int64_t b = 0; b < n_blocks; ++b) {
    put_block(w.dtype, panel + b * stored_bytes * kPanelColumns, column, row + b * stored_bytes);
  }
}

// Where a panel's rows come from, and where it goes.
struct PanelSource {
  const TensorView* weight;
  std::byte* panel;
  int64_t first_row;  // of the part
  int64_t n_rows;
};

}  // namespace

struct CpuPackedMatrix::Storage {
  std::shared_ptr<std::byte> weights;
  std::vector<float> bias;
  std::vector<Panel> panels;
};

CpuPackedMatrix::CpuPackedMatrix(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {
  panels = storage_->panels.data();
  n_panels = static_cast<int64_t>(storage_->panels.size());
}

CpuPackedMatrix::~CpuPackedMatrix() = default;

namespace {

void require_part(const MatrixPart& part, int64_t n_in) {
  ISOBIT_REQUIRE(part.weight != nullptr && engine_supports(part.weight->dtype));
  ISOBIT_REQUIRE(part.weight->shape.size() == 2 && part.weight->row_elems() == n_in && n_in > 0);
  ISOBIT_REQUIRE(n_in % static_cast<int64_t>(traits(part.weight->dtype).block_elems) == 0);
  ISOBIT_REQUIRE(part.weight->bytes.size() >=
                 static_cast<size_t>(part.weight->n_rows()) * part.weight->row_bytes());
  ISOBIT_REQUIRE(part.bias.empty() ||
                 part.bias.size() == static_cast<size_t>(part.weight->n_rows()));
}

int64_t panels_of(const MatrixPart& part) {
  return (part.weight->n_rows() + kPanelColumns - 1) / kPanelColumns;
}

size_t panel_bytes(const MatrixPart& part) {
  const TensorView& w = *part.weight;
  if (has_block_parts(w.dtype))
    return static_cast<size_t>(w.row_elems() / 32 * parts_bytes(w.dtype));
  return w.row_bytes() * kPanelColumns;
}

PanelFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return PanelFormat::kF32;
    case DType::kF16:
      return PanelFormat::kF16;
    case DType::kBF16:
      return PanelFormat::kBF16;
    case DType::kQ8_0:
      return PanelFormat::kQ8_0;
    case DType::kQ4_0:
      return PanelFormat::kQ4_0;
    case DType::kQ4_1:
      return PanelFormat::kQ4_1;
    case DType::kQ4_K:
      return PanelFormat::kQ4_K;
    case DType::kQ6_K:
      return PanelFormat::kQ6_K;
    default:
      ISOBIT_REQUIRE(has_block_parts(dtype));
      return has_offsets(dtype) ? PanelFormat::kStepsOffsets : PanelFormat::kSteps;
  }
}

// Lists the panels of every part, in order, with their places in one allocation and one bias array.
std::vector<PanelSource> lay_out(std::span<const MatrixPart> parts,
                                 CpuPackedMatrix::Storage& storage) {
  size_t n_bytes = 0, n_bias = 0;
  for (const MatrixPart& part : parts) {
    n_bytes += static_cast<size_t>(panels_of(part)) * panel_bytes(part);
    n_bias += part.bias.size();
  }
  storage.weights = allocate_zeroed(n_bytes);
  storage.bias.reserve(n_bias);  // panels point into it
  std::vector<PanelSource> sources;
  std::byte* next = storage.weights.get();
  int64_t column = 0;
  for (const MatrixPart& part : parts) {
    const float* bias = storage.bias.data() + storage.bias.size();
    storage.bias.insert(storage.bias.end(), part.bias.begin(), part.bias.end());
    const int64_t n_rows = part.weight->n_rows();
    for (int64_t row = 0; row < n_rows; row += kPanelColumns, next += panel_bytes(part)) {
      const int64_t n = std::min(kPanelColumns, n_rows - row);
      storage.panels.push_back({.weights = next,
                                .bias = part.bias.empty() ? nullptr : bias + row,
                                .first_column = column + row,
                                .n_columns = n,
                                .format = format_of(part.weight->dtype)});
      sources.push_back({part.weight, next, row, n});
    }
    column += n_rows;
  }
  return sources;
}

}  // namespace

std::unique_ptr<PackedMatrix> pack_cpu_matrix(std::span<const MatrixPart> parts, int64_t n_segments,
                                              ThreadPool& pool) {
  ISOBIT_REQUIRE(!parts.empty() && parts[0].weight != nullptr && n_segments >= 1);
  const int64_t n_in = parts[0].weight->row_elems();
  ISOBIT_REQUIRE(n_in % n_segments == 0);
  for (const MatrixPart& part : parts) require_part(part, n_in);

  auto storage = std::make_unique<CpuPackedMatrix::Storage>();
  const std::vector<PanelSource> sources = lay_out(parts, *storage);
  pool.run(sources.size(), [&](size_t item, int) {
    const PanelSource& s = sources[item];
    for (int64_t c = 0; c < s.n_rows; ++c) put_row(*s.weight, s.panel, c, s.first_row + c);
  });

  size_t n_bytes = 0;
  for (const MatrixPart& part : parts)
    n_bytes += static_cast<size_t>(panels_of(part)) * panel_bytes(part);
  int64_t n_out = 0;
  for (const MatrixPart& part : parts) n_out += part.weight->n_rows();
  auto packed = std::make_unique<CpuPackedMatrix>(std::move(storage));
  packed->n_out = n_out;
  packed->n_in = n_in;
  packed->n_segments = n_segments;
  packed->packed_bytes = n_bytes;
  return packed;
}

}  // namespace isobit
