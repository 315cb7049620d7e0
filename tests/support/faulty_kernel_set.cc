#include "tests/support/faulty_kernel_set.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/kv_cache.h"
#include "numeric/dequantise.h"
#include "numeric/lanes_scalar.h"

namespace isobit::testing {
namespace {

// The matrices of a layer in the order in which the model packs them.
enum class Place { kQkv, kAttentionOut, kGateUp, kDown, kHead };

// What the fault needs beside the good set's weights.
struct FaultyMatrix : PackedMatrix {
  std::unique_ptr<PackedMatrix> good;
  Place place = Place::kHead;
  int64_t layer = 0;
  std::unique_ptr<PackedMatrix> unsegmented;  // kSplitByRows
  std::vector<float> weights;                 // (n_out, n_in), kReorderedReduction
};

struct State {
  PlantedFault fault = PlantedFault::kNone;
  const KernelSet* good = nullptr;
  int64_t layer = 0;
  int64_t n_layers = 0;
  int64_t n_packed = 0;
  std::vector<const std::byte*> caches;  // keys of each layer, in order of use
  std::set<std::pair<const std::byte*, int32_t>> used_blocks;  // (keys, block): begun in this run

  // Layers write to their caches in order, so a cache's place in the list is its layer.
  int64_t layer_of(const KvLayerView& cache) {
    const auto at = std::find(caches.begin(), caches.end(), cache.keys);
    const int64_t index = at - caches.begin();
    if (at == caches.end()) caches.push_back(cache.keys);
    return index;
  }
};

State& state() {
  static State state;
  return state;
}

bool has_fault(PlantedFault fault, int64_t layer) {
  return state().fault == fault && state().layer == layer;
}

std::unique_ptr<PackedMatrix> pack(std::span<const MatrixPart> parts, int64_t n_segments,
                                   ThreadPool& pool) {
  State& s = state();
  auto m = std::make_unique<FaultyMatrix>();
  const int64_t ordinal = s.n_packed++ % (4 * s.n_layers + 1);
  m->layer = ordinal / 4;
  m->place = m->layer == s.n_layers ? Place::kHead : static_cast<Place>(ordinal % 4);
  m->good = s.good->pack(parts, n_segments, pool);
  m->n_out = m->good->n_out;
  m->n_in = m->good->n_in;
  m->n_segments = m->good->n_segments;
  m->packed_bytes = m->good->packed_bytes;
  if (has_fault(PlantedFault::kSplitByRows, m->layer) && m->place == Place::kAttentionOut)
    m->unsegmented = s.good->pack(parts, 1, pool);
  if (has_fault(PlantedFault::kReorderedReduction, m->layer) && m->place == Place::kDown) {
    m->weights.resize(static_cast<size_t>(m->n_out * m->n_in));
    const TensorView& w = *parts[0].weight;
    for (int64_t n = 0; n < m->n_out; ++n)
      dequantise_row(w.dtype, w.row(n), m->n_in, m->weights.data() + n * m->n_in);
  }
  return m;
}

void one_chain(const FaultyMatrix& m, const float* x, float* y) {
  for (int64_t n = 0; n < m.n_out; ++n) {
    float chain = 0.0f;
    const float* w = m.weights.data() + n * m.n_in;
    for (int64_t k = 0; k < m.n_in; ++k) chain = std::fma(x[k], w[k], chain);
    y[n] = chain;
  }
}

// Of the largest, because one ulp of a small element is rounded away before it reaches a logit.
void flip_ulp_of_largest(float* row, int64_t n) {
  float& largest =
      *std::max_element(row, row + n, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  largest = std::nextafterf(largest, HUGE_VALF);
}

void matmul(const PackedMatrix& w, const float* x, int64_t n_rows, float* y, ThreadPool& pool) {
  const auto& m = dynamic_cast<const FaultyMatrix&>(w);
  const bool split = m.unsegmented && n_rows > 8;
  state().good->matmul(split ? *m.unsegmented : *m.good, x, n_rows, y, pool);
  if (!m.weights.empty()) {
    for (int64_t r = 1; r < n_rows; r += 2) one_chain(m, x + r * m.n_in, y + r * m.n_out);
  }
  if (has_fault(PlantedFault::kFlippedUlp, m.layer) && m.place == Place::kDown && n_rows > 2)
    flip_ulp_of_largest(y + (n_rows - 1) * m.n_out, m.n_out);
}

void kv_write(const float* k, const float* v, int64_t row_stride, const BatchView& batch,
              const KvLayerView& cache, ThreadPool& pool) {
  State& s = state();
  const bool faulty = has_fault(PlantedFault::kStaleKvBlock, s.layer_of(cache));
  const auto is_lost = [&](int64_t r) {
    const int32_t position = batch.positions[r];
    if (!faulty || position % kKvBlockTokens != 0) return false;
    const int32_t block = batch.block_tables[batch.sequence_of_row[r]][position / kKvBlockTokens];
    return !s.used_blocks.emplace(cache.keys, block).second;
  };
  const auto write = [&](int64_t first, int64_t end) {
    BatchView rows = batch;
    rows.n_rows = end - first;
    rows.positions += first;
    rows.sequence_of_row += first;
    if (rows.n_rows > 0)
      s.good->kv_write(k + first * row_stride, v + first * row_stride, row_stride, rows, cache,
                       pool);
  };
  int64_t first = 0;
  for (int64_t r = 0; r < batch.n_rows; ++r) {
    if (!is_lost(r)) continue;
    write(first, r);
    first = r + 1;
  }
  write(first, batch.n_rows);
}

// Positions 0..last in one split: the contract's arithmetic, but for where it is cut.
void attend_in_one_split(const float* q, const AttentionShape& shape, int64_t head,
                         const KvLayerView& cache, const int32_t* table, int64_t last, float* out) {
  const int64_t dim = shape.head_dim, kv_width = shape.n_kv_heads * dim;
  const int64_t kv_head = head / (shape.n_heads / shape.n_kv_heads);
  std::vector<float> entry(static_cast<size_t>(2 * kv_width)), scores, lanes(16, 0.0f);
  float largest = -HUGE_VALF;
  for (int64_t p = 0; p <= last; ++p) {
    read_kv_entry(cache, table[p / kKvBlockTokens], p % kKvBlockTokens, entry.data());
    float chain = 0.0f;
    for (int64_t d = 0; d < dim; ++d)
      chain = std::fma(q[d], entry[static_cast<size_t>(kv_head * dim + d)], chain);
    scores.push_back(chain * shape.score_scale);
    largest = std::max(largest, scores.back());
  }
  std::fill(out, out + dim, 0.0f);
  for (int64_t p = 0; p <= last; ++p) {
    read_kv_entry(cache, table[p / kKvBlockTokens], p % kKvBlockTokens, entry.data());
    const float weight = exp2_f32(scores[static_cast<size_t>(p)] - std::ceil(largest));
    lanes[static_cast<size_t>(p % 16)] += weight;
    for (int64_t d = 0; d < dim; ++d)
      out[d] = std::fma(weight, entry[static_cast<size_t>(kv_width + kv_head * dim + d)], out[d]);
  }
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  for (int64_t d = 0; d < dim; ++d) out[d] /= lanes[0];
}

void attention(const float* q, int64_t q_stride, const AttentionShape& shape,
               const BatchView& batch, const KvLayerView& cache, float* out, ThreadPool& pool) {
  State& s = state();
  s.good->attention(q, q_stride, shape, batch, cache, out, pool);
  if (!has_fault(PlantedFault::kSplitBySequences, s.layer_of(cache)) || batch.n_sequences < 2)
    return;
  for (int64_t r = 0; r < batch.n_rows; ++r) {
    for (int64_t h = 0; h < shape.n_heads; ++h) {
      attend_in_one_split(q + r * q_stride + h * shape.head_dim, shape, h, cache,
                          batch.block_tables[batch.sequence_of_row[r]], batch.positions[r],
                          out + (r * shape.n_heads + h) * shape.head_dim);
    }
  }
}

}  // namespace

FaultyKernelSet::FaultyKernelSet(PlantedFault fault, const KernelSet& good, int64_t layer,
                                 int64_t n_layers)
    : set_(good) {
  ISOBIT_REQUIRE(state().good == nullptr);
  state() = {.fault = fault,
             .good = &good,
             .layer = layer,
             .n_layers = n_layers,
             .n_packed = 0,
             .caches = {},
             .used_blocks = {}};
  set_.claims = {};
  set_.pack = pack;
  set_.matmul = matmul;
  set_.kv_write = kv_write;
  set_.attention = attention;
}

FaultyKernelSet::~FaultyKernelSet() {
  state() = {};
}

void FaultyKernelSet::begin_run() {
  state().caches.clear();
  state().used_blocks.clear();
}

}  // namespace isobit::testing
