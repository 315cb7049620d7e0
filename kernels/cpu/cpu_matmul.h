// matmul over packed panels: the contract's Tree in registers.
//
// One work item is a few panels (32 columns each) times a block of rows. For each leaf of 128 k, in
// order:
//   few rows    a direct kernel turns the packed weights into f32 in registers and uses them at
//   once for all rows; more rows   the leaf is unpacked once into an f32 tile that stays in L1, and
//   an f32 kernel walks it once for each
//               tile of rows. (Unpacking costs the same arithmetic as the direct kernel, plus
//               stores that other ports do.)
// Either writes one partial sum per element to a slot, and slots combine like the digits of a
// binary counter, which is the balanced rule. Segments are combined the same way, one level further
// out.
#pragma once

#include "base/error.h"
#include "kernels/cpu/cpu_formats.h"
#include "kernels/cpu/cpu_work.h"

namespace isobit {

template <class V>
struct Matmul {
  static constexpr int64_t kLeaf = 128;
  static constexpr int kColumns = static_cast<int>(kPanelColumns);
  static constexpr int kPanelVectors = kColumns / V::kWidth;
  static constexpr int kMaxTileRows = V::kTileRows;
  static constexpr int64_t kRowBlock = 8 * kMaxTileRows;
  static constexpr int64_t kUnpackedRows =
      kLeaf + 64;  // a leaf that starts or ends inside a block of 32 k

  // out: (n_leaves, rows of the slot, 32), the distance between leaves given as leaf_stride.
  using DirectFn = void (*)(const std::byte* panel, int64_t k0, int64_t n_k, const float* x,
                            int64_t x_stride, float* out, int64_t leaf_stride);
  using UnpackFn = void (*)(const std::byte* panel, int64_t k0, int64_t n_k, float* out);
  using TileFn = void (*)(const float* w, int64_t n_k, const float* x, int64_t x_stride, float* out,
                          int64_t out_stride);

  template <int... kSteps>
  struct Steps {};
  using EightSteps = Steps<0, 1, 2, 3, 4, 5, 6, 7>;

  template <int kCount, int... kSteps>
  static constexpr auto count_up() {
    if constexpr (sizeof...(kSteps) == kCount) {
      return Steps<kSteps...>{};
    } else {
      return count_up<kCount, kSteps..., static_cast<int>(sizeof...(kSteps))>();
    }
  }

  // ---- direct kernels ----

  template <int kRows, int kLeaves, int kVectors>
  struct Sums {
    V v[kLeaves][kRows][kVectors];

    ISOBIT_LANES_INLINE Sums() {
#pragma GCC unroll 32
      for (int g = 0; g < kLeaves; ++g) {
#pragma GCC unroll 32
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i) v[g][r][i] = V::broadcast(0.0f);
        }
      }
    }
    // One k of leaf g, vector i of the columns.
    ISOBIT_LANES_INLINE void add(int g, int i, V w, const float* x, int64_t x_stride) {
#pragma GCC unroll 32
      for (int r = 0; r < kRows; ++r)
        v[g][r][i] = fma(V::broadcast(x[r * x_stride]), w, v[g][r][i]);
    }
    ISOBIT_LANES_INLINE void store(float* out, int64_t leaf_stride) const {
#pragma GCC unroll 32
      for (int g = 0; g < kLeaves; ++g) {
#pragma GCC unroll 32
        for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i)
            v[g][r][i].store(out + g * leaf_stride + r * kColumns + i * V::kWidth);
        }
      }
    }
  };

  // How many vectors of columns a direct kernel takes at once: few enough to keep everything in
  // registers.
  static constexpr int direct_vectors(int rows) {
    return kPanelVectors <= 2 ? kPanelVectors : (rows == 1 ? 4 : 2);
  }

  template <class Format, int kRows>
  static void direct_plain(const std::byte* panel, int64_t k0, int64_t n_k, const float* x,
                           int64_t x_stride, float* out, int64_t leaf_stride) {
    constexpr int kVectors = direct_vectors(kRows);
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      Sums<kRows, 1, kVectors> sums;
      for (int64_t k = 0; k < n_k; ++k) {
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i) {
          sums.add(0, i, Format::weight(panel, k0 + k, (i0 + i) * V::kWidth), x + k, x_stride);
        }
      }
      sums.store(out + i0 * V::kWidth, leaf_stride);
    }
  }

  // J of 8 consecutive k, for all leaves and vectors.
  template <class Format, int J, int kRows, int kLeaves, int kVectors>
  ISOBIT_LANES_INLINE static void block_step(
      Sums<kRows, kLeaves, kVectors>& sums, const typename Format::Held (&held)[kLeaves][kVectors],
      const typename Format::Scales (&scales)[kLeaves][kVectors], const float* x,
      int64_t x_stride) {
#pragma GCC unroll 32
    for (int g = 0; g < kLeaves; ++g) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i) {
        sums.add(g, i, Format::template weight<J>(held[g][i], scales[g][i]), x + g * kLeaf + J,
                 x_stride);
      }
    }
  }

  template <class Format, int kRows, int kLeaves, int kVectors, int... kSteps>
  ISOBIT_LANES_INLINE static void block_steps(
      Steps<kSteps...>, Sums<kRows, kLeaves, kVectors>& sums, const std::byte* panel, int64_t k,
      int c, const typename Format::Scales (&scales)[kLeaves][kVectors], const float* x,
      int64_t x_stride) {
    typename Format::Held held[kLeaves][kVectors];
#pragma GCC unroll 32
    for (int g = 0; g < kLeaves; ++g) {
#pragma GCC unroll 32
      for (int i = 0; i < kVectors; ++i)
        held[g][i] = Format::held(panel, static_cast<uint64_t>(k + g * kLeaf), c + i * V::kWidth);
    }
    (block_step<Format, kSteps>(sums, held, scales, x, x_stride), ...);
  }

  // Asks for the bytes of kSpan values of k of all columns; past the end of the panel, for what
  // follows it.
  template <class Format>
  ISOBIT_LANES_INLINE static void prefetch_span(const std::byte* panel, uint64_t k) {
    constexpr uint64_t kBytes = Format::kBlockBytes * Format::kSpan / Format::kBlock;
    const auto address = reinterpret_cast<uintptr_t>(panel) + k / Format::kSpan * kBytes;
    for (uint64_t line = 0; line < kBytes; line += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(address + line));
  }

  // kLeaves neighbouring leaves of n_k each. Leaves are independent chains: two at a time hide the
  // latency of fma when there is one row.
  template <class Format, int kRows, int kLeaves>
  static void direct_block(const std::byte* panel, int64_t k0, int64_t n_k, const float* x,
                           int64_t x_stride, float* out, int64_t leaf_stride) {
    constexpr int kVectors = direct_vectors(kRows);
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      Sums<kRows, kLeaves, kVectors> sums;
      for (int64_t span = 0; span < n_k; span += Format::kSpan) {
        typename Format::Scales scales[kLeaves][kVectors];
#pragma GCC unroll 32
        for (int g = 0; g < kLeaves; ++g) {
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i) {
            scales[g][i] = Format::scales(panel, static_cast<uint64_t>(k0 + span + g * kLeaf),
                                          (i0 + i) * V::kWidth);
          }
        }
        // The hardware follows a stream only to the end of its page; weights are read once, so
        // every page counts.
        for (int g = 0; g < kLeaves; ++g) {
          prefetch_span<Format>(panel, static_cast<uint64_t>(k0 + span + (kLeaves + g) * kLeaf));
        }
        for (int64_t k = span; k < span + Format::kSpan; k += 8) {
          block_steps<Format>(EightSteps{}, sums, panel, k0 + k, i0 * V::kWidth, scales, x + k,
                              x_stride);
        }
      }
      sums.store(out + i0 * V::kWidth, leaf_stride);
    }
  }

  // ---- unpacking and the f32 tile ----

  // out: (n_k, 32)
  template <class Format>
  static void unpack_plain(const std::byte* panel, int64_t k0, int64_t n_k, float* out) {
    for (int64_t k = 0; k < n_k; ++k) {
#pragma GCC unroll 32
      for (int c = 0; c < kColumns; c += V::kWidth)
        Format::weight(panel, k0 + k, c).store(out + k * kColumns + c);
    }
  }

  template <class Format, int... kSteps>
  ISOBIT_LANES_INLINE static void unpack_steps(Steps<kSteps...>, const typename Format::Held& held,
                                               const typename Format::Scales& scales, float* out) {
    (Format::template weight<kSteps>(held, scales).store(out + kSteps * kColumns), ...);
  }

  // REQUIRES: k0 and n_k are multiples of kSpan.
  template <class Format>
  static void unpack_block(const std::byte* panel, int64_t k0, int64_t n_k, float* out) {
    for (int64_t span = 0; span < n_k; span += Format::kSpan) {
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; c += V::kWidth) {
        const typename Format::Scales scales =
            Format::scales(panel, static_cast<uint64_t>(k0 + span), c);
        for (int64_t k = span; k < span + Format::kSpan; k += 8) {
          unpack_steps<Format>(EightSteps{}, Format::held(panel, static_cast<uint64_t>(k0 + k), c),
                               scales, out + k * kColumns + c);
        }
      }
    }
  }

  // w: (n_k, 32); x: (kRows, n_k) with row stride x_stride; out: (kRows, 32) with row stride
  // out_stride. kContinue: the chains go on from what `out` holds, else they start at +0.
  template <int kRows, bool kContinue>
  static void tile(const float* w, int64_t n_k, const float* x, int64_t x_stride, float* out,
                   int64_t out_stride) {
    constexpr int kVectors = V::kTileVectors < kPanelVectors ? V::kTileVectors : kPanelVectors;
    for (int i0 = 0; i0 < kPanelVectors; i0 += kVectors) {
      V sums[kRows][kVectors];
#pragma GCC unroll 32
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i) {
          sums[r][i] =
              kContinue ? V::load(out + r * out_stride + (i0 + i) * V::kWidth) : V::broadcast(0.0f);
        }
      }
      const float* column = w + i0 * V::kWidth;
      for (int64_t k = 0; k < n_k; ++k, column += kColumns) {
        V weights[kVectors];
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i) weights[i] = V::load(column + i * V::kWidth);
#pragma GCC unroll 32
        for (int r = 0; r < kRows; ++r) {
          const V factor = V::broadcast(x[r * x_stride + k]);
#pragma GCC unroll 32
          for (int i = 0; i < kVectors; ++i) sums[r][i] = fma(factor, weights[i], sums[r][i]);
        }
      }
#pragma GCC unroll 32
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 32
        for (int i = 0; i < kVectors; ++i)
          sums[r][i].store(out + r * out_stride + (i0 + i) * V::kWidth);
      }
    }
  }

  template <bool kContinue, int... kRows>
  static TileFn tile_of(Steps<kRows...>, int64_t rows) {
    static constexpr TileFn kTable[] = {nullptr, &tile<kRows + 1, kContinue>...};
    return kTable[rows];
  }
  // REQUIRES: 1 <= rows <= kMaxTileRows.
  template <bool kContinue>
  static TileFn tile_kernel(int64_t rows) {
    return tile_of<kContinue>(count_up<kMaxTileRows>(), rows);
  }

  // ---- tables ----

  struct FormatKernels {
    DirectFn direct[V::kDirectRows + 1];  // by number of rows
    DirectFn direct_pair[3];  // two leaves at once, 1 or 2 rows; null where it does not pay
    UnpackFn unpack;
    bool plain;  // any k0; else direct kernels need leaves that start at multiples of 32
  };

  template <class Format, int... kRows>
  static constexpr FormatKernels plain_kernels(Steps<kRows...>) {
    return {{nullptr, &direct_plain<Format, kRows + 1>...}, {}, &unpack_plain<Format>, true};
  }

  template <class Format, int... kRows>
  static constexpr FormatKernels block_kernels(Steps<kRows...>) {
    FormatKernels kernels{
        {nullptr, &direct_block<Format, kRows + 1, 1>...}, {}, &unpack_block<Format>, false};
    if constexpr (V::kPairLeaves) {
      kernels.direct_pair[1] = &direct_block<Format, 1, 2>;
      kernels.direct_pair[2] = &direct_block<Format, 2, 2>;
    }
    return kernels;
  }

  static const FormatKernels& kernels_of(DType dtype) {
    using Rows = decltype(count_up<V::kDirectRows>());
    static constexpr FormatKernels kF32 = plain_kernels<PlainF32<V>>(Rows{});
    static constexpr FormatKernels kF16 = plain_kernels<PlainF16<V>>(Rows{});
    static constexpr FormatKernels kBf16 = plain_kernels<PlainBf16<V>>(Rows{});
    static constexpr FormatKernels kQ8_0 = block_kernels<BlockQ8_0<V>>(Rows{});
    static constexpr FormatKernels kQ4_0 = block_kernels<BlockQ4_0<V>>(Rows{});
    static constexpr FormatKernels kQ4_1 = block_kernels<BlockQ4_1<V>>(Rows{});
    static constexpr FormatKernels kQ4_K = block_kernels<BlockQ4_K<V>>(Rows{});
    static constexpr FormatKernels kQ6_K = block_kernels<BlockQ6_K<V>>(Rows{});
    switch (dtype) {
      case DType::kF32:
        return kF32;
      case DType::kF16:
        return kF16;
      case DType::kBF16:
        return kBf16;
      case DType::kQ8_0:
        return kQ8_0;
      case DType::kQ4_0:
        return kQ4_0;
      case DType::kQ4_1:
        return kQ4_1;
      case DType::kQ4_K:
        return kQ4_K;
      case DType::kQ6_K:
        return kQ6_K;
      default:
        fail_require("a dtype that pack accepts", __FILE__, __LINE__);
    }
  }

  // ---- one panel, one block of rows ----

  // Partial sums waiting for their partner, as in a binary counter: slot(d) is (n_rows, 32).
  struct Slots {
    float* floats;
    int64_t slot_floats;
    int64_t depth;

    ISOBIT_LANES_INLINE float* top() const { return floats + depth * slot_floats; }

    // top() holds sum number `index` of a list: it joins those it completes.
    void push(int64_t index) {
      for (; index & 1; index >>= 1) fold_into_previous(), --depth;
      ++depth;
    }
    // What is left of a list that began at depth `base` becomes one sum in slot `base`, which is
    // not counted.
    void finish(int64_t base) {
      while (depth - base > 1) --depth, fold_into_previous();
      depth = base;
    }

   private:
    void fold_into_previous() const {
      float* right = top();
      float* left = right - slot_floats;
      for (int64_t i = 0; i < slot_floats; i += V::kWidth)
        (V::load(left + i) + V::load(right + i)).store(left + i);
    }
  };

  static constexpr int64_t bit_width(int64_t n) {
    return n == 0 ? 0 : 1 + bit_width(n / 2);
  }

  // Depth never exceeds the digits of both counters, one sum in flight, and one more for a pair of
  // leaves.
  static int64_t n_slots(int64_t n_in, int64_t n_segments) {
    const int64_t n_leaves = (n_in / n_segments + kLeaf - 1) / kLeaf;
    return bit_width(n_leaves) + bit_width(n_segments) + 2;
  }

  struct Job {
    const CpuPackedMatrix* w;
    const float* x;  // (n_rows, n_in)
    float* y;        // (n_rows, n_out)
    int64_t n_rows;
    int64_t rows_per_block;
    int64_t n_panel_groups;
    int64_t panels_per_group;
  };

  struct RowBlock {
    const float* x;
    int64_t x_stride;
    int64_t n_rows;
    int64_t rows_per_tile;
    float* unpacked;  // (kUnpackedRows, 32)
  };

  static void unpacked_leaf(const FormatKernels& kernels, const Panel& panel, const RowBlock& rows,
                            int64_t k0, int64_t n_k, float* out) {
    const float* w;
    if (panel.dtype == DType::kF32) {
      w = reinterpret_cast<const float*>(panel.weights) + k0 * kColumns;
    } else {
      const int64_t begin = kernels.plain ? k0 : k0 / 32 * 32;
      const int64_t end = kernels.plain ? k0 + n_k : (k0 + n_k + 31) / 32 * 32;
      kernels.unpack(panel.weights, begin, end - begin, rows.unpacked);
      w = rows.unpacked + (k0 - begin) * kColumns;
    }
    for (int64_t r = 0; r < rows.n_rows; r += rows.rows_per_tile) {
      const int64_t n = rows.n_rows - r < rows.rows_per_tile ? rows.n_rows - r : rows.rows_per_tile;
      tile_kernel<false>(n)(w, n_k, rows.x + r * rows.x_stride + k0, rows.x_stride,
                            out + r * kColumns, kColumns);
    }
  }

  static void segment(const FormatKernels& kernels, const Panel& panel, const RowBlock& rows,
                      int64_t k0, int64_t n_k, Slots& slots) {
    const int64_t base = slots.depth;
    const bool direct =
        rows.n_rows <= V::kDirectRows && (kernels.plain || (k0 % 32 == 0 && n_k % 32 == 0));
    const DirectFn pair = direct && rows.n_rows <= 2 ? kernels.direct_pair[rows.n_rows] : nullptr;
    for (int64_t done = 0, leaf = 0; done < n_k;) {
      const int64_t k = k0 + done;
      if (pair != nullptr && leaf % 2 == 0 && n_k - done >= 2 * kLeaf) {
        pair(panel.weights, k, kLeaf, rows.x + k, rows.x_stride, slots.top(), slots.slot_floats);
        slots.push(leaf);
        slots.push(leaf + 1);
        done += 2 * kLeaf, leaf += 2;
        continue;
      }
      const int64_t n = n_k - done < kLeaf ? n_k - done : kLeaf;
      if (direct) {
        kernels.direct[rows.n_rows](panel.weights, k, n, rows.x + k, rows.x_stride, slots.top(),
                                    slots.slot_floats);
      } else {
        unpacked_leaf(kernels, panel, rows, k, n, slots.top());
      }
      slots.push(leaf);
      done += n, ++leaf;
    }
    slots.finish(base);
  }

  // sums: (n_rows, 32); y: row stride y_stride, at the panel's first column
  static void write_out(const Panel& panel, const float* sums, int64_t n_rows, float* y,
                        int64_t y_stride) {
    for (int64_t r = 0; r < n_rows; ++r, sums += kColumns, y += y_stride) {
      if (panel.n_columns == kColumns) {
        for (int c = 0; c < kColumns; c += V::kWidth) {
          const V sum = V::load(sums + c);
          (panel.bias == nullptr ? sum : sum + V::load(panel.bias + c)).store(y + c);
        }
      } else {
        for (int64_t c = 0; c < panel.n_columns; ++c) {
          y[c] = panel.bias == nullptr ? sums[c] : sums[c] + panel.bias[c];
        }
      }
    }
  }

  static void run_item(const Job& job, int64_t item) {
    const CpuPackedMatrix& w = *job.w;
    const int64_t row0 = item / job.n_panel_groups * job.rows_per_block;
    const int64_t n_rows =
        job.n_rows - row0 < job.rows_per_block ? job.n_rows - row0 : job.rows_per_block;
    const int64_t n_tiles = (n_rows + kMaxTileRows - 1) / kMaxTileRows;
    const int64_t slot_floats = n_rows * kColumns;
    float* scratch =
        thread_scratch(kUnpackedRows * kColumns + n_slots(w.n_in, w.n_segments) * slot_floats);
    const RowBlock rows{job.x + row0 * w.n_in, w.n_in, n_rows, (n_rows + n_tiles - 1) / n_tiles,
                        scratch};

    const int64_t first = item % job.n_panel_groups * job.panels_per_group;
    const int64_t last =
        first + job.panels_per_group < w.n_panels ? first + job.panels_per_group : w.n_panels;
    const int64_t segment_k = w.n_in / w.n_segments;
    for (int64_t p = first; p < last; ++p) {
      const Panel& panel = w.panels[p];
      const FormatKernels& kernels = kernels_of(panel.dtype);
      Slots slots{scratch + kUnpackedRows * kColumns, slot_floats, 0};
      for (int64_t s = 0; s < w.n_segments; ++s) {
        segment(kernels, panel, rows, s * segment_k, segment_k, slots);
        slots.push(s);
      }
      slots.finish(0);
      write_out(panel, slots.floats, n_rows, job.y + row0 * w.n_out + panel.first_column, w.n_out);
    }
  }

  static void run(const PackedMatrix& packed, const float* x, int64_t n_rows, float* y,
                  ThreadPool& pool) {
    if (n_rows <= 0) return;
    const auto& w = static_cast<const CpuPackedMatrix&>(packed);
    const int64_t n_blocks = (n_rows + kRowBlock - 1) / kRowBlock;
    // Coarse enough that handing out an item costs nothing, fine enough that threads finish
    // together.
    const int64_t wanted_items = pool.n_threads() == 1 ? 1 : 16 * pool.n_threads();
    const int64_t panels_per_group = w.n_panels / wanted_items > 1 ? w.n_panels / wanted_items : 1;
    const int64_t n_groups = (w.n_panels + panels_per_group - 1) / panels_per_group;
    const Job job{&w, x, y, n_rows, (n_rows + n_blocks - 1) / n_blocks, n_groups, panels_per_group};
    run_items(pool, n_groups * n_blocks, &job,
              [](const void* j, int64_t item) { run_item(*static_cast<const Job*>(j), item); });
  }
};

}  // namespace isobit
