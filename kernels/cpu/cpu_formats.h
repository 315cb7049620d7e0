// How the panels of cpu_packed.h become exact f32 weights, one vector of columns at a time (numeric
// contract section 4).
//
// A block format answers three questions, all at a multiple of 8 of k:
//   scales(panel, k, c)  what holds for kSpan consecutive k (k a multiple of kSpan), columns
//   c..c+width held(panel, k, c)    what one load keeps for 8 consecutive k weight<J>(held, s) the
//   weights at k + J
// (k is unsigned there, so that finding a block is a shift.) A plain format has only weight(panel,
// k, c), at any k.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/cpu_packed.h"

namespace isobit {

template <class V>
struct PlainF32 {
  static constexpr int64_t kBytes = 4;
  ISOBIT_LANES_INLINE static V weight(const std::byte* panel, int64_t k, int64_t c) {
    return V::load(panel + (k * kPanelColumns + c) * 4);
  }
};

template <class V>
struct PlainF16 {
  static constexpr int64_t kBytes = 2;
  ISOBIT_LANES_INLINE static V weight(const std::byte* panel, int64_t k, int64_t c) {
    return V::load_f16(panel + (k * kPanelColumns + c) * 2);
  }
};

template <class V>
struct PlainBf16 {
  static constexpr int64_t kBytes = 2;
  ISOBIT_LANES_INLINE static V weight(const std::byte* panel, int64_t k, int64_t c) {
    return V::load_bf16(panel + (k * kPanelColumns + c) * 2);
  }
};

template <class V>
struct BlockQ8_0 {
  static constexpr int64_t kSpan = 32;
  static constexpr uint64_t kBlock = 32, kBlockBytes = 34 * kPanelColumns;
  struct Scales {
    V d;
  };
  struct Held {
    const std::byte* quants;  // of k
  };
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    return {V::load_f16(panel + k / 32 * kBlockBytes + c * 2)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return {panel + k / 32 * kBlockBytes + 64 + static_cast<int64_t>(k % 32) * kPanelColumns + c};
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return s.d * V::load_i8(held.quants + J * kPanelColumns);
  }
};

template <class V>
struct BlockSteps {
  static constexpr int64_t kSpan = 16;
  static constexpr uint64_t kBlock = 32, kBlockBytes = (2 * 4 + 32) * kPanelColumns;
  struct Scales {
    V step;
  };
  struct Held {
    const std::byte* quants;  // of k
  };
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* steps = panel + k / 32 * kBlockBytes;
    return {V::load(steps + (static_cast<int64_t>(k % 32 / 16) * kPanelColumns + c) * 4)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return {panel + k / 32 * kBlockBytes + 2 * 4 * kPanelColumns +
            static_cast<int64_t>(k % 32) * kPanelColumns + c};
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return s.step * V::load_i8(held.quants + J * kPanelColumns);
  }
};

template <class V>
struct BlockStepsOffsets {
  static constexpr int64_t kSpan = 16;
  static constexpr uint64_t kBlock = 32, kBlockBytes = (4 * 4 + 32) * kPanelColumns;
  struct Scales {
    V step, offset;
  };
  struct Held {
    const std::byte* quants;  // of k
  };
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* steps =
        panel + k / 32 * kBlockBytes + (static_cast<int64_t>(k % 32 / 16) * kPanelColumns + c) * 4;
    return {V::load(steps), V::load(steps + 2 * 4 * kPanelColumns)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return {panel + k / 32 * kBlockBytes + 4 * 4 * kPanelColumns +
            static_cast<int64_t>(k % 32) * kPanelColumns + c};
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return fma(V::load_i8(held.quants + J * kPanelColumns), s.step, s.offset);
  }
};

template <class V>
struct BlockQ4_0 {
  static constexpr int64_t kSpan = 32;
  static constexpr uint64_t kBlock = 32, kBlockBytes = 18 * kPanelColumns;
  struct Scales {
    V d;
  };
  using Held = typename V::Int;
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    return {V::load_f16(panel + k / 32 * kBlockBytes + c * 2)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return Held::load(panel + k / 32 * kBlockBytes + 64 +
                      (static_cast<int64_t>(k % 32 / 8) * kPanelColumns + c) * 4);
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return s.d * nibble_less_8<4 * J>(held);
  }
};

template <class V>
struct BlockQ4_1 {
  static constexpr int64_t kSpan = 32;
  static constexpr uint64_t kBlock = 32, kBlockBytes = 20 * kPanelColumns;
  struct Scales {
    V d, m;
  };
  using Held = typename V::Int;
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* block = panel + k / 32 * kBlockBytes;
    return {V::load_f16(block + c * 2), V::load_f16(block + 64 + c * 2)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return Held::load(panel + k / 32 * kBlockBytes + 128 +
                      (static_cast<int64_t>(k % 32 / 8) * kPanelColumns + c) * 4);
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return fma(nibble<4 * J>(held), s.d, s.m);
  }
};

template <class V>
struct BlockQ4_K {
  static constexpr int64_t kSpan = 32;
  static constexpr uint64_t kBlock = 256, kBlockBytes = 144 * kPanelColumns;
  struct Scales {
    V d, m;  // d * scale and -(dmin * min)
  };
  using Held = typename V::Int;
  using Int = typename V::Int;
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* block = panel + k / 256 * kBlockBytes;
    const int i = static_cast<int>(k % 256 / 32);
    const std::byte* words = block + 128 + c * 4;
    const Int high = Int::load(words + 256);
    const V scale = six_bits(shift_right_by(Int::load(words), 4 * i), shift_right_by(high, 2 * i));
    const V min =
        six_bits(shift_right_by(Int::load(words + 128), 4 * i), shift_right_by(high, 16 + 2 * i));
    const V offset = V::load_f16(block + 64 + c * 2) * min;
    // Adding the sign bit flips it, also of a zero.
    return {V::load_f16(block + c * 2) * scale,
            from_bits(bits(offset) + Int::broadcast(INT32_MIN))};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    return Held::load(panel + k / 256 * kBlockBytes + 512 +
                      (static_cast<int64_t>(k % 256 / 8) * kPanelColumns + c) * 4);
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    return fma(nibble<4 * J>(held), s.d, s.m);
  }

 private:
  ISOBIT_LANES_INLINE static V six_bits(Int low, Int high) {
    return to_float((low & Int::broadcast(15)) | shift_left<4>(high & Int::broadcast(3)));
  }
};

template <class V>
struct BlockQ6_K {
  static constexpr int64_t kSpan = 16;
  static constexpr uint64_t kBlock = 256, kBlockBytes = 210 * kPanelColumns;
  struct Scales {
    V d;  // d * scale
  };
  using Int = typename V::Int;
  struct Held {
    Int low, high;  // 4 and 2 bits of each of 8 k
  };
  ISOBIT_LANES_INLINE static Scales scales(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* block = panel + k / 256 * kBlockBytes;
    return {V::load_f16(block + c * 2) *
            V::load_i8(block + 64 + static_cast<int64_t>(k % 256 / 16) * kPanelColumns + c)};
  }
  ISOBIT_LANES_INLINE static Held held(const std::byte* panel, uint64_t k, int64_t c) {
    const std::byte* low = panel + k / 256 * kBlockBytes + 576;
    const std::byte* high = low + 4096;
    const int second_half = static_cast<int>(k % 16);  // 0 or 8 values of 2 bits
    return {Int::load(low + (static_cast<int64_t>(k % 256 / 8) * kPanelColumns + c) * 4),
            shift_right_by(
                Int::load(high + (static_cast<int64_t>(k % 256 / 16) * kPanelColumns + c) * 4),
                2 * second_half)};
  }
  template <int J>
  ISOBIT_LANES_INLINE static V weight(Held held, const Scales& s) {
    const Int low = shift_right<4 * J>(held.low) & Int::broadcast(15);
    const Int high = shift_left<4>(shift_right<2 * J>(held.high) & Int::broadcast(3));
    return s.d * to_float((low | high) - Int::broadcast(32));
  }
};

}  // namespace isobit
