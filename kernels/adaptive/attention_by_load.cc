// attention of `cpu-adaptive`: softmax over splits of the positions, as many splits as the step
// leaves room for.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "kernels/adaptive/adaptive_operators.h"
#include "kernels/adaptive/row_work.h"
#include "numeric/lanes_scalar.h"

namespace isobit::adaptive {
namespace {

constexpr int64_t kRowsPerTile = 16;
constexpr int64_t kWantedItems = 32;  // per step: what a small GPU would need to be busy

// Up to kRowsPerTile consecutive rows of one sequence.
struct Tile {
  int64_t first_row;
  int64_t n_rows;
  int64_t n_blocks;  // that its last row sees
};

std::vector<Tile> row_tiles(const BatchView& batch) {
  std::vector<Tile> tiles;
  for (int64_t r = 0; r < batch.n_rows; ++r) {
    const bool joins = !tiles.empty() && tiles.back().n_rows < kRowsPerTile &&
                       batch.sequence_of_row[tiles.back().first_row] == batch.sequence_of_row[r];
    if (!joins) tiles.push_back({r, 0, 0});
    ++tiles.back().n_rows;
    tiles.back().n_blocks = batch.positions[r] / kKvBlockTokens + 1;
  }
  return tiles;
}

// Joins the partial softmaxes of one query: records (n_splits), each m, l, o (head_dim).
void join_splits(const float* records, int64_t n_splits, int64_t head_dim, float* out) {
  const int64_t stride = head_dim + 2;
  float m = -std::numeric_limits<float>::infinity(), l = 0;
  for (int64_t s = 0; s < n_splits; ++s) m = std::max(m, records[s * stride]);
  std::fill(out, out + head_dim, 0.0f);
  for (int64_t s = 0; s < n_splits; ++s) {
    const float* record = records + s * stride;
    const float factor = exp2_f32(record[0] - m);
    l += record[1] * factor;
    for (int64_t d = 0; d < head_dim; ++d) out[d] += record[2 + d] * factor;
  }
  for (int64_t d = 0; d < head_dim; ++d) out[d] /= l;
}

struct Step {
  const float* q;
  int64_t q_stride;
  const AttentionShape& shape;
  const BatchView& batch;
  const KvLayerView& cache;
  int64_t n_splits;
  int64_t record_floats;

  // records: (n_rows, n_heads, n_splits, record_floats)
  AttendItem item(const Tile& tile, int64_t kv_head, int64_t split, float* records) const {
    const int64_t group = shape.n_heads / shape.n_kv_heads, head = kv_head * group;
    const int64_t width = (tile.n_blocks + n_splits - 1) / n_splits,
                  first = std::min(split * width, tile.n_blocks);
    return {.q = q + tile.first_row * q_stride + head * shape.head_dim,
            .q_stride = q_stride,
            .n_rows = tile.n_rows,
            .n_heads = group,
            .positions = batch.positions + tile.first_row,
            .block_table = batch.block_tables[batch.sequence_of_row[tile.first_row]],
            .first_block = first,
            .end_block = std::min(first + width, tile.n_blocks),
            .kv_head = kv_head,
            .shape = &shape,
            .cache = &cache,
            .partial = records +
                       ((tile.first_row * shape.n_heads + head) * n_splits + split) * record_floats,
            .partial_row_stride = shape.n_heads * n_splits * record_floats,
            .partial_head_stride = n_splits * record_floats};
  }
};

}  // namespace

int64_t splits_for_load(int64_t n_row_tiles, int64_t n_kv_heads) {
  return std::max<int64_t>(1, kWantedItems / (n_row_tiles * n_kv_heads));
}

void attention(const float* q, int64_t q_stride, const AttentionShape& shape,
               const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool) {
  ISOBIT_REQUIRE(shape.n_heads % shape.n_kv_heads == 0 && shape.n_kv_heads == cache.n_kv_heads);
  if (batch.n_rows == 0) return;
  const std::vector<Tile> tiles = row_tiles(batch);
  const auto n_tiles = static_cast<int64_t>(tiles.size());
  const int64_t n_splits = splits_for_load(n_tiles, shape.n_kv_heads),
                record_floats = shape.head_dim + 2;
  const Step step{q, q_stride, shape, batch, cache, n_splits, record_floats};
  std::vector<float> records(
      static_cast<size_t>(batch.n_rows * shape.n_heads * n_splits * record_floats));
  std::vector<std::vector<float>> scratch(static_cast<size_t>(pool.n_threads()));
  pool.run(static_cast<size_t>(n_tiles * shape.n_kv_heads * n_splits),
           [&](size_t index, int thread) {
             const auto i = static_cast<int64_t>(index);
             const Tile& tile = tiles[static_cast<size_t>(i / n_splits / shape.n_kv_heads)];
             const AttendItem item =
                 step.item(tile, i / n_splits % shape.n_kv_heads, i % n_splits, records.data());
             std::vector<float>& own = scratch[static_cast<size_t>(thread)];
             own.resize(std::max(own.size(), static_cast<size_t>(attend_scratch_floats(item))));
             row_work().attend(item, own.data());
           });
  pool.run(static_cast<size_t>(batch.n_rows), [&](size_t r, int) {
    float* row_out = out + static_cast<int64_t>(r) * shape.n_heads * shape.head_dim;
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      const float* of_query =
          records.data() + (static_cast<int64_t>(r) * shape.n_heads + h) * n_splits * record_floats;
      join_splits(of_query, n_splits, shape.head_dim, row_out + h * shape.head_dim);
    }
    row_work().round_to_bf16(row_out, shape.n_heads * shape.head_dim);
  });
}

}  // namespace isobit::adaptive
