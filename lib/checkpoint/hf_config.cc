#include "checkpoint/hf_config.h"

#include <algorithm>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

struct Family {
  const char* model_type;
  const char* class_name;
};
constexpr Family kFamilies[] = {{"llama", "LlamaForCausalLM"},
                                {"mistral", "MistralForCausalLM"},
                                {"qwen2", "Qwen2ForCausalLM"}};

// Typed reads of one JSON object. A null counts as absent, as transformers writes it.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  const Json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }
  std::optional<int64_t> integer(const char* key) const {
    const Json* v = find(key);
    if (!v) return std::nullopt;
    if (!v->is_number_integer() || (v->is_number_unsigned() && v->get<uint64_t>() > INT64_MAX))
      wrong(key, *v, "a whole number");
    return v->get<int64_t>();
  }
  int64_t required_integer(const char* key) const {
    if (const auto v = integer(key)) return *v;
    refuse(where_, std::string("no ") + key);
  }
  std::optional<double> real(const char* key) const {
    const Json* v = find(key);
    if (!v) return std::nullopt;
    if (!v->is_number()) wrong(key, *v, "a number");
    return v->get<double>();
  }
  bool boolean(const char* key, bool otherwise) const {
    const Json* v = find(key);
    if (!v) return otherwise;
    if (!v->is_boolean()) wrong(key, *v, "true or false");
    return v->get<bool>();
  }
  std::optional<std::string> string(const char* key) const {
    const Json* v = find(key);
    if (!v) return std::nullopt;
    if (!v->is_string()) wrong(key, *v, "a string");
    return v->get<std::string>();
  }
  // An id, a list of ids, or nothing.
  std::vector<int32_t> token_ids(const char* key) const {
    const Json* v = find(key);
    if (!v) return {};
    std::vector<int32_t> out;
    for (const Json& id : v->is_array() ? *v : Json::array({*v})) {
      const bool fits =
          id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() <= INT32_MAX;
      if (!fits) wrong(key, id, "a token id");
      out.push_back(id.get<int32_t>());
    }
    return out;
  }
  [[noreturn]] void wrong(const char* key, const Json& found, const char* expected) const {
    refuse(where_, std::string(key) + " is " +
                       shown(found.dump(-1, ' ', true, Json::error_handler_t::replace)) +
                       ", expected " + expected);
  }

 private:
  const Json& object_;
  std::string where_;
};

std::string supported_classes() {
  std::string out;
  for (const Family& family : kFamilies)
    out += (out.empty() ? "" : ", ") + std::string(family.class_name);
  return out;
}

std::string read_architecture(const Fields& fields) {
  const std::optional<std::string> type = fields.string("model_type");
  std::optional<std::string> class_name;
  if (const Json* list = fields.find("architectures")) {
    const bool ok = list->is_array() && list->size() == 1 && (*list)[0].is_string();
    if (!ok) fields.wrong("architectures", *list, "a list of one name");
    class_name = (*list)[0].get<std::string>();
  }
  if (!type && !class_name)
    refuse(fields.where(), "neither architectures nor model_type says what the model is");
  for (const Family& family : kFamilies) {
    const bool by_class = class_name && *class_name == family.class_name,
               by_type = type && *type == family.model_type;
    if (by_class && type && !by_type) {
      refuse(fields.where(),
             "architectures says " + shown(*class_name) + ", but model_type says " + shown(*type));
    }
    if (by_class || (by_type && !class_name)) return family.model_type;
  }
  refuse(fields.where(),
         "architecture " + shown(class_name ? *class_name : *type) + " is not supported",
         "this version computes " + supported_classes());
}

// Sizes of the attention. Checked for sense by check_sizes().
void read_sizes(const Fields& fields, ModelConfig& config) {
  config.hidden_size = fields.required_integer("hidden_size");
  config.intermediate_size = fields.required_integer("intermediate_size");
  config.n_layers = fields.required_integer("num_hidden_layers");
  config.n_heads = fields.required_integer("num_attention_heads");
  config.n_kv_heads = fields.integer("num_key_value_heads").value_or(config.n_heads);
  config.vocab_size = fields.required_integer("vocab_size");
  config.max_positions = fields.required_integer("max_position_embeddings");
  if (const auto head_dim = fields.integer("head_dim")) {
    config.head_dim = *head_dim;
  } else {
    if (config.n_heads <= 0 || config.hidden_size % config.n_heads != 0) {
      refuse(fields.where(), "hidden_size " + std::to_string(config.hidden_size) +
                                 " is not a multiple of num_attention_heads " +
                                 std::to_string(config.n_heads) + ", and there is no head_dim");
    }
    config.head_dim = config.hidden_size / config.n_heads;
  }
}

void refuse_rope_kind(const Fields& rope) {
  const auto type = rope.string("rope_type"), old_type = rope.string("type");
  if (type && old_type && *type != *old_type) {
    refuse(rope.where(), "rope_type is " + shown(*type) + ", but type is " + shown(*old_type));
  }
  const std::string kind = type ? *type : old_type.value_or("default");
  if (kind != "default") {
    refuse(rope.where(), "rope scaling of type " + shown(kind) + " is not supported",
           "this version computes plain rotary positions");
  }
}

const Json* object_field(const Fields& fields, const char* key) {
  const Json* object = fields.find(key);
  if (object && !object->is_object()) fields.wrong(key, *object, "an object");
  return object;
}

void read_rope(const Fields& fields, ModelConfig& config) {
  std::optional<double> theta = fields.real("rope_theta");
  if (const Json* scaling = object_field(fields, "rope_scaling"))
    refuse_rope_kind(Fields(*scaling, fields.where() + ": rope_scaling"));
  if (const Json* object = object_field(fields, "rope_parameters")) {
    const Fields parameters(*object, fields.where() + ": rope_parameters");
    for (const auto& [key, value] : object->items()) {
      if (value.is_object())
        refuse(parameters.where(),
               "rotary positions that differ by layer type are not supported (" + shown(key) + ")");
    }
    refuse_rope_kind(parameters);
    const std::optional<double> new_theta = parameters.real("rope_theta");
    if (theta && new_theta && *theta != *new_theta) {
      refuse(fields.where(), "rope_theta is " + Json(*theta).dump() +
                                 ", but rope_parameters.rope_theta is " + Json(*new_theta).dump());
    }
    if (new_theta) theta = new_theta;
    if (parameters.real("partial_rotary_factor").value_or(1) != 1)
      refuse(parameters.where(), "partial_rotary_factor other than 1 is not supported");
  }
  if (fields.real("partial_rotary_factor").value_or(1) != 1)
    refuse(fields.where(), "partial_rotary_factor other than 1 is not supported");
  config.rope_theta = theta.value_or(10000);
}

// A window matters only where a position can be further back than it reaches.
void refuse_sliding_window(const Fields& fields, const ModelConfig& config) {
  if (const Json* types = fields.find("layer_types")) {
    if (!types->is_array()) fields.wrong("layer_types", *types, "a list");
    for (const Json& type : *types) {
      if (type != "full_attention")
        refuse(fields.where(),
               "layer_types holds " + shown(type.dump()) + "; only full_attention is supported");
    }
    return;
  }
  const bool reads_it =
      config.architecture == "mistral" ||
      (config.architecture == "qwen2" && fields.boolean("use_sliding_window", false));
  const std::optional<int64_t> window = fields.integer("sliding_window");
  if (reads_it && window && *window < config.max_positions) {
    refuse(fields.where(), "sliding_window " + std::to_string(*window) + " of a context of " +
                               std::to_string(config.max_positions) +
                               " is in force, and sliding-window attention is not supported");
  }
}

void refuse_other_arithmetic(const Fields& fields, const ModelConfig& config) {
  const std::string act = fields.string("hidden_act").value_or("silu");
  if (act != "silu")
    refuse(fields.where(), "hidden_act " + shown(act) + " is not supported, only 'silu'");
  for (const char* key : {"attention_bias", "mlp_bias"}) {
    if (config.architecture != "qwen2" && fields.boolean(key, false))
      refuse(fields.where(), std::string(key) + " is true, which is not supported");
  }
  for (const char* key : {"num_local_experts", "num_experts"}) {
    if (fields.integer(key).value_or(0) > 0)
      refuse(fields.where(), std::string(key) + ": mixtures of experts are not supported");
  }
  if (const Json* quantisation = object_field(fields, "quantization_config")) {
    const Fields q(*quantisation, fields.where() + ": quantization_config");
    refuse(fields.where(), "weights quantised by " +
                               shown(q.string("quant_method").value_or("an unnamed method")) +
                               " are not supported");
  }
  const auto dtype = fields.string("dtype"), old_dtype = fields.string("torch_dtype");
  if (dtype && old_dtype && *dtype != *old_dtype) {
    refuse(fields.where(),
           "dtype is " + shown(*dtype) + ", but torch_dtype is " + shown(*old_dtype));
  }
}

}  // namespace

ModelConfig read_hf_config(const Json& json, const std::string& where) {
  const Fields fields(json, where);
  ModelConfig config;
  config.architecture = read_architecture(fields);
  read_sizes(fields, config);
  const std::optional<double> eps = fields.real("rms_norm_eps");
  if (!eps) refuse(where, "no rms_norm_eps");
  config.rms_norm_eps = *eps;
  read_rope(fields, config);
  refuse_sliding_window(fields, config);
  refuse_other_arithmetic(fields, config);
  config.tied_head = fields.boolean("tie_word_embeddings", false);
  config.qkv_bias = config.architecture == "qwen2";
  config.bos_token_ids = fields.token_ids("bos_token_id");
  config.eos_token_ids = fields.token_ids("eos_token_id");
  return config;
}

void merge_generation_config(const Json& json, ModelConfig& config, const std::string& where) {
  for (const int32_t id : Fields(json, where).token_ids("eos_token_id")) {
    auto& ids = config.eos_token_ids;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
}

}  // namespace isobit
