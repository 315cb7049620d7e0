// Kernels that turn packed weights into f32 in registers and use them at once, for all of up to
// V::kDirectRows rows.
#pragma once

#include "kernels/cpu/cpu_formats.h"
#include "kernels/cpu/cpu_leaf.h"

namespace isobit {

template <class V>
struct DirectKernels {
  static constexpr int kPanelVectors = static_cast<int>(kPanelColumns) / V::kWidth;

  // How many vectors of columns go at once: few enough to keep everything in registers.
  static constexpr int vectors(int rows) {
    return kPanelVectors <= 2 ? kPanelVectors : (rows == 1 ? 4 : 2);
  }

  // ---- plain formats ----

  // Asks the second-level cache for one k of all columns, past the end of the panel for what
  // follows it. With one row the hardware keeps up by itself, and is disturbed by being helped.
  static constexpr int64_t kPrefetchRows = 256;
  template <class Format>
  ISOBIT_LANES_INLINE static void prefetch_row(const std::byte* panel, int64_t k) {
    const auto address = reinterpret_cast<uintptr_t>(panel) + k * Format::kBytes * kPanelColumns;
    for (uint64_t line = 0; line < Format::kBytes * kPanelColumns; line += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(address + line), 0, 2);
  }

  template <class Format, int kRows>
  static void plain(const LeafJob& given) {
    const LeafJob job = given;  // a copy that no store can reach stays in registers
    constexpr int kVectors = vectors(kRows);
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      LeafSums<V, kRows, kVectors> sums;
      for (int64_t k = 0; k < job.n_k; ++k) {
        if (kRows > 1 && i0 == 0) prefetch_row<Format>(job.panel, job.k0 + k + kPrefetchRows);
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i) {
          const int c = (i0 + i) * V::kWidth;
          const V w = Format::weight(job.panel, job.k0 + k, c);
          sums.add(i, w, job.x + k, job.x_stride);
        }
      }
      sums.finish(job.fold, i0 * V::kWidth, job.out, job.out_stride);
    }
  }

  // ---- block formats ----

  // Asks the second-level cache for the bytes of kSpan values of k of all columns; past the end of
  // the panel, for what follows it. (Into the first level, the few buffers there for lines under
  // way would bound the bandwidth.)
  template <class Format>
  ISOBIT_LANES_INLINE static void prefetch_span(const std::byte* panel, uint64_t k) {
    constexpr uint64_t kBytes = Format::kBlockBytes * Format::kSpan / Format::kBlock;
    const auto address = reinterpret_cast<uintptr_t>(panel) + k / Format::kSpan * kBytes;
    for (uint64_t line = 0; line < kBytes; line += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(address + line), 0, 2);
  }
  static constexpr uint64_t kPrefetchDistance = 512;  // in k

  template <class Format, int kVectors>
  struct Span {
    typename Format::Scales scales[kVectors];

    ISOBIT_LANES_INLINE Span(const std::byte* panel, uint64_t k, int c) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) scales[i] = Format::scales(panel, k, c + i * V::kWidth);
    }
  };
  template <class Format, int kVectors>
  struct Eight {
    typename Format::Held held[kVectors];

    ISOBIT_LANES_INLINE Eight(const std::byte* panel, uint64_t k, int c) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) held[i] = Format::held(panel, k, c + i * V::kWidth);
    }
  };

  // J of 8 consecutive k.
  template <class Format, int J, int kRows, int kVectors>
  ISOBIT_LANES_INLINE static void step(LeafSums<V, kRows, kVectors>& sums,
                                       const Eight<Format, kVectors>& eight,
                                       const Span<Format, kVectors>& span, const float* x,
                                       int64_t x_stride) {
#pragma GCC unroll 32
    for (int i = 0; i < kVectors; ++i) {
      const V w = Format::template weight<J>(eight.held[i], span.scales[i]);
      sums.add(i, w, x + J, x_stride);
    }
  }

  template <class Format, int kRows, int kVectors, int... kSteps>
  ISOBIT_LANES_INLINE static void steps(Steps<kSteps...>, LeafSums<V, kRows, kVectors>& sums,
                                        const std::byte* panel, uint64_t k, int c,
                                        const Span<Format, kVectors>& span, const float* x,
                                        int64_t x_stride) {
    const Eight<Format, kVectors> eight(panel, k, c);
    (step<Format, kSteps>(sums, eight, span, x, x_stride), ...);
  }

  // REQUIRES: k0 and n_k are multiples of kSpan.
  template <class Format, int kRows>
  static void block(const LeafJob& given) {
    const LeafJob job = given;  // a copy that no store can reach stays in registers
    constexpr int kVectors = vectors(kRows);
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      const int c = i0 * V::kWidth;
      LeafSums<V, kRows, kVectors> sums;
      for (int64_t begin = 0; begin < job.n_k; begin += Format::kSpan) {
        const auto k0 = static_cast<uint64_t>(job.k0 + begin);
        const Span<Format, kVectors> span(job.panel, k0, c);
        if (i0 == 0) prefetch_span<Format>(job.panel, k0 + kPrefetchDistance);
        for (int64_t k = begin; k < begin + Format::kSpan; k += 8) {
          steps<Format>(EightSteps{}, sums, job.panel, static_cast<uint64_t>(job.k0 + k), c, span,
                        job.x + k, job.x_stride);
        }
      }
      sums.finish(job.fold, c, job.out, job.out_stride);
    }
  }

  // Two neighbouring leaves of 128, interleaved step by step: independent chains, which hide the
  // latency of fma and of unpacking when there are few rows.
  template <class Format, int kRows, int kVectors, int... kSteps>
  ISOBIT_LANES_INLINE static void pair_steps(Steps<kSteps...>,
                                             LeafSums<V, kRows, kVectors> (&sums)[2],
                                             const std::byte* panel, uint64_t k, int c,
                                             const Span<Format, kVectors> (&span)[2],
                                             const float* x, int64_t x_stride) {
    const Eight<Format, kVectors> eight[2] = {{panel, k, c}, {panel, k + kTreeLeaf, c}};
    ((step<Format, kSteps>(sums[0], eight[0], span[0], x, x_stride),
      step<Format, kSteps>(sums[1], eight[1], span[1], x + kTreeLeaf, x_stride)),
     ...);
  }

  template <class Format, int kRows>
  static void block_pair(const LeafJob& given) {
    const LeafJob job = given;  // a copy that no store can reach stays in registers
    constexpr int kVectors = vectors(kRows);
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      const int c = i0 * V::kWidth;
      LeafSums<V, kRows, kVectors> sums[2];
      for (int64_t begin = 0; begin < kTreeLeaf; begin += Format::kSpan) {
        const auto k0 = static_cast<uint64_t>(job.k0 + begin);
        const Span<Format, kVectors> span[2] = {{job.panel, k0, c}, {job.panel, k0 + kTreeLeaf, c}};
        if (i0 == 0) {
          prefetch_span<Format>(job.panel, k0 + kPrefetchDistance);
          prefetch_span<Format>(job.panel, k0 + kPrefetchDistance + kTreeLeaf);
        }
        for (int64_t k = begin; k < begin + Format::kSpan; k += 8) {
          pair_steps<Format>(EightSteps{}, sums, job.panel, static_cast<uint64_t>(job.k0 + k), c,
                             span, job.x + k, job.x_stride);
        }
      }
      sums[1].join(sums[0]);
      sums[1].finish(job.fold, c, job.out, job.out_stride);
    }
  }

  // ---- by format ----

  using Kernel = void (*)(const LeafJob&);

  struct Table {
    Kernel direct[V::kDirectRows + 1];  // by number of rows
    Kernel pair[3];  // two leaves of 128 at once, for 1 or 2 rows; null where it does not pay
  };

  template <class Format, int... kRows>
  static constexpr Table plain_table(Steps<kRows...>) {
    return {{nullptr, &plain<Format, kRows + 1>...}, {}};
  }

  template <class Format, int... kRows>
  static constexpr Table block_table(Steps<kRows...>) {
    Table table{{nullptr, &block<Format, kRows + 1>...}, {}};
    if constexpr (V::kPairLeaves) {
      table.pair[1] = &block_pair<Format, 1>;
      table.pair[2] = &block_pair<Format, 2>;
    }
    return table;
  }

  using Rows = CountUp<V::kDirectRows>;
  template <class Format>
  static constexpr Table kPlain = plain_table<Format>(Rows{});
  template <class Format>
  static constexpr Table kBlock = block_table<Format>(Rows{});
};

}  // namespace isobit
