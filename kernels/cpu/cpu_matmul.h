// matmul over packed panels: the contract's Tree in registers.
//
// One work item is a few panels (32 columns each) times a block of rows. For each leaf of 128 k, in
// order: few rows go through a direct kernel (cpu_direct.h); with more, the weights are unpacked
// into L1 once and all rows go through the f32 tile kernel (cpu_tile.h). Partial sums wait in slots
// for their partner, as in a binary counter, which is the balanced rule; a kernel adds those that
// its leaf completes before it stores. Segments combine the same way, one level further out.
#pragma once

#include "base/error.h"
#include "kernels/cpu/cpu_direct.h"
#include "kernels/cpu/cpu_partial.h"
#include "kernels/cpu/cpu_tile.h"
#include "kernels/cpu/cpu_work.h"

namespace isobit {

// Binary digits of n > 0.
ISOBIT_LANES_INLINE int64_t bit_width_of(int64_t n) {
  return 64 - __builtin_clzll(static_cast<unsigned long long>(n));
}

template <class V>
struct Matmul {
  using Direct = DirectKernels<V>;
  using Tiles = TileKernels<V>;
  static constexpr int64_t kUnpackedRows =
      kTreeLeaf + 64;  // a leaf that starts or ends inside a block of 32 k

  struct FormatKernels {
    const typename Direct::Table* direct;
    int64_t direct_rows;            // as many rows go through direct kernels
    typename Tiles::Unpack unpack;  // null: the stored weights are f32
    int64_t k_per_block, block_bytes;
    int64_t alignment;  // of k, for all of these
  };

  template <class Format>
  static constexpr FormatKernels kPlain{
      &Direct::template kPlain<Format>,
      Format::kBytes == 2 ? V::kDirectRowsPlain : V::kDirectRows,
      Format::kBytes == 2 ? &Tiles::template unpack_plain<Format> : nullptr,
      1,
      Format::kBytes* kPanelColumns,
      1};
  template <class Format>
  static constexpr FormatKernels kBlock{&Direct::template kBlock<Format>,
                                        V::kDirectRowsBlock,
                                        &Tiles::template unpack_block<Format>,
                                        Format::kBlock,
                                        Format::kBlockBytes,
                                        32};

  static const FormatKernels& kernels_of(PanelFormat format) {
    switch (format) {
      case PanelFormat::kF32:
        return kPlain<PlainF32<V>>;
      case PanelFormat::kF16:
        return kPlain<PlainF16<V>>;
      case PanelFormat::kBF16:
        return kPlain<PlainBf16<V>>;
      case PanelFormat::kQ8_0:
        return kBlock<BlockQ8_0<V>>;
      case PanelFormat::kQ4_0:
        return kBlock<BlockQ4_0<V>>;
      case PanelFormat::kQ4_1:
        return kBlock<BlockQ4_1<V>>;
      case PanelFormat::kQ4_K:
        return kBlock<BlockQ4_K<V>>;
      case PanelFormat::kQ6_K:
        return kBlock<BlockQ6_K<V>>;
      case PanelFormat::kSteps:
        return kBlock<BlockSteps<V>>;
      case PanelFormat::kStepsOffsets:
        return kBlock<BlockStepsOffsets<V>>;
    }
    fail_require("a kernel for every panel format", __FILE__, __LINE__);
  }

  enum class Segments { kTogether, kApart };

  struct Job {
    const CpuPackedMatrix* w;
    const float* x;  // (n_rows, n_in)
    float* y;        // (n_rows, n_out), or (n_segments, n_rows, n_out) of segments apart
    int64_t n_rows;
    int64_t rows_per_block;
    int64_t n_panel_groups;
    int64_t panels_per_group;
    Segments segments;
  };

  struct RowBlock {
    const float* x;
    int64_t x_stride;
    int64_t n_rows;
    float* unpacked;  // (kUnpackedRows, 32)
  };

  // Where the sum of a leaf goes and what joins it on the way.
  struct Sink {
    float* out;
    int64_t out_stride;
    Fold fold;

    // The same for the rows from `row` on.
    Sink from_row(int64_t row) const {
      return {out + row * out_stride,
              out_stride,
              {fold.nearest + row * kPanelColumns, fold.slot_floats, fold.n}};
    }
  };

  // ---- one leaf ----

  // The stored weights of n_k values of k.
  struct Bytes {
    const std::byte* begin;
    int64_t n;
  };
  static Bytes bytes_of(const FormatKernels& kernels, const Panel& panel, int64_t k0, int64_t n_k) {
    return {panel.weights + k0 * kernels.block_bytes / kernels.k_per_block,
            n_k * kernels.block_bytes / kernels.k_per_block};
  }

  // Rows of each pass when passes of at most `most` rows are as equal as they can be.
  static int64_t rows_per_pass(int64_t n_rows, int64_t most) {
    const int64_t n_passes = (n_rows + most - 1) / most;
    return (n_rows + n_passes - 1) / n_passes;
  }

  // next: what the tiles fetch ahead between them.
  static void tiles(const float* w, int64_t n_k, const RowBlock& rows, int64_t k0, const Sink& sink,
                    const Bytes& next) {
    const int64_t per_tile = rows_per_pass(rows.n_rows, Tiles::kMaxRows);
    const int64_t n_tiles = (rows.n_rows + per_tile - 1) / per_tile;
    const int64_t stride = (next.n + n_tiles * n_k - 1) / (n_tiles * n_k);
    auto ahead = reinterpret_cast<uintptr_t>(next.begin);
    for (int64_t r = 0; r < rows.n_rows; r += per_tile) {
      const int64_t n = rows.n_rows - r < per_tile ? rows.n_rows - r : per_tile;
      const Sink to = sink.from_row(r);
      Tiles::template kernel<false>(n)(w, n_k, rows.x + r * rows.x_stride + k0, rows.x_stride,
                                       to.fold, to.out, to.out_stride,
                                       {ahead, static_cast<uintptr_t>(stride)});
      ahead += static_cast<uintptr_t>(stride * n_k);
    }
  }

  static LeafJob leaf_job(const Panel& panel, const RowBlock& rows, int64_t k0, int64_t n_k,
                          const Sink& sink) {
    return {.panel = panel.weights,
            .k0 = k0,
            .n_k = n_k,
            .x = rows.x + k0,
            .x_stride = rows.x_stride,
            .out = sink.out,
            .out_stride = sink.out_stride,
            .fold = sink.fold};
  }

  static void direct(const FormatKernels& kernels, const Panel& panel, const RowBlock& rows,
                     int64_t k0, int64_t n_k, const Sink& sink) {
    const int64_t per_pass = rows_per_pass(rows.n_rows, V::kDirectRows);
    for (int64_t r = 0; r < rows.n_rows; r += per_pass) {
      const int64_t n = rows.n_rows - r < per_pass ? rows.n_rows - r : per_pass;
      LeafJob job = leaf_job(panel, rows, k0, n_k, sink.from_row(r));
      job.x += r * rows.x_stride;
      kernels.direct->direct[n](job);
    }
  }

  static void leaf(const FormatKernels& kernels, const Panel& panel, const RowBlock& rows,
                   int64_t k0, int64_t n_k, const Sink& sink) {
    const bool aligned = k0 % kernels.alignment == 0 && n_k % kernels.alignment == 0;
    if (aligned && rows.n_rows <= kernels.direct_rows)
      return direct(kernels, panel, rows, k0, n_k, sink);
    const Bytes next = bytes_of(kernels, panel, k0 + n_k, n_k);
    if (kernels.unpack == nullptr) {
      const auto* w = reinterpret_cast<const float*>(panel.weights) + k0 * kPanelColumns;
      return tiles(w, n_k, rows, k0, sink, next);
    }
    const int64_t begin = k0 / kernels.alignment * kernels.alignment;
    const int64_t end = (k0 + n_k + kernels.alignment - 1) / kernels.alignment * kernels.alignment;
    kernels.unpack(panel.weights, begin, end - begin, rows.unpacked);
    tiles(rows.unpacked + (k0 - begin) * kPanelColumns, n_k, rows, k0, sink, next);
  }

  // ---- one panel, one block of rows ----

  // Partial sums waiting for their partner: slot(d) is (n_rows, 32).
  struct Slots {
    float* floats;
    int64_t slot_floats;
    int64_t depth;

    // For the next sum, which completes the n latest ones.
    Fold fold(int64_t n) const { return {floats + (depth - 1) * slot_floats, slot_floats, n}; }
    Sink sink(int64_t n) const {
      return {floats + (depth - n) * slot_floats, kPanelColumns, fold(n)};
    }
    void stored(int64_t n) { depth += 1 - n; }
  };

  // How many waiting sums the one with this index in its list completes.
  static int64_t completes(int64_t index) {
    return __builtin_ctzll(~static_cast<unsigned long long>(index));
  }

  // Depth never exceeds the digits of both counters and one sum in flight.
  static int64_t n_slots(int64_t n_in, int64_t n_segments) {
    const int64_t n_leaves = (n_in / n_segments + kTreeLeaf - 1) / kTreeLeaf;
    return bit_width_of(n_leaves) + bit_width_of(n_segments) + 1;
  }

  // Leaves of one segment. The last one also completes `last_joins` sums of earlier segments, and
  // goes to `last` when that is given.
  static void segment(const FormatKernels& kernels, const Panel& panel, const RowBlock& rows,
                      int64_t k0, int64_t n_k, int64_t last_joins, const Sink* last, Slots& slots) {
    const int64_t base = slots.depth;
    const typename Direct::Kernel pair = rows.n_rows <= 2 && k0 % kernels.alignment == 0
                                             ? kernels.direct->pair[rows.n_rows]
                                             : nullptr;
    for (int64_t done = 0, index = 0; done < n_k;) {
      const bool two = pair != nullptr && index % 2 == 0 && n_k - done >= 2 * kTreeLeaf;
      const int64_t left = n_k - done;
      const int64_t n = two ? 2 * kTreeLeaf : left < kTreeLeaf ? left : kTreeLeaf;
      index += two ? 1 : 0;  // of the pair's second leaf, whose partner is in registers
      const bool is_last = done + n == n_k;
      const int64_t joins =
          is_last ? slots.depth - base + last_joins : completes(index) - (two ? 1 : 0);
      Sink sink = slots.sink(joins);
      if (is_last && last != nullptr) sink.out = last->out, sink.out_stride = last->out_stride;
      if (two)
        pair(leaf_job(panel, rows, k0 + done, n, sink));
      else
        leaf(kernels, panel, rows, k0 + done, n, sink);
      slots.stored(joins);
      done += n, ++index;
    }
  }

  static void write_columns(const Panel& panel, const float* sums, int64_t n_rows, float* y,
                            int64_t y_stride) {
    for (int64_t r = 0; r < n_rows; ++r, sums += kPanelColumns, y += y_stride) {
      for (int64_t c = 0; c < panel.n_columns; ++c)
        y[c] = panel.bias == nullptr ? sums[c] : sums[c] + panel.bias[c];
    }
  }

  // y: row stride y_stride, at the panel's first column
  static void panel_rows(const CpuPackedMatrix& w, const Panel& panel, const RowBlock& rows,
                         float* slot_floats, float* y, int64_t y_stride) {
    const FormatKernels& kernels = kernels_of(panel.format);
    for (int64_t r = 0; r < rows.n_rows; ++r) {
      claim_line(y + r * y_stride);
      claim_line(y + r * y_stride + panel.n_columns - 1);
    }
    const bool whole = panel.n_columns == kPanelColumns && panel.bias == nullptr;
    const Sink to_y{y, y_stride, {}};
    Slots slots{slot_floats, rows.n_rows * kPanelColumns, 0};
    const int64_t segment_k = w.n_in / w.n_segments;
    for (int64_t s = 0; s < w.n_segments; ++s) {
      const bool is_last = s == w.n_segments - 1;
      segment(kernels, panel, rows, s * segment_k, segment_k, is_last ? slots.depth : completes(s),
              is_last && whole ? &to_y : nullptr, slots);
    }
    if (!whole) write_columns(panel, slot_floats, rows.n_rows, y, y_stride);
  }

  // The same with the segments' sums apart: y of the first, each next one segment_stride further.
  static void panel_segments(const CpuPackedMatrix& w, const Panel& panel, const RowBlock& rows,
                             float* slot_floats, float* y, int64_t segment_stride) {
    const FormatKernels& kernels = kernels_of(panel.format);
    const int64_t segment_k = w.n_in / w.n_segments;
    for (int64_t s = 0; s < w.n_segments; ++s) {
      Slots slots{slot_floats, rows.n_rows * kPanelColumns, 0};
      segment(kernels, panel, rows, s * segment_k, segment_k, 0, nullptr, slots);
      write_columns(panel, slot_floats, rows.n_rows, y + s * segment_stride, w.n_out);
    }
  }

  static void run_item(const Job& job, int64_t item) {
    const CpuPackedMatrix& w = *job.w;
    const int64_t row0 = item / job.n_panel_groups * job.rows_per_block;
    const int64_t n_rows =
        job.n_rows - row0 < job.rows_per_block ? job.n_rows - row0 : job.rows_per_block;
    float* unpacked = thread_scratch(kUnpackedRows * kPanelColumns +
                                     n_slots(w.n_in, w.n_segments) * n_rows * kPanelColumns);
    const RowBlock rows{job.x + row0 * w.n_in, w.n_in, n_rows, unpacked};
    const int64_t first = item % job.n_panel_groups * job.panels_per_group;
    const int64_t last =
        first + job.panels_per_group < w.n_panels ? first + job.panels_per_group : w.n_panels;
    for (int64_t p = first; p < last; ++p) {
      const Panel& panel = w.panels[p];
      float* slots = unpacked + kUnpackedRows * kPanelColumns;
      float* y = job.y + row0 * w.n_out + panel.first_column;
      job.segments == Segments::kApart
          ? panel_segments(w, panel, rows, slots, y, job.n_rows * w.n_out)
          : panel_rows(w, panel, rows, slots, y, w.n_out);
    }
  }

  // So many rows that x fills half of the second-level cache, where all panels of a group read it.
  static int64_t row_block(int64_t n_in) {
    const int64_t floats = second_level_cache_bytes() / 2 / 4;
    const int64_t n_tiles = floats / (n_in * Tiles::kMaxRows);
    return Tiles::kMaxRows * (n_tiles < 4 ? 4 : n_tiles > 32 ? 32 : n_tiles);
  }

  static void run(const PackedMatrix& packed, const float* x, int64_t n_rows, float* y,
                  ThreadPool& pool) {
    run_all(packed, x, n_rows, y, Segments::kTogether, pool);
  }
  static void run_segments(const PackedMatrix& packed, const float* x, int64_t n_rows, float* y,
                           ThreadPool& pool) {
    run_all(packed, x, n_rows, y, Segments::kApart, pool);
  }

  static void run_all(const PackedMatrix& packed, const float* x, int64_t n_rows, float* y,
                      Segments segments, ThreadPool& pool) {
    if (n_rows <= 0) return;
    const auto& w = static_cast<const CpuPackedMatrix&>(packed);
    // Coarse enough that handing out an item costs nothing, fine enough that threads finish
    // together.
    const int64_t wanted_items = pool.n_threads() == 1 ? 1 : 16 * pool.n_threads();
    const int64_t panels_per_group = w.n_panels / wanted_items > 1 ? w.n_panels / wanted_items : 1;
    const int64_t n_groups = (w.n_panels + panels_per_group - 1) / panels_per_group;
    const int64_t rows = rows_per_pass(n_rows, row_block(w.n_in));
    const int64_t n_blocks = (n_rows + rows - 1) / rows;
    const Job job{&w, x, y, n_rows, rows, n_groups, panels_per_group, segments};
    run_items(pool, n_groups * n_blocks, &job,
              [](const void* j, int64_t item) { run_item(*static_cast<const Job*>(j), item); });
  }
};

}  // namespace isobit
