// The models of the goldens: generated ones whose sizes no real model has, and the prompt lengths
// and cache types that each is asked with. An entry never changes: its lines in expected.txt are
// the contract. New ones are added at the end.
#pragma once

#include <string>
#include <vector>

#include "kernels/ops.h"
#include "tests/support/random_checkpoint.h"

namespace isobit::testing {

struct GoldenModel {
  std::string name;
  RandomSizes sizes;
  std::vector<int> prompt_lengths;
  std::vector<KvDType> kv_dtypes;
};

// The bundled checkpoint's line.
inline const std::string kBundledName = "tiny-kjv";
inline const std::vector<int> kBundledPromptLengths = {1, 17, 140};

inline std::vector<GoldenModel> plain_golden_models() {
  RandomSizes ragged;  // hidden 160 and MLP 352: several leaves, ragged ones, R = 1
  RandomSizes segmented;
  segmented.hidden_size = 288;
  segmented.intermediate_size = 768;  // gcd(6, 768, 24) = 6: R = 6, segments of 128
  segmented.n_heads = 6;
  segmented.n_kv_heads = 3;
  segmented.head_dim = 36;
  segmented.qkv_bias = true;
  segmented.tied_head = false;
  RandomSizes half = ragged;
  half.dtype = DType::kBF16;
  RandomSizes odd;
  odd.hidden_size = 129;
  odd.intermediate_size = 257;
  odd.n_heads = 3;
  odd.n_kv_heads = 1;
  odd.head_dim = 22;
  odd.vocab_size = 1031;
  odd.dtype = DType::kF16;
  std::vector<GoldenModel> models;
  const auto add = [&](const char* name, const RandomSizes& sizes) {
    models.push_back(
        {name, sizes, {1, 17, 128, 300}, {KvDType::kF16, KvDType::kF32, KvDType::kBF16}});
  };
  add("ragged-f32", ragged);
  add("segmented-f32", segmented);
  add("ragged-bf16", half);
  add("odd-f16", odd);
  return models;
}

inline RandomSizes one_layer(DType dtype, int64_t hidden, int64_t intermediate, int64_t n_heads,
                             int64_t n_kv_heads, int64_t head_dim) {
  RandomSizes sizes;
  sizes.dtype = dtype;
  sizes.n_layers = 1;
  sizes.hidden_size = hidden;
  sizes.intermediate_size = intermediate;
  sizes.n_heads = n_heads;
  sizes.n_kv_heads = n_kv_heads;
  sizes.head_dim = head_dim;
  return sizes;
}

// Segments that are ragged, shorter than a block of a quantised format, or end inside one.
inline std::vector<GoldenModel> quantised_golden_models() {
  std::vector<GoldenModel> models;
  const auto add = [&](const char* name, const RandomSizes& sizes) {
    models.push_back({name, sizes, {1, 17, 140}, {KvDType::kF16}});
  };
  add("q8_0", one_layer(DType::kQ8_0, 160, 352, 4, 4, 40));  // R = 1
  add("q4_0", one_layer(DType::kQ4_0, 96, 288, 6, 1, 80));   // R = 3: 160 and 96 terms
  add("q4_1", one_layer(DType::kQ4_1, 192, 320, 2, 2, 48));  // R = 2: 48 and 160 terms
  add("q4_k", one_layer(DType::kQ4_K, 256, 768, 4, 2, 64));  // R = 4: 64 and 192 terms
  add("q6_k", one_layer(DType::kQ6_K, 256, 512, 8, 4, 32));  // R = 8: 32 and 64 terms
  return models;
}

inline std::vector<GoldenModel> golden_models() {
  std::vector<GoldenModel> models = plain_golden_models();
  for (GoldenModel& model : quantised_golden_models()) models.push_back(std::move(model));

  // R = 3: segments of 26 and of 224 terms.
  models.push_back(
      {"thirds-bf16", one_layer(DType::kBF16, 200, 672, 3, 3, 26), {1, 17, 140}, {KvDType::kF16}});
  RandomSizes wide = one_layer(DType::kF16, 72, 96, 2, 1, 10);
  wide.vocab_size = 9001;  // two whole blocks of log_sum_exp and a ragged one
  wide.tied_head = false;
  models.push_back({"wide-vocabulary-f16", wide, {1, 17, 140}, {KvDType::kF16}});
  // Six splits of attention.
  models.push_back({"long-f32",
                    one_layer(DType::kF32, 48, 64, 2, 1, 34),
                    {1, 129, 700},
                    {KvDType::kF16, KvDType::kF32, KvDType::kBF16}});
  return models;
}

}  // namespace isobit::testing
