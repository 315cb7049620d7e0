#if defined(__x86_64__)

#include "kernels/cpu/lanes_avx2.h"

#include "kernels/adaptive/row_work_lanes.h"

namespace isobit::adaptive {
namespace {

struct Avx2Loads {
  static Avx2Int load_u8(const void* p) {
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p)))};
  }
  static Avx2Lanes broadcast_f16(const std::byte* p) {
    uint16_t h;
    __builtin_memcpy(&h, p, sizeof(h));
    return {_mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(h)))};
  }
};

}  // namespace

const RowWork kRowWorkAvx2 = LaneRowWork<Avx2Lanes, Avx2Loads>::table();

}  // namespace isobit::adaptive

#endif
