#include "tensor/dtype.h"

#include <array>

#include "base/error.h"

namespace isobit {
namespace {

struct Row {
  DType dtype;
  DTypeTraits traits;
};

constexpr std::array kTable = {
    Row{DType::kF32, {"F32", 1, 4, false}},
    Row{DType::kF16, {"F16", 1, 2, false}},
    Row{DType::kBF16, {"BF16", 1, 2, false}},
    Row{DType::kF64, {"F64", 1, 8, false}},
    Row{DType::kI8, {"I8", 1, 1, false}},
    Row{DType::kI16, {"I16", 1, 2, false}},
    Row{DType::kI32, {"I32", 1, 4, false}},
    Row{DType::kI64, {"I64", 1, 8, false}},
    Row{DType::kU8, {"U8", 1, 1, false}},
    Row{DType::kU16, {"U16", 1, 2, false}},
    Row{DType::kU32, {"U32", 1, 4, false}},
    Row{DType::kU64, {"U64", 1, 8, false}},
    Row{DType::kBool, {"BOOL", 1, 1, false}},
    Row{DType::kF8E4M3, {"F8_E4M3", 1, 1, false}},
    Row{DType::kF8E5M2, {"F8_E5M2", 1, 1, false}},
    Row{DType::kQ4_0, {"Q4_0", 32, 18, true}},
    Row{DType::kQ4_1, {"Q4_1", 32, 20, true}},
    Row{DType::kQ5_0, {"Q5_0", 32, 22, true}},
    Row{DType::kQ5_1, {"Q5_1", 32, 24, true}},
    Row{DType::kQ8_0, {"Q8_0", 32, 34, true}},
    Row{DType::kQ2_K, {"Q2_K", 256, 84, true}},
    Row{DType::kQ3_K, {"Q3_K", 256, 110, true}},
    Row{DType::kQ4_K, {"Q4_K", 256, 144, true}},
    Row{DType::kQ5_K, {"Q5_K", 256, 176, true}},
    Row{DType::kQ6_K, {"Q6_K", 256, 210, true}},
    Row{DType::kIQ4_NL, {"IQ4_NL", 32, 18, true}},
    Row{DType::kIQ4_XS, {"IQ4_XS", 256, 136, true}},
    Row{DType::kMXFP4, {"MXFP4", 32, 17, true}},
};

}  // namespace

const DTypeTraits& traits(DType dtype) {
  const auto index = static_cast<size_t>(dtype);
  ISOBIT_REQUIRE(index < kTable.size() && kTable[index].dtype == dtype);
  return kTable[index].traits;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& row : kTable) {
    if (row.traits.name == name) return row.dtype;
  }
  return std::nullopt;
}

bool engine_supports(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 ||
         traits(dtype).quantised;
}

bool engine_reads(DType dtype) {
  return engine_supports(dtype) || dtype == DType::kF8E4M3;
}

}  // namespace isobit
