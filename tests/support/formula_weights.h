// Weights that two languages compute exactly, so that a model needs no file of its own: what
// scripts/oracle/formula_weights.py says of the same tensors, which is also where the formula is
// described. Standard library only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/half.h"

namespace isobit::testing {

enum class FormulaKind { kSigned, kPositive, kE4M3 };

struct FormulaTensor {
  std::string name;  // also the seed
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;  // outermost first; empty: one number
  FormulaKind kind = FormulaKind::kSigned;
  double scale = 1;  // a power of two
  double offset = 0;

  size_t n_elements() const {
    size_t n = 1;
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    return n;
  }
};

inline uint64_t fnv1a(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return value;
}

inline uint64_t formula_bits(uint64_t start, size_t element) {
  uint64_t z = start + (element + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

inline float formula_value(const FormulaTensor& tensor, uint64_t bits) {
  if (tensor.kind == FormulaKind::kPositive)
    return static_cast<float>(tensor.scale * (1 + static_cast<double>(bits >> 41) * 0x1p-23));
  const double step = static_cast<double>(bits >> 57) - 64;
  return static_cast<float>(tensor.offset + tensor.scale * step / 64);
}

inline void append_little_endian(std::string& out, uint32_t value, int n_bytes) {
  for (int i = 0; i < n_bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

inline void append_value(std::string& out, const FormulaTensor& tensor, float value) {
  if (tensor.dtype == DType::kF32)
    return append_little_endian(out, std::bit_cast<uint32_t>(value), 4);
  const bool f16 = tensor.dtype == DType::kF16;
  const uint16_t half = f16 ? f16_from_f32(value) : bf16_from_f32(value);
  if ((f16 ? f32_from_f16(half) : f32_from_bf16(half)) != value)
    throw std::invalid_argument(tensor.name + ": a value is not exact in its dtype");
  append_little_endian(out, half, 2);
}

// As safetensors stores it: row-major, little-endian.
inline std::string formula_bytes(const FormulaTensor& tensor) {
  const uint64_t start = fnv1a(tensor.name);
  const size_t n = tensor.n_elements();
  std::string out;
  out.reserve(4 * n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t bits = formula_bits(start, i);
    if (tensor.kind == FormulaKind::kE4M3) {
      const uint64_t magnitude = std::min<uint64_t>(bits >> 56 & 127, 126);
      out += static_cast<char>(magnitude | bits >> 63 << 7);
    } else {
      append_value(out, tensor, formula_value(tensor, bits));
    }
  }
  return out;
}

}  // namespace isobit::testing
