// The functions of RowWork over a lane type (kernels/cpu/lanes_*.h). Included by one file per
// instruction set.
//
// `Loads` adds what this set needs of memory: load_u8(p), a vector of integers from as many bytes,
// and broadcast_f16(p), one f16 in every lane.
#pragma once

#include <cstring>

#include "kernels/adaptive/row_work.h"
#include "kernels/cpu/cpu_partial.h"
#include "numeric/dequantise.h"
#include "numeric/elementary.h"

namespace isobit::adaptive {

template <class V, class Loads>
struct LaneRowWork {
  using Int = typename V::Int;
  static constexpr int64_t kWidth = V::kWidth;

  static V rounded(V x) {
    const Int u = bits(x);
    const Int odd = shift_right<16>(u) & Int::broadcast(1);
    const Int nearest =
        (u + Int::broadcast(0x7FFF) + odd) & Int::broadcast(static_cast<int32_t>(0xFFFF0000));
    return select(x == x, from_bits(nearest), x);
  }

  static void round_to_bf16(float* values, int64_t n) {
    for (int64_t i = 0; i < n; i += kWidth) {
      store_first(rounded(load_first<V>(values + i, n - i)), values + i, n - i);
    }
  }

  static float sum_of_lanes(V v) {
    float lanes[kWidth];
    v.store(lanes);
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    return sum;
  }

  static float dot(const float* a, const float* b, int64_t n) {
    V sums[4] = {V::broadcast(0), V::broadcast(0), V::broadcast(0), V::broadcast(0)};
    int64_t i = 0;
    for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
      for (int64_t j = 0; j < 4; ++j) {
        sums[j] = fma(V::load(a + i + j * kWidth), V::load(b + i + j * kWidth), sums[j]);
      }
    }
    for (; i < n; i += kWidth) {
      sums[0] = fma(load_first<V>(a + i, n - i), load_first<V>(b + i, n - i), sums[0]);
    }
    return sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }

  // Low and high nibbles of 16 bytes: elements 0..15 and 16..31 of a block of 32.
  template <class Decode>
  static void nibbles(const std::byte* bytes, int64_t n_bytes, float* low, float* high,
                      Decode decode) {
    for (int64_t i = 0; i < n_bytes; i += kWidth) {
      const Int both = Loads::load_u8(bytes + i);
      decode.low(to_float(both & Int::broadcast(15))).store(low + i);
      decode.high(to_float(shift_right<4>(both))).store(high + i);
    }
  }

  struct Affine {  // fma(q, step, offset), the two halves alike
    V step, offset;
    V low(V q) const { return fma(q, step, offset); }
    V high(V q) const { return fma(q, step, offset); }
  };
  struct Scaled {  // d * (q - 8)
    V d;
    V low(V q) const { return d * (q - V::broadcast(8.0f)); }
    V high(V q) const { return d * (q - V::broadcast(8.0f)); }
  };
  struct TwoAffine {
    Affine first, second;
    V low(V q) const { return first.low(q); }
    V high(V q) const { return second.high(q); }
  };

  static void q8_0(const std::byte* block, float* out) {
    const V d = Loads::broadcast_f16(block);
    for (int64_t i = 0; i < 32; i += kWidth) (d * V::load_i8(block + 2 + i)).store(out + i);
  }
  static void q4_0(const std::byte* block, float* out) {
    nibbles(block + 2, 16, out, out + 16, Scaled{Loads::broadcast_f16(block)});
  }
  static void q4_1(const std::byte* block, float* out) {
    nibbles(block + 4, 16, out, out + 16,
            Affine{Loads::broadcast_f16(block), Loads::broadcast_f16(block + 2)});
  }
  static void q4_k(const std::byte* block, float* out) {
    const V d = Loads::broadcast_f16(block), dmin = Loads::broadcast_f16(block + 2);
    const KQuantScales scales = unpack_k_scales(reinterpret_cast<const uint8_t*>(block + 4));
    const auto group = [&](int g) {
      const V minimum = dmin * V::broadcast(scales.minimum[g]);
      return Affine{d * V::broadcast(scales.scale[g]), V::broadcast(0.0f) - minimum};
    };
    for (int pair = 0; pair < 4; ++pair) {
      float* low = out + 64 * pair;
      nibbles(block + 16 + 32 * pair, 32, low, low + 32,
              TwoAffine{group(2 * pair), group(2 * pair + 1)});
    }
  }
  // Elements 128h + 32k + i: low nibble of byte 64h + 32 (k mod 2) + i, high pair k of 32h + i.
  template <int K>
  static void q6_k_quarter(const std::byte* low, const std::byte* high, const std::byte* scales,
                           V d, float* out) {
    for (int64_t i = 0; i < 32; i += kWidth) {
      const Int nibble =
          shift_right<(K < 2 ? 0 : 4)>(Loads::load_u8(low + 32 * (K % 2) + i)) & Int::broadcast(15);
      const Int pair = shift_right<2 * K>(Loads::load_u8(high + i)) & Int::broadcast(3);
      const V q = to_float((nibble | shift_left<4>(pair)) - Int::broadcast(32));
      const auto scale = static_cast<float>(static_cast<int8_t>(scales[2 * K + i / 16]));
      (d * V::broadcast(scale) * q).store(out + 32 * K + i);
    }
  }
  static void q6_k(const std::byte* block, float* out) {
    const V d = Loads::broadcast_f16(block + 208);
    for (int half = 0; half < 2; ++half) {
      const std::byte *low = block + 64 * half, *high = block + 128 + 32 * half,
                      *scales = block + 192 + 8 * half;
      q6_k_quarter<0>(low, high, scales, d, out + 128 * half);
      q6_k_quarter<1>(low, high, scales, d, out + 128 * half);
      q6_k_quarter<2>(low, high, scales, d, out + 128 * half);
      q6_k_quarter<3>(low, high, scales, d, out + 128 * half);
    }
  }

  // n two-byte elements through `load`, which reads kWidth of them.
  template <class Load>
  static void two_byte(const std::byte* p, int64_t n, float* out, Load load) {
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) load(p + 2 * i).store(out + i);
    if (i == n) return;
    std::byte rest[2 * kWidth] = {};
    std::memcpy(rest, p + 2 * i, static_cast<size_t>(2 * (n - i)));
    store_first(load(rest), out + i, n - i);
  }

  template <class Block>
  static void blocks(const std::byte* p, int64_t n, int64_t elems, int64_t bytes, float* out,
                     Block block) {
    for (int64_t i = 0; i < n / elems; ++i) block(p + i * bytes, out + i * elems);
  }

  static void dequantise(DType dtype, const std::byte* row, int64_t n, float* out) {
    switch (dtype) {
      case DType::kF16:
        return two_byte(row, n, out, [](const void* p) { return V::load_f16(p); });
      case DType::kBF16:
        return two_byte(row, n, out, [](const void* p) { return V::load_bf16(p); });
      case DType::kQ8_0:
        return blocks(row, n, 32, 34, out, q8_0);
      case DType::kQ4_0:
        return blocks(row, n, 32, 18, out, q4_0);
      case DType::kQ4_1:
        return blocks(row, n, 32, 20, out, q4_1);
      case DType::kQ4_K:
        return blocks(row, n, 256, 144, out, q4_k);
      case DType::kQ6_K:
        return blocks(row, n, 256, 210, out, q6_k);
      default:
        return dequantise_row(dtype, row, n, out);
    }
  }

  static void load_cache(KvDType dtype, const std::byte* entries, int64_t first, int64_t n,
                         float* out) {
    if (dtype == KvDType::kF32) {
      std::memcpy(out, entries + 4 * first, static_cast<size_t>(4 * n));
    } else {
      dequantise(dtype == KvDType::kF16 ? DType::kF16 : DType::kBF16, entries + 2 * first, n, out);
    }
  }

  // Positions of block `b` that `row` sees.
  static int64_t visible(const AttendItem& item, int64_t row, int64_t b) {
    const int64_t n = item.positions[row] + 1 - b * kKvBlockTokens;
    return n < 0 ? 0 : n > kKvBlockTokens ? kKvBlockTokens : n;
  }
  // Positions of block `b` that lie before the window of `row`.
  static int64_t hidden(const AttendItem& item, int64_t row, int64_t b) {
    const int64_t n = item.shape->first_seen(item.positions[row]) - b * kKvBlockTokens;
    return n < 0 ? 0 : n > kKvBlockTokens ? kKvBlockTokens : n;
  }
  static int64_t cache_element(const AttendItem& item, int64_t b) {
    const KvLayerView& cache = *item.cache;
    return (item.block_table[b] * cache.n_kv_heads + item.kv_head) * cache.head_dim *
           kKvBlockTokens;
  }

  static V capped(const AttentionShape& shape, V s) {
    if (shape.soft_cap <= 0) return s;
    return V::broadcast(shape.cap_scale) * tanh_lanes(s / V::broadcast(shape.soft_cap));
  }

  // Scores of one query against a block of keys (head_dim, 16): s (16), -inf outside [first, end).
  static void scores(const float* q, const float* keys, const AttentionShape& shape, int64_t first,
                     int64_t end, float* s) {
    const int64_t head_dim = shape.head_dim;
    constexpr int64_t kVectors = kKvBlockTokens / kWidth;
    V sums[kVectors];
    for (V& v : sums) v = V::broadcast(0.0f);
    for (int64_t d = 0; d < head_dim; ++d) {
      const V q_d = V::broadcast(q[d]);
      for (int64_t j = 0; j < kVectors; ++j) {
        sums[j] = fma(q_d, V::load(keys + d * kKvBlockTokens + j * kWidth), sums[j]);
      }
    }
    for (int64_t j = 0; j < kVectors; ++j)
      capped(shape, sums[j] * V::broadcast(shape.score_scale)).store(s + j * kWidth);
    for (int64_t i = 0; i < kKvBlockTokens; ++i) {
      if (i < first || i >= end) s[i] = -__builtin_inff();
    }
  }

  // Turns n scores (a multiple of 16) into weights 2^(s - m); writes m and their sum l. A split
  // without positions (there are more splits than blocks) has m = -inf and l = 0.
  static void weights(float* s, int64_t n, float* m, float* l) {
    *m = -__builtin_inff();
    *l = 0;
    if (n == 0) return;
    V largest = V::load(s);
    for (int64_t i = kWidth; i < n; i += kWidth) largest = larger(largest, V::load(s + i));
    *m = largest_lane(largest);
    if (*m == -__builtin_inff()) return;
    V sum = V::broadcast(0.0f);
    for (int64_t i = 0; i < n; i += kWidth) {
      const V p = exp2_lanes(V::load(s + i) - V::broadcast(*m));
      p.store(s + i);
      sum = sum + p;
    }
    *l = sum_of_lanes(sum);
  }

  static void add_values(const float* p, const float* values, int64_t first, int64_t end,
                         int64_t head_dim, float* o) {
    for (int64_t d = 0; d < head_dim; d += kWidth) {
      V sum = load_first<V>(o + d, head_dim - d);
      for (int64_t i = first; i < end; ++i) {
        sum = fma(V::broadcast(p[i]), load_first<V>(values + i * head_dim + d, head_dim - d), sum);
      }
      store_first(sum, o + d, head_dim - d);
    }
  }

  template <class PerQuery>
  static void each_query(const AttendItem& item, PerQuery per_query) {
    for (int64_t r = 0; r < item.n_rows; ++r) {
      for (int64_t h = 0; h < item.n_heads; ++h) per_query(r, h, r * item.n_heads + h);
    }
  }

  static void attend(const AttendItem& item, float* scratch) {
    const int64_t head_dim = item.cache->head_dim, block_floats = head_dim * kKvBlockTokens;
    const int64_t n_scores = (item.end_block - item.first_block) * kKvBlockTokens;
    float *block = scratch, *all_scores = scratch + 2 * block_floats;
    for (int64_t b = item.first_block; b < item.end_block; ++b) {
      load_cache(item.cache->dtype, item.cache->keys, cache_element(item, b), block_floats, block);
      each_query(item, [&](int64_t r, int64_t h, int64_t query) {
        scores(item.q + r * item.q_stride + h * head_dim, block, *item.shape, hidden(item, r, b),
               visible(item, r, b),
               all_scores + query * n_scores + (b - item.first_block) * kKvBlockTokens);
      });
    }
    each_query(item, [&](int64_t r, int64_t h, int64_t query) {
      float* record = item.record(r, h);
      weights(all_scores + query * n_scores, n_scores, record, record + 1);
      for (int64_t d = 0; d < head_dim; ++d) record[2 + d] = 0;
    });
    for (int64_t b = item.first_block; b < item.end_block; ++b) {
      load_cache(item.cache->dtype, item.cache->values, cache_element(item, b), block_floats,
                 block);
      each_query(item, [&](int64_t r, int64_t h, int64_t query) {
        add_values(all_scores + query * n_scores + (b - item.first_block) * kKvBlockTokens, block,
                   hidden(item, r, b), visible(item, r, b), head_dim, item.record(r, h) + 2);
      });
    }
  }

  static constexpr RowWork table() { return {round_to_bf16, dequantise, dot, attend}; }
};

}  // namespace isobit::adaptive
