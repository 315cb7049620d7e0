#include "checkpoint/hf_config.h"

#include <doctest/doctest.h>

#include <functional>

#include "checkpoint/model_tensors.h"
#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

ModelConfig read_with(const std::function<void(Json&)>& change) {
  Json json = SmallModel{}.config();
  change(json);
  ModelConfig config = read_hf_config(json, "c");
  check_sizes(config, "c");
  return config;
}
std::string refused(const std::function<void(Json&)>& change) {
  return refusal([&] { read_with(change); });
}

}  // namespace

TEST_CASE("the names of before and after transformers 5 give the same model") {
  const ModelConfig old_names = read_with([](Json& c) {
    c["rope_theta"] = 500000.0;
    c["rope_scaling"] = nullptr;
    c["torch_dtype"] = "bfloat16";
  });
  const ModelConfig new_names = read_with([](Json& c) {
    c.erase("rope_theta");
    c["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
    c["dtype"] = "bfloat16";
  });
  CHECK(old_names.rope_theta == 500000.0);
  CHECK(new_names.rope_theta == 500000.0);
  CHECK(read_with([](Json& c) {
          c["rope_parameters"] = {{"rope_theta", 10000.0}};
        }).rope_theta == 10000.0);
  CHECK(read_with([](Json& c) { c["rope_theta"] = 10000; }).rope_theta == 10000.0);
}

TEST_CASE("a configuration that contradicts itself is refused") {
  CHECK(refused([](Json& c) {
          c["rope_parameters"] = {{"rope_theta", 500000.0}};
        }) == "c: rope_theta is 10000.0, but rope_parameters.rope_theta is 500000.0");
  CHECK(refused([](Json& c) { c["dtype"] = "float16", c["torch_dtype"] = "bfloat16"; }) ==
        "c: dtype is 'float16', but torch_dtype is 'bfloat16'");
  CHECK(refused([](Json& c) { c["model_type"] = "qwen2"; }) ==
        "c: architectures says 'LlamaForCausalLM', but model_type says 'qwen2'");
  CHECK(refused([](Json& c) {
          c["rope_scaling"] = {{"rope_type", "default"}, {"type", "linear"}};
        }) == "c: rope_scaling: rope_type is 'default', but type is 'linear'");
}

TEST_CASE("defaults are those of the model's class") {
  const ModelConfig config = read_with([](Json& c) {
    for (const char* key : {"num_key_value_heads", "tie_word_embeddings", "rope_theta",
                            "hidden_act", "bos_token_id", "eos_token_id"})
      c.erase(key);
    c["head_dim"] = nullptr;
  });
  CHECK(config.n_kv_heads == 2);
  CHECK(config.head_dim == 2);
  CHECK(config.rope_theta == 10000);
  CHECK_FALSE(config.tied_head);
  CHECK(config.eos_token_ids.empty());
  CHECK(read_with([](Json& c) { c["architectures"] = nullptr; }).architecture == "llama");
  const ModelConfig qwen = read_with(
      [](Json& c) { c["architectures"] = {"Qwen2ForCausalLM"}, c["model_type"] = "qwen2"; });
  CHECK(qwen.qkv_bias);
  CHECK(qwen.architecture == "qwen2");
}

TEST_CASE("arithmetic that this version does not have is refused by name") {
  CHECK(refused([](Json& c) { c["architectures"] = {"GemmaForCausalLM"}; }) ==
        "c: architecture 'GemmaForCausalLM' is not supported");
  CHECK(refused([](Json& c) { c.erase("architectures"), c["model_type"] = "phi3"; }) ==
        "c: architecture 'phi3' is not supported");
  CHECK(refused([](Json& c) { c.erase("architectures"), c.erase("model_type"); }) ==
        "c: neither architectures nor model_type says what the model is");
  for (const std::string type : {"llama3", "linear", "dynamic", "yarn", "longrope"}) {
    CHECK(refused([&](Json& c) {
            c["rope_scaling"] = {{"rope_type", type}, {"factor", 8.0}};
          }) == "c: rope_scaling: rope scaling of type '" + type + "' is not supported");
    CHECK(refused([&](Json& c) {
            c["rope_scaling"] = {{"type", type}, {"factor", 8.0}};
          }) == "c: rope_scaling: rope scaling of type '" + type + "' is not supported");
    CHECK(refused([&](Json& c) {
            c["rope_parameters"] = {{"rope_type", type}, {"rope_theta", 10000.0}};
          }) == "c: rope_parameters: rope scaling of type '" + type + "' is not supported");
  }
  CHECK(refused([](Json& c) {
          c["rope_parameters"] = {{"full_attention", {{"rope_theta", 1e6}}}};
        }) ==
        "c: rope_parameters: rotary positions that differ by layer type are not supported "
        "('full_attention')");
  CHECK(refused([](Json& c) { c["partial_rotary_factor"] = 0.5; }) ==
        "c: partial_rotary_factor other than 1 is not supported");
  CHECK(refused([](Json& c) { c["attention_bias"] = true; }) ==
        "c: attention_bias is true, which is not supported");
  CHECK(refused([](Json& c) { c["mlp_bias"] = true; }) ==
        "c: mlp_bias is true, which is not supported");
  CHECK(refused([](Json& c) { c["hidden_act"] = "gelu"; }) ==
        "c: hidden_act 'gelu' is not supported, only 'silu'");
  CHECK(refused([](Json& c) { c["num_local_experts"] = 8; }) ==
        "c: num_local_experts: mixtures of experts are not supported");
  CHECK(refused([](Json& c) {
          c["quantization_config"] = {{"quant_method", "gptq"}};
        }) == "c: weights quantised by 'gptq' are not supported");
}

TEST_CASE("a sliding window is refused only where it is in force") {
  const auto mistral = [](Json& c) {
    c["architectures"] = {"MistralForCausalLM"}, c["model_type"] = "mistral";
  };
  const auto qwen = [](Json& c) {
    c["architectures"] = {"Qwen2ForCausalLM"}, c["model_type"] = "qwen2";
  };
  const std::string in_force =
      "c: sliding_window 16 of a context of 64 is in force, and sliding-window attention is not "
      "supported";
  CHECK(refused([&](Json& c) { mistral(c), c["sliding_window"] = 16; }) == in_force);
  CHECK(read_with([&](Json& c) { mistral(c), c["sliding_window"] = nullptr; }).architecture ==
        "mistral");
  CHECK(read_with([&](Json& c) { mistral(c), c["sliding_window"] = 64; }).architecture ==
        "mistral");
  CHECK(read_with([&](Json& c) {
          qwen(c), c["sliding_window"] = 16, c["use_sliding_window"] = false;
        }).architecture == "qwen2");
  CHECK(refused([&](Json& c) {
          qwen(c), c["sliding_window"] = 16, c["use_sliding_window"] = true;
        }) == in_force);
  CHECK(refused([&](Json& c) {
          qwen(c), c["layer_types"] = {"full_attention", "sliding_attention"};
        }) == "c: layer_types holds '\"sliding_attention\"'; only full_attention is supported");
}

TEST_CASE("fields of the wrong type or size are refused by name") {
  CHECK(refused([](Json& c) { c.erase("hidden_size"); }) == "c: no hidden_size");
  CHECK(refused([](Json& c) { c.erase("rms_norm_eps"); }) == "c: no rms_norm_eps");
  CHECK(refused([](Json& c) { c["hidden_size"] = "4"; }) ==
        "c: hidden_size is '\"4\"', expected a whole number");
  CHECK(refused([](Json& c) { c["hidden_size"] = 4.5; }) ==
        "c: hidden_size is '4.5', expected a whole number");
  CHECK(refused([](Json& c) { c["hidden_size"] = 18446744073709551615u; }) ==
        "c: hidden_size is '18446744073709551615', expected a whole number");
  CHECK(refused([](Json& c) { c["num_hidden_layers"] = 0; }) ==
        "c: num_hidden_layers is 0, expected 1 to 2147483647");
  CHECK(refused([](Json& c) { c["vocab_size"] = -3; }) ==
        "c: vocab_size is -3, expected 1 to 2147483647");
  CHECK(refused([](Json& c) { c["vocab_size"] = int64_t{1} << 40; }) ==
        "c: vocab_size is 1099511627776, expected 1 to 2147483647");
  CHECK(refused([](Json& c) { c["num_attention_heads"] = 0, c.erase("head_dim"); }) ==
        "c: hidden_size 4 is not a multiple of num_attention_heads 0, and there is no head_dim");
  CHECK(refused([](Json& c) { c["tie_word_embeddings"] = 1; }) ==
        "c: tie_word_embeddings is '1', expected true or false");
  CHECK(refused([](Json& c) { c["rms_norm_eps"] = 0; }) ==
        "c: rms_norm_eps is 0.000000, expected a small positive number");
  CHECK(refused([](Json& c) { c["rope_theta"] = -1; }) ==
        "c: rope_theta is -1.000000, expected 1 to 1e12");
  CHECK(refused([](Json& c) { c["eos_token_id"] = 3; }) ==
        "c: special token id 3 is outside the vocabulary of 3");
  CHECK(refused([](Json& c) {
          c["eos_token_id"] = {1, "2"};
        }) == "c: eos_token_id is '\"2\"', expected a token id");
  CHECK(refused([](Json& c) { c["eos_token_id"] = -1; }) ==
        "c: eos_token_id is '-1', expected a token id");
  CHECK(refused([](Json& c) {
          c["architectures"] = {"A", "B"};
        }) == "c: architectures is '[\"A\",\"B\"]', expected a list of one name");
  CHECK(refused([](Json& c) { c["rope_scaling"] = 1; }) ==
        "c: rope_scaling is '1', expected an object");
}

TEST_CASE("end-of-sequence ids of the generation configuration are added once") {
  ModelConfig config = read_with([](Json&) {});
  merge_generation_config({{"eos_token_id", {2, 0}}, {"temperature", 0.6}}, config, "g");
  CHECK(config.eos_token_ids == std::vector<int32_t>{2, 0});
  CHECK(refusal([&] {
          merge_generation_config({{"eos_token_id", "x"}}, config, "g");
        }) == "g: eos_token_id is '\"x\"', expected a token id");
}
