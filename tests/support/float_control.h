// Planted faults for the floating-point control word, and a probe that looks at what arithmetic
// does rather than at register bits.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace isobit::testing {

#if defined(__SSE2__) || defined(__aarch64__)
#define ISOBIT_CAN_FLUSH_SUBNORMALS 1

// One way in which a control word can break the arithmetic.
struct FloatFault {
  const char* name;
  uint64_t bits;  // of MXCSR, or of FPCR
};
#if defined(__SSE2__)
inline constexpr FloatFault kFloatFaults[] = {{"FTZ", 0x8000}, {"DAZ", 0x0040}, {"both", 0x8040}};
#else
inline constexpr FloatFault kFloatFaults[] = {{"FZ", uint64_t{1} << 24}};
#endif

inline uint64_t read_float_control() {
#if defined(__SSE2__)
  return _mm_getcsr();
#else
  uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
#endif
}

inline void write_float_control(uint64_t word) {
#if defined(__SSE2__)
  _mm_setcsr(static_cast<unsigned>(word));
#else
  asm volatile("msr fpcr, %0" ::"r"(word));
#endif
}

// Plants the fault in the calling thread.
inline void plant(const FloatFault& fault) {
  write_float_control(read_float_control() | fault.bits);
}

// Gives the calling thread its control word back.
class FloatControlGuard {
 public:
  FloatControlGuard() : word_(read_float_control()) {}
  ~FloatControlGuard() { write_float_control(word_); }
  FloatControlGuard(const FloatControlGuard&) = delete;
  FloatControlGuard& operator=(const FloatControlGuard&) = delete;

 private:
  uint64_t word_;
};
#endif

// Whether a subnormal survives as an operand and as a result on the calling thread.
inline bool keeps_subnormals() {
  volatile float smallest = 0x1p-149f, one = 1.0f, smallest_normal = 0x1p-126f, half = 0.5f;
  const volatile float as_operand = smallest * one, as_result = smallest_normal * half;
  return std::bit_cast<uint32_t>(float{as_operand}) == 1 &&
         std::bit_cast<uint32_t>(float{as_result}) == 0x00400000;
}

}  // namespace isobit::testing
