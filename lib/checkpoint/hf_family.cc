#include "checkpoint/hf_family.h"

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// transformers 5.24, configuration_*.py
constexpr HfFamily kFamilies[] = {
    {"llama", "LlamaForCausalLM", 1e4, 0, false, WindowRule::kNone, 0, false, 0},
    {"mistral", "MistralForCausalLM", 1e4, 0, false, WindowRule::kAll, 4096, false, 0},
    {"mixtral", "MixtralForCausalLM", 1e6, 0, false, WindowRule::kAll, 0, false, 0},
    {"qwen2", "Qwen2ForCausalLM", 1e4, 0, false, WindowRule::kFromLayer, 4096, true, 0},
    {"qwen3", "Qwen3ForCausalLM", 1e4, 128, false, WindowRule::kFromLayer, 4096, true, 0},
    {"qwen3_moe", "Qwen3MoeForCausalLM", 1e4, 0, false, WindowRule::kAll, 4096, true, 0},
    {"phi3", "Phi3ForCausalLM", 1e4, 0, false, WindowRule::kAll, 0, false, 0},
    {"gemma2", "Gemma2ForCausalLM", 1e4, 256, true, WindowRule::kAllButEvery, 4096, false, 2},
    {"gemma3_text", "Gemma3ForCausalLM", 1e6, 256, true, WindowRule::kAllButEvery, 4096, false, 6},
    {"olmo2", "Olmo2ForCausalLM", 1e4, 0, false, WindowRule::kNone, 0, false, 0},
    {"smollm3", "SmolLM3ForCausalLM", 2e6, 0, true, WindowRule::kWithoutRope, 0, true, 0},
};

std::string supported_classes() {
  std::string out;
  for (const HfFamily& family : kFamilies)
    out += (out.empty() ? "" : ", ") + std::string(family.class_name);
  return out;
}

std::optional<std::string> class_name_of(const ConfigFields& fields) {
  const Json* list = fields.find("architectures");
  if (!list) return std::nullopt;
  const bool ok = list->is_array() && list->size() == 1 && (*list)[0].is_string();
  if (!ok) fields.wrong("architectures", *list, "a list of one name");
  return (*list)[0].get<std::string>();
}

}  // namespace

const HfFamily& read_family(const ConfigFields& fields) {
  const std::optional<std::string> type = fields.string("model_type"),
                                   class_name = class_name_of(fields);
  if (!type && !class_name)
    refuse(fields.where(), "neither architectures nor model_type says what the model is");
  for (const HfFamily& family : kFamilies) {
    const bool by_class = class_name && *class_name == family.class_name,
               by_type = type && *type == family.model_type;
    if (by_class && type && !by_type) {
      refuse(fields.where(),
             "architectures says " + shown(*class_name) + ", but model_type says " + shown(*type));
    }
    if (by_class || (by_type && !class_name)) return family;
  }
  refuse(fields.where(),
         "architecture " + shown(class_name ? *class_name : *type) + " is not supported",
         "this version computes " + supported_classes());
}

void apply_family(const HfFamily& family, ModelConfig& config) {
  const std::string type = family.model_type;
  const bool is_gemma = type == "gemma2" || type == "gemma3_text";
  config.architecture = type;
  config.qkv_bias = type == "qwen2";
  if (type == "qwen3" || type == "qwen3_moe" || type == "gemma3_text")
    config.query_key_norm = QueryKeyNorm::kPerHead;
  if (type == "olmo2") config.query_key_norm = QueryKeyNorm::kAllHeads;
  config.norms_before = type != "olmo2";
  config.norms_after = is_gemma || type == "olmo2";
  config.norm_adds_one = is_gemma;
  config.scaled_embedding = is_gemma;
  if (is_gemma) config.activation = Activation::kGeluTanh;
}

}  // namespace isobit
