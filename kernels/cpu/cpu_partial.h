// Vectors that reach past the end of a row: loaded from and stored through a small buffer, so that
// every element goes through the same instructions and nothing outside the row is touched.
#pragma once

#include <cstdint>

namespace isobit {

// Asks for the cache line of p, which may lie past the end of its array, in a state that can be
// written. Other threads have read the array's last contents: without this every store waits until
// their caches have given the line up.
ISOBIT_LANES_INLINE void claim_line(const float* p) {
  __builtin_prefetch(p, 1, 3);
}

// Elements [0, n) of p, zeros above. REQUIRES: 0 < n.
template <class V>
ISOBIT_LANES_INLINE V load_first(const float* p, int64_t n) {
  if (n >= V::kWidth) return V::load(p);
  float buffer[V::kWidth] = {};
  for (int64_t i = 0; i < n; ++i) buffer[i] = p[i];
  return V::load(buffer);
}

template <class V>
ISOBIT_LANES_INLINE void store_first(const V& v, float* p, int64_t n) {
  if (n >= V::kWidth) return v.store(p);
  float buffer[V::kWidth];
  v.store(buffer);
  for (int64_t i = 0; i < n; ++i) p[i] = buffer[i];
}

// Lanes whose index is below n.
template <class V>
ISOBIT_LANES_INLINE typename V::Mask first_lanes(int64_t n) {
  static constexpr float kIndex[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return V::load(kIndex) < V::broadcast(static_cast<float>(n));
}

// Flips the sign, also of a zero: adding the sign bit does.
template <class V>
ISOBIT_LANES_INLINE V negate(const V& v) {
  return from_bits(bits(v) + V::Int::broadcast(INT32_MIN));
}

// The larger; where they compare the same, a.
template <class V>
ISOBIT_LANES_INLINE V larger(const V& a, const V& b) {
  return select(a < b, b, a);
}

// REQUIRES: every lane is 0 or NaN.
template <class V>
ISOBIT_LANES_INLINE bool any_nan(const V& v) {
  float lanes[V::kWidth];
  v.store(lanes);
  bool any = false;
  for (int i = 0; i < V::kWidth; ++i) any |= lanes[i] != 0.0f;
  return any;
}

template <class V>
ISOBIT_LANES_INLINE float largest_lane(const V& v) {
  float lanes[V::kWidth];
  v.store(lanes);
  float m = lanes[0];
  for (int i = 1; i < V::kWidth; ++i) m = m < lanes[i] ? lanes[i] : m;
  return m;
}

// Lanes(kLanes) of contract section 2: element i joins lane i mod kLanes.
template <class V, int kLanes>
struct LaneSums {
  static constexpr int kVectors = kLanes / V::kWidth;
  V v[kVectors];

  ISOBIT_LANES_INLINE LaneSums() {
    for (int i = 0; i < kVectors; ++i) v[i] = V::broadcast(0.0f);
  }

  // Folds by halves, lane j with lane j + half.
  float fold() const {
    float lanes[kLanes];
    for (int i = 0; i < kVectors; ++i) v[i].store(lanes + i * V::kWidth);
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) lanes[j] = lanes[j] + lanes[j + half];
    }
    return lanes[0];
  }
};

}  // namespace isobit
