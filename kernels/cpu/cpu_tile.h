// f32 weights in a tile that stays in L1, and the kernel that walks it once for each tile of rows.
#pragma once

#include "kernels/cpu/cpu_formats.h"
#include "kernels/cpu/cpu_leaf.h"

namespace isobit {

template <class V>
struct TileKernels {
  static constexpr int kMaxRows = V::kTileRows;
  static constexpr int kPanelVectors = static_cast<int>(kPanelColumns) / V::kWidth;

  // What the caches are asked for while a tile is computed: one address per k, `stride` bytes
  // apart. Spread like this, memory brings the next leaf's weights at a steady rate; in a burst,
  // the kernel that unpacks them would wait. stride 0: nothing.
  struct Ahead {
    uintptr_t address = 0;
    uintptr_t stride = 0;
  };

  // One k of kRows rows of x. Left to itself, the compiler holds a pointer per row, more than there
  // are registers, and fetches them from the stack between the fmas; every third row does.
  template <int kRows>
  struct RowCursor {
    static constexpr int kBases = (kRows + 2) / 3;
    uintptr_t base[kBases];
    uintptr_t row_bytes;

    ISOBIT_LANES_INLINE RowCursor(const float* x, int64_t x_stride)
        : row_bytes(static_cast<uintptr_t>(x_stride) * sizeof(float)) {
#pragma GCC unroll 32
      for (int b = 0; b < kBases; ++b)
        base[b] = reinterpret_cast<uintptr_t>(x) + static_cast<uintptr_t>(3 * b) * row_bytes;
    }
    ISOBIT_LANES_INLINE float at(int r) const {
      return *reinterpret_cast<const float*>(base[r / 3] +
                                             static_cast<uintptr_t>(r % 3) * row_bytes);
    }
    ISOBIT_LANES_INLINE void next() {
#pragma GCC unroll 32
      for (int b = 0; b < kBases; ++b) {
        base[b] += sizeof(float);
        asm("" : "+r"(base[b]));
      }
    }
  };

  // w: (n_k, 32); x: (kRows, n_k) with row stride x_stride; out: (kRows, 32) with row stride
  // out_stride. kContinue: the chains go on from what `out` holds, else they start at +0.
  template <int kRows, bool kContinue>
  static void tile(const float* w, int64_t n_k, const float* x, int64_t x_stride, const Fold& fold,
                   float* out, int64_t out_stride, const Ahead& ahead) {
    constexpr int kVectors = V::kTileVectors < kPanelVectors ? V::kTileVectors : kPanelVectors;
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      const int c = i0 * V::kWidth;
      LeafSums<V, kRows, kVectors> sums;
      if constexpr (kContinue) {
#pragma GCC unroll 32
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i)
            sums.v[r][i] = V::load(out + r * out_stride + c + i * V::kWidth);
        }
      }
      const float* column = w + c;
      RowCursor<kRows> row(x, x_stride);
      // Asking for what is there costs nothing; asking for nothing would walk the page tables.
      uintptr_t soon = ahead.stride == 0 ? reinterpret_cast<uintptr_t>(w) : ahead.address;
      for (int64_t k = 0; k < n_k; ++k, column += kPanelColumns, soon += ahead.stride) {
        __builtin_prefetch(reinterpret_cast<const void*>(soon), 0, 3);
        V weights[kVectors];
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i) weights[i] = V::load(column + i * V::kWidth);
#pragma GCC unroll 32
        for (int r = 0; r < kRows; ++r) {
          const V factor = V::broadcast(row.at(r));
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i) sums.v[r][i] = fma(factor, weights[i], sums.v[r][i]);
        }
        row.next();
      }
      sums.finish(fold, c, out, out_stride);
    }
  }

  using Tile = void (*)(const float* w, int64_t n_k, const float* x, int64_t x_stride,
                        const Fold& fold, float* out, int64_t out_stride, const Ahead& ahead);

  template <bool kContinue, int... kRows>
  static Tile tile_of(Steps<kRows...>, int64_t rows) {
    static constexpr Tile kTable[] = {nullptr, &tile<kRows + 1, kContinue>...};
    return kTable[rows];
  }
  // REQUIRES: 1 <= rows <= kMaxRows.
  template <bool kContinue>
  static Tile kernel(int64_t rows) {
    return tile_of<kContinue>(CountUp<kMaxRows>{}, rows);
  }

  // ---- unpacking ----

  using Unpack = void (*)(const std::byte* panel, int64_t k0, int64_t n_k, float* out);

  template <class Format, int... kSteps>
  ISOBIT_LANES_INLINE static void unpack_steps(Steps<kSteps...>, const typename Format::Held& held,
                                               const typename Format::Scales& scales, float* out) {
    (Format::template weight<kSteps>(held, scales).store(out + kSteps * kPanelColumns), ...);
  }

  // out: (n_k, 32).
  template <class Format>
  static void unpack_plain(const std::byte* panel, int64_t k0, int64_t n_k, float* out) {
    for (int64_t k = k0; k < k0 + n_k; ++k, out += kPanelColumns) {
#pragma GCC unroll 32
      for (int c = 0; c < static_cast<int>(kPanelColumns); c += V::kWidth)
        Format::weight(panel, k, c).store(out + c);
    }
  }

  // The same. REQUIRES: k0 and n_k are multiples of kSpan.
  template <class Format>
  static void unpack_block(const std::byte* panel, int64_t k0, int64_t n_k, float* out) {
    for (int64_t span = 0; span < n_k; span += Format::kSpan) {
#pragma GCC unroll 4
      for (int c = 0; c < static_cast<int>(kPanelColumns); c += V::kWidth) {
        const typename Format::Scales scales =
            Format::scales(panel, static_cast<uint64_t>(k0 + span), c);
        for (int64_t k = span; k < span + Format::kSpan; k += 8) {
          unpack_steps<Format>(EightSteps{}, Format::held(panel, static_cast<uint64_t>(k0 + k), c),
                               scales, out + k * kPanelColumns + c);
        }
      }
    }
  }
};

}  // namespace isobit
