#include "kernels/cpu/lanes_portable.h"

#include "kernels/adaptive/row_work_lanes.h"
#include "kernels/cpu/f16c.h"

namespace isobit::adaptive {
namespace {

struct PortableLoads {
  static PortableInt load_u8(const void* p) {
    uint8_t bytes[PortableInt::kWidth];
    std::memcpy(bytes, p, sizeof(bytes));
    PortableInt r;
    for (int i = 0; i < PortableInt::kWidth; ++i) r.v[i] = bytes[i];
    return r;
  }
  static PortableLanes broadcast_f16(const std::byte* p) {
    uint16_t h;
    std::memcpy(&h, p, sizeof(h));
    return PortableLanes::broadcast(f32_from_f16(h));
  }
};

}  // namespace

const RowWork kRowWorkPortable = LaneRowWork<PortableLanes, PortableLoads>::table();

const RowWork& row_work() {
#if defined(__x86_64__)
  static const bool has_avx2 = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  }();
  if (has_avx2) return kRowWorkAvx2;
#endif
  return kRowWorkPortable;
}

}  // namespace isobit::adaptive
