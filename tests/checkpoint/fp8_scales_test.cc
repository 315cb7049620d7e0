#include "checkpoint/fp8_scales.h"

#include <doctest/doctest.h>

#include "tests/checkpoint/refusals.h"

using namespace isobit;
using namespace isobit::test;

namespace {

// An FP8 matrix of 4 x 6 with scales of `shape`.
std::string refusal_with(const Json& block_size, std::vector<int64_t> shape) {
  static const std::vector<std::byte> bytes(256);
  const auto view = [](const char* name, DType dtype, std::vector<int64_t> dims) {
    TensorView out;
    out.name = name;
    out.dtype = dtype;
    out.shape = std::move(dims);
    out.bytes =
        std::span(bytes).first(static_cast<size_t>(out.n_elems()) * (dtype == DType::kF32 ? 4 : 1));
    return out;
  };
  std::map<std::string, TensorView> tensors;
  tensors.emplace("w", view("w", DType::kF8E4M3, {4, 6}));
  tensors.emplace("w_scale_inv", view("w_scale_inv", DType::kF32, std::move(shape)));
  Json config = Json::object();
  config["quantization_config"] = {{"quant_method", "fp8"}};
  if (!block_size.is_null()) config["quantization_config"]["weight_block_size"] = block_size;
  return refusal([&] { attach_fp8_scales(config, tensors, "f"); });
}

}  // namespace

TEST_CASE("scales of FP8 weights fit their blocks, whatever size the file gives these") {
  CHECK(refusal_with({2, 4}, {2, 2}) == "[nothing was thrown]");
  CHECK(refusal_with({128, 128}, {1, 1}) == "[nothing was thrown]");
  CHECK(refusal_with({INT64_MAX, INT64_MAX}, {1, 1}) == "[nothing was thrown]");
  CHECK(refusal_with({INT64_MAX, INT64_MAX}, {2, 1}) ==
        "f: tensor 'w_scale_inv' has shape (2, 1), expected (1, 1)");
  CHECK(refusal_with({2, 4}, {2, 3}) ==
        "f: tensor 'w_scale_inv' has shape (2, 3), expected (2, 2)");
  CHECK(refusal_with({0, 4}, {2, 2}).ends_with("expected two positive numbers"));
  CHECK(refusal_with({2, 4, 1}, {2, 2}).ends_with("expected two positive numbers"));
  CHECK(refusal_with(nullptr, {1}) == "[nothing was thrown]");
  CHECK(refusal_with(nullptr, {2, 2}) ==
        "f: tensor 'w_scale_inv' has shape (2, 2), expected one number, since there is no "
        "weight_block_size");
}
