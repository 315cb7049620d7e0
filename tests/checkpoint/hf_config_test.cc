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
  CHECK(old_names.ropes[0].theta == 500000.0);
  CHECK(new_names.ropes[0].theta == 500000.0);
  CHECK(read_with([](Json& c) {
          c["rope_parameters"] = {{"rope_theta", 10000.0}};
        })
            .ropes[0]
            .theta == 10000.0);
  CHECK(read_with([](Json& c) { c["rope_theta"] = 10000; }).ropes[0].theta == 10000.0);
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
  CHECK(config.ropes[0].theta == 10000);
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
  CHECK(refused([](Json& c) { c.erase("architectures"), c["model_type"] = "falcon"; }) ==
        "c: architecture 'falcon' is not supported");
  CHECK(refused([](Json& c) { c.erase("architectures"), c.erase("model_type"); }) ==
        "c: neither architectures nor model_type says what the model is");
  for (const char* key : {"rope_type", "type"}) {
    CHECK(refused([&](Json& c) {
            c["rope_scaling"] = {{key, "dynamic"}, {"factor", 8.0}};
          }) == "c: rope_scaling: rope scaling of type 'dynamic' is not supported");
  }
  CHECK(refused([](Json& c) {
          c["rope_parameters"] = {{"rope_type", "mrope"}, {"rope_theta", 10000.0}};
        }) == "c: rope_parameters: rope scaling of type 'mrope' is not supported");
  CHECK(refused([](Json& c) {
          c["rope_parameters"] = {{"chunked_attention", {{"rope_theta", 1e6}}}};
        }) ==
        "c: rope_parameters: rotary positions of layers of type 'chunked_attention' are not "
        "supported");
  CHECK(refused([](Json& c) { c["partial_rotary_factor"] = 0.5; }) ==
        "c: partial_rotary_factor other than 1 is not supported");
  CHECK(refused([](Json& c) { c["hidden_act"] = "relu"; }) ==
        "c: hidden_act 'relu' is not supported");
  CHECK(refused([](Json& c) { c["num_local_experts"] = 8; }) ==
        "c: a llama model with experts is not supported");
}

TEST_CASE(
    "weights quantised by what this version cannot read are refused by name, with what it can") {
  for (const std::string method : {"gptq", "awq", "bitsandbytes", "compressed-tensors", "mxfp4",
                                   "hqq", "aqlm", "quanto", "torchao", "fbgemm_fp8"}) {
    CAPTURE(method);
    Json config = SmallModel().config();
    config["quantization_config"] = {{"quant_method", method}};
    try {
      read_hf_config(config, "c");
      FAIL("accepted");
    } catch (const Error& e) {
      CHECK(e.message() == "c: weights quantised by '" + method + "' are not supported");
      CHECK(e.hint() == "this version reads FP8 (quant_method 'fp8') and the block types of GGUF");
    }
  }
  CHECK(refused([](Json& c) {
          c["quantization_config"] = {{"bits", 4}};
        }) == "c: weights quantised by 'an unnamed method' are not supported");
  CHECK(refused([](Json& c) { c["quantization_config"] = "gptq"; }) ==
        "c: quantization_config is '\"gptq\"', expected an object");
}

TEST_CASE("a share of rotary elements that is no share is refused before it is counted") {
  for (const double share : {1e300, -1e300, 0.0, -0.5, 2.0, 1e-300}) {
    CAPTURE(share);
    CHECK(refused([&](Json& c) {
            c["model_type"] = "phi3";
            c["architectures"] = {"Phi3ForCausalLM"};
            c["partial_rotary_factor"] = share;
          }).starts_with("c: partial_rotary_factor "));
  }
}

TEST_CASE("a scaling without its numbers, or with impossible ones, is refused by the field") {
  const auto scaled = [](const Json& scaling) {
    return refused([&](Json& c) { c["rope_scaling"] = scaling; });
  };
  CHECK(scaled({{"type", "linear"}}) == "c: rope_scaling: no factor");
  CHECK(scaled({{"type", "linear"}, {"factor", -1}}) ==
        "c: rope_scaling: factor is '-1', expected a positive number");
  CHECK(scaled({{"rope_type", "llama3"}, {"factor", 8}}) == "c: rope_scaling: no low_freq_factor");
  CHECK(scaled({{"rope_type", "llama3"},
                {"factor", 8},
                {"low_freq_factor", 4},
                {"high_freq_factor", 4}}) ==
        "c: rope_scaling: high_freq_factor is 4.0, expected more than low_freq_factor 4.0");
  CHECK(scaled({{"rope_type", "longrope"}, {"short_factor", {1, 1}}, {"long_factor", 2.0}}) ==
        "c: rope_scaling: long_factor is '2.0', expected a list of numbers");
  CHECK(scaled({{"rope_type", "longrope"}, {"short_factor", {1.0}}, {"long_factor", {2.0, 1.0}}}) ==
        "c: rope_scaling: short_factor has 1 elements, expected 2");
  CHECK(
      scaled({{"rope_type", "longrope"}, {"short_factor", {1.0, 0.0}}, {"long_factor", {2, 1}}}) ==
      "c: rope_scaling: short_factor is '0.0', expected positive numbers");
  CHECK(refused([](Json& c) {
          c["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}};
          c["rope_parameters"] = {{"rope_type", "linear"}, {"factor", 4.0}};
        }) == "c: rope_scaling and rope_parameters describe different positions");
}

TEST_CASE("scalings and caps that leave no usable number are refused, not computed with") {
  const std::string no_angles = "c: the scaling of rotary positions gives no usable angles";
  const auto scaled = [](const Json& scaling) {
    return refused([&](Json& c) { c["rope_scaling"] = scaling; });
  };
  CHECK(scaled({{"type", "yarn"}, {"factor", 8}, {"mscale", -10}, {"mscale_all_dim", 10}}) ==
        no_angles);
  CHECK(scaled({{"type", "linear"}, {"factor", 1e-300}}) == no_angles);
  CHECK(scaled({{"type", "yarn"}, {"factor", 8}, {"attention_factor", 1e300}}) == no_angles);
  CHECK(scaled({{"type", "longrope"},
                {"short_factor", {1, 1}},
                {"long_factor", {1, 1}},
                {"original_max_position_embeddings", 1}}) == no_angles);
  const auto gemma2 = [](const char* key, double value) {
    return refused([&](Json& c) {
      c["model_type"] = "gemma2", c["architectures"] = {"Gemma2ForCausalLM"}, c[key] = value;
    });
  };
  CHECK(gemma2("attn_logit_softcapping", 1e-300) ==
        "c: attn_logit_softcapping is 0.000000, which no f32 can hold or divide by");
  CHECK(gemma2("final_logit_softcapping", 1e-300) ==
        "c: final_logit_softcapping is 0.000000, which no f32 can hold or divide by");
  CHECK(gemma2("query_pre_attn_scalar", 1e-320).ends_with("which no f32 can hold or divide by"));
  CHECK(refused([](Json& c) { c["head_dim"] = 1 << 30; }) ==
        "c: head_dim is 1073741824, expected at most 65536");
}

namespace {

void be(Json& c, const char* type, const char* class_name) {
  c["model_type"] = type, c["architectures"] = {class_name};
  c["num_hidden_layers"] = 8;
}
std::vector<int64_t> windows(const std::function<void(Json&)>& change) {
  const ModelConfig config = read_with(change);
  std::vector<int64_t> out;
  for (int64_t i = 0; i < config.n_layers; ++i) out.push_back(config.layer(i).window);
  return out;
}
std::vector<int64_t> all(int64_t window) {
  return std::vector<int64_t>(8, window);
}

}  // namespace

TEST_CASE("a sliding window holds in the layers in which transformers has it") {
  const auto mistral = [](Json& c) { be(c, "mistral", "MistralForCausalLM"); };
  const auto qwen = [](Json& c) {
    be(c, "qwen2", "Qwen2ForCausalLM"), c["sliding_window"] = 16, c["max_window_layers"] = 6;
  };
  CHECK(windows([&](Json& c) { mistral(c), c["sliding_window"] = 16; }) == all(16));
  CHECK(windows([&](Json& c) { mistral(c), c["sliding_window"] = nullptr; }) == all(0));
  CHECK(windows([&](Json& c) { mistral(c), c["sliding_window"] = 64; }) == all(0));  // the context
  CHECK(windows([&](Json& c) { mistral(c), c["max_position_embeddings"] = 8192; }) == all(4096));
  CHECK(windows([&](Json& c) { qwen(c), c["use_sliding_window"] = false; }) == all(0));
  CHECK(windows([&](Json& c) { qwen(c), c["use_sliding_window"] = true; }) ==
        std::vector<int64_t>{0, 0, 0, 0, 0, 0, 16, 16});
  CHECK(windows([&](Json& c) { be(c, "gemma2", "Gemma2ForCausalLM"), c["sliding_window"] = 16; }) ==
        std::vector<int64_t>{16, 0, 16, 0, 16, 0, 16, 0});
  CHECK(windows([&](Json& c) {
          be(c, "gemma3_text", "Gemma3ForCausalLM"), c["sliding_window"] = 16;
        }) == std::vector<int64_t>{16, 16, 16, 16, 16, 0, 16, 16});
  CHECK(windows([&](Json& c) {
          be(c, "gemma3_text", "Gemma3ForCausalLM"), c["sliding_window"] = 16;
          c["sliding_window_pattern"] = 3;
        }) == std::vector<int64_t>{16, 16, 0, 16, 16, 0, 16, 16});
  CHECK(windows([&](Json& c) {
          be(c, "smollm3", "SmolLM3ForCausalLM"), c["sliding_window"] = 16;
          c["use_sliding_window"] = true;
        }) == std::vector<int64_t>{0, 0, 0, 16, 0, 0, 0, 16});
  CHECK(windows([&](Json& c) { be(c, "llama", "LlamaForCausalLM"), c["sliding_window"] = 16; }) ==
        all(0));
}

TEST_CASE("layer_types that contradict the class or the window are refused") {
  const Json two_kinds = {"full_attention", "sliding_attention"};
  CHECK(refused([&](Json& c) { c["num_hidden_layers"] = 2, c["layer_types"] = two_kinds; }) ==
        "c: layer_types holds sliding_attention, but no sliding window is in force");
  CHECK(refused([&](Json& c) {
          be(c, "mistral", "MistralForCausalLM"), c["num_hidden_layers"] = 2;
          c["sliding_window"] = 16, c["layer_types"] = two_kinds;
        }) ==
        "c: layer_types disagrees with sliding_window, which a mistral model has in every layer");
  CHECK(refused([&](Json& c) { c["layer_types"] = two_kinds, c["num_hidden_layers"] = 3; }) ==
        "c: layer_types has 2 elements, expected 3");
  CHECK(
      refused([&](Json& c) { c["layer_types"] = {"chunked_attention"}; }) ==
      "c: layer_types holds '\"chunked_attention\"'; only full_attention and sliding_attention are "
      "supported");
  CHECK(refused([](Json& c) {
          be(c, "mistral", "MistralForCausalLM"), c["sliding_window"] = -5;
        }) == "c: sliding_window is '-5', expected a positive number");
}

TEST_CASE("positions, norms and experts of each class") {
  const ModelConfig smollm3 = read_with([](Json& c) { be(c, "smollm3", "SmolLM3ForCausalLM"); });
  CHECK(smollm3.tied_head);
  for (int64_t i = 0; i < 8; ++i) CHECK(smollm3.layer(i).rope.has_value() == (i % 4 != 3));
  const ModelConfig gemma = read_with([](Json& c) {
    be(c, "gemma3_text", "Gemma3ForCausalLM");
    c.erase("rope_theta"), c["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8.0}};
  });
  REQUIRE(gemma.ropes.size() == 2);
  CHECK(gemma.ropes[0].theta == 1e6);
  CHECK(gemma.ropes[0].kind == RopeKind::kLinear);
  CHECK(gemma.ropes[1].theta == 1e4);
  CHECK(gemma.ropes[1].kind == RopeKind::kPlain);
  CHECK(gemma.layer(0).rope == 1);
  CHECK(gemma.layer(5).rope == 0);
  CHECK(gemma.norm_adds_one);
  CHECK(gemma.activation == Activation::kGeluTanh);
  CHECK(*gemma.attention_multiplier == 1.0 / 16);
  CHECK(gemma.attention_soft_cap == 0);
  const ModelConfig gemma2 = read_with([](Json& c) { be(c, "gemma2", "Gemma2ForCausalLM"); });
  CHECK(gemma2.attention_soft_cap == 50);
  CHECK(gemma2.final_soft_cap == 30);
  const ModelConfig mixtral = read_with(
      [](Json& c) { be(c, "mixtral", "MixtralForCausalLM"), c["num_local_experts"] = 4; });
  CHECK(mixtral.experts == ExpertsConfig{4, 2, mixtral.intermediate_size, true});
  const ModelConfig qwen = read_with([](Json& c) {
    be(c, "qwen3_moe", "Qwen3MoeForCausalLM");
    c["num_experts"] = 16, c["num_experts_per_tok"] = 3, c["moe_intermediate_size"] = 64;
    c["decoder_sparse_step"] = 2, c["mlp_only_layers"] = {3};
  });
  CHECK(qwen.experts == ExpertsConfig{16, 3, 64, false});
  for (int64_t i = 0; i < 8; ++i) CHECK(qwen.layer(i).has_experts == (i % 2 == 1 && i != 3));
  CHECK(refused([](Json& c) {
          be(c, "mixtral", "MixtralForCausalLM"), c["num_local_experts"] = 4, c["num_experts"] = 8;
        }) == "c: num_local_experts is 4, but num_experts is 8");
  CHECK(refused([](Json& c) {
          be(c, "mixtral", "MixtralForCausalLM"), c["num_local_experts"] = 2;
          c["num_experts_per_tok"] = 3;
        }) == "c: num_experts_per_tok is 3, expected 1 to 2");
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
