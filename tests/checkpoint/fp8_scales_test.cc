// FP8 weights of Hugging Face: every value of E4M3, which scale belongs to which element, and the
// refusal of scales that do not fit.
#include "checkpoint/fp8_scales.h"

#include <doctest/doctest.h>

#include <cmath>

#include "numeric/dequantise.h"
#include "tensor/half.h"
#include "tests/checkpoint/refusals.h"

using namespace isobit;
using namespace isobit::test;

namespace {

struct Stored {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::vector<std::byte>> bytes;

  void add(const std::string& name, DType dtype, std::vector<int64_t> shape,
           std::vector<std::byte> data) {
    bytes[name] = std::move(data);
    TensorView view;
    view.name = name;
    view.dtype = dtype;
    view.shape = std::move(shape);
    view.bytes = bytes[name];
    tensors[name] = view;
  }
  void add_weight(std::vector<int64_t> shape) {
    std::vector<std::byte> data(static_cast<size_t>(shape[0] * shape[1]));
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 % 126);
    add("w.weight", DType::kF8E4M3, std::move(shape), std::move(data));
  }
  void add_scales(const std::string& name, std::vector<int64_t> shape,
                  const std::vector<float>& values) {
    const auto* p = reinterpret_cast<const std::byte*>(values.data());
    add(name, DType::kF32, std::move(shape), {p, p + 4 * values.size()});
  }
};

Json blocks_of(int64_t rows, int64_t columns) {
  return {
      {"quantization_config", {{"quant_method", "fp8"}, {"weight_block_size", {rows, columns}}}}};
}

std::string refused(Stored& stored, const Json& config) {
  return refusal([&] { attach_fp8_scales(config, stored.tensors, "c"); });
}

}  // namespace

TEST_CASE("E4M3: every value") {
  for (int b = 0; b < 256; ++b) {
    const float value = f32_from_e4m3(static_cast<uint8_t>(b));
    const int exponent = b >> 3 & 15, mantissa = b & 7;
    if (exponent == 15 && mantissa == 7) {
      CHECK(std::isnan(value));
      continue;
    }
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    CHECK(value == (b < 128 ? size : -size));
    CHECK(std::signbit(value) == (b >= 128));
  }
  CHECK(f32_from_e4m3(0x7E) == 448.0f);  // the largest
  CHECK(f32_from_e4m3(0x01) == 0x1p-9f);
}

TEST_CASE("each element is multiplied by the scale of its block, ragged blocks included") {
  for (const char* name : {"w.weight_scale_inv", "w.weight_scale"}) {
    Stored stored;
    stored.add_weight({5, 7});
    stored.add_scales(name, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 0.3f});
    attach_fp8_scales(blocks_of(2, 3), stored.tensors, "c");
    const TensorView& w = stored.tensors.at("w.weight");
    for (int64_t r = 0; r < 5; ++r) {
      std::vector<float> row(7), plain(7);
      dequantise_tensor_row(w, r, row.data());
      dequantise_row(DType::kF8E4M3, w.row(r), 7, plain.data());
      const float scales[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 0.3f}};
      for (size_t c = 0; c < 7; ++c) CHECK(row[c] == plain[c] * scales[r / 2][c / 3]);
    }
  }
}

TEST_CASE("a block larger than any matrix is as large as the matrix") {
  Stored stored;
  stored.add_weight({5, 7});
  stored.add_scales("w.weight_scale_inv", {1, 1}, {0.5f});
  attach_fp8_scales(blocks_of(INT64_MAX, INT64_MAX - 100), stored.tensors, "c");
  std::vector<float> row(7), plain(7);
  dequantise_tensor_row(stored.tensors.at("w.weight"), 4, row.data());
  dequantise_row(DType::kF8E4M3, stored.tensors.at("w.weight").row(4), 7, plain.data());
  for (size_t c = 0; c < 7; ++c) CHECK(row[c] == plain[c] * 0.5f);
}

TEST_CASE("one scale for a whole tensor, as a number or as a list of one") {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    Stored stored;
    stored.add_weight({2, 3});
    stored.add_scales("w.weight_scale", shape, {0.25f});
    attach_fp8_scales({{"quantization_config", {{"quant_method", "fp8"}}}}, stored.tensors, "c");
    std::vector<float> row(3), plain(3);
    dequantise_tensor_row(stored.tensors.at("w.weight"), 1, row.data());
    dequantise_row(DType::kF8E4M3, stored.tensors.at("w.weight").row(1), 3, plain.data());
    for (size_t c = 0; c < 3; ++c) CHECK(row[c] == plain[c] * 0.25f);
  }
}

TEST_CASE("scales that do not fit their weight are refused by name") {
  Stored none;
  none.add_weight({4, 4});
  CHECK(refused(none, blocks_of(2, 2)) ==
        "c: tensor 'w.weight' is stored as F8_E4M3, but there is no 'w.weight_scale_inv'");
  Stored wrong;
  wrong.add_weight({4, 4});
  wrong.add_scales("w.weight_scale_inv", {2, 1}, {1, 1});
  CHECK(refused(wrong, blocks_of(2, 2)) ==
        "c: tensor 'w.weight_scale_inv' has shape (2, 1), expected (2, 2)");
  CHECK(refused(wrong, Json::object()) ==
        "c: tensor 'w.weight_scale_inv' has shape (2, 1), expected one number, since there is no "
        "weight_block_size");
  CHECK(refused(wrong, blocks_of(0, 2)) ==
        "c: config.json: quantization_config: weight_block_size is '[0,2]', expected two positive "
        "numbers");
  Stored typed;
  typed.add_weight({4, 4});
  typed.add("w.weight_scale_inv", DType::kI32, {2, 2}, std::vector<std::byte>(16));
  CHECK(refused(typed, blocks_of(2, 2)) ==
        "c: tensor 'w.weight_scale_inv' is stored as I32, expected F32, F16 or BF16 for scales");
  Stored shaped;
  shaped.add("w.weight", DType::kF8E4M3, {4}, std::vector<std::byte>(4));
  shaped.add_scales("w.weight_scale", {1}, {1});
  CHECK(refused(shaped, Json::object()) ==
        "c: tensor 'w.weight' is F8_E4M3 with shape (4), expected a matrix");
}

TEST_CASE("scales fit their blocks, whatever size the file gives these") {
  const auto refusal_with = [](const Json& block_size, const std::vector<int64_t>& shape) {
    Stored stored;
    stored.add_weight({4, 6});
    size_t n = 1;
    for (const int64_t d : shape) n *= static_cast<size_t>(d);
    stored.add_scales("w.weight_scale_inv", shape, std::vector<float>(n, 1));
    return refused(stored, {{"quantization_config",
                             {{"quant_method", "fp8"}, {"weight_block_size", block_size}}}});
  };
  CHECK(refusal_with({2, 4}, {2, 2}) == "[nothing was thrown]");
  CHECK(refusal_with({128, 128}, {1, 1}) == "[nothing was thrown]");
  CHECK(refusal_with({INT64_MAX, INT64_MAX}, {2, 1}) ==
        "c: tensor 'w.weight_scale_inv' has shape (2, 1), expected (1, 1)");
  CHECK(refusal_with({2, 4}, {2, 3}) ==
        "c: tensor 'w.weight_scale_inv' has shape (2, 3), expected (2, 2)");
  CHECK(refusal_with({2, 4, 1}, {2, 2}).ends_with("expected two positive numbers"));
  CHECK(refusal_with(nullptr, {1}) == "[nothing was thrown]");
}
