// Small checkpoints that tests write themselves, byte by byte, so that each byte can also be
// written wrongly.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace isobit::test {

// A folder of its own that is gone when the test ends.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isobit-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view content) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + name);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string little_endian(uint64_t value, size_t n_bytes) {
  std::string out;
  for (size_t i = 0; i < n_bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string f32_bytes(const std::vector<float>& values) {
  std::string out;
  for (const float v : values) out += little_endian(std::bit_cast<uint32_t>(v), 4);
  return out;
}

struct WrittenTensor {
  std::vector<int64_t> shape;  // outermost first
  std::vector<float> values;
};

// Sizes of a one-layer Llama whose files are about 2 KB, so that they can be broken at every byte.
struct SmallModel {
  int64_t hidden = 4, intermediate = 6, n_layers = 1, n_heads = 2, n_kv_heads = 1, head_dim = 4,
          vocab = 3, max_positions = 64;
  bool tied = true, qkv_bias = false;

  std::map<std::string, WrittenTensor> tensors() const {
    std::map<std::string, WrittenTensor> out;
    uint32_t state = 12345;  // values only need to differ from each other
    const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
      size_t n = 1;
      for (const int64_t d : shape) n *= static_cast<size_t>(d);
      WrittenTensor tensor{std::move(shape), {}};
      for (size_t i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        tensor.values.push_back(static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f);
      }
      out.emplace(name, std::move(tensor));
    };
    const int64_t q = n_heads * head_dim, kv = n_kv_heads * head_dim;
    add("model.embed_tokens.weight", {vocab, hidden});
    for (int64_t layer = 0; layer < n_layers; ++layer) {
      const std::string prefix = "model.layers." + std::to_string(layer) + ".";
      add(prefix + "input_layernorm.weight", {hidden});
      add(prefix + "self_attn.q_proj.weight", {q, hidden});
      add(prefix + "self_attn.k_proj.weight", {kv, hidden});
      add(prefix + "self_attn.v_proj.weight", {kv, hidden});
      add(prefix + "self_attn.o_proj.weight", {hidden, q});
      if (qkv_bias) {
        add(prefix + "self_attn.q_proj.bias", {q});
        add(prefix + "self_attn.k_proj.bias", {kv});
        add(prefix + "self_attn.v_proj.bias", {kv});
      }
      add(prefix + "post_attention_layernorm.weight", {hidden});
      add(prefix + "mlp.gate_proj.weight", {intermediate, hidden});
      add(prefix + "mlp.up_proj.weight", {intermediate, hidden});
      add(prefix + "mlp.down_proj.weight", {hidden, intermediate});
    }
    add("model.norm.weight", {hidden});
    if (!tied) add("lm_head.weight", {vocab, hidden});
    return out;
  }

  Json config() const {
    return {{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_size", hidden},
            {"intermediate_size", intermediate},
            {"num_hidden_layers", n_layers},
            {"num_attention_heads", n_heads},
            {"num_key_value_heads", n_kv_heads},
            {"head_dim", head_dim},
            {"vocab_size", vocab},
            {"max_position_embeddings", max_positions},
            {"rms_norm_eps", 1e-5},
            {"rope_theta", 10000.0},
            {"tie_word_embeddings", tied},
            {"hidden_act", "silu"},
            {"bos_token_id", 1},
            {"eos_token_id", 2}};
  }
};

// The bytes of a safetensors file with this JSON header, padded with spaces to a multiple of 8, and
// this buffer.
inline std::string safetensors_bytes(std::string header, const std::string& buffer) {
  while (header.size() % 8 != 0) header += ' ';
  return little_endian(header.size(), 8) + header + buffer;
}

// All of `tensors` as F32, in the order of `names` (every name when empty).
inline std::string safetensors_file(const std::map<std::string, WrittenTensor>& tensors,
                                    std::vector<std::string> names = {}) {
  if (names.empty()) {
    for (const auto& [name, unused] : tensors) names.push_back(name);
  }
  Json header = Json::object();
  std::string buffer;
  for (const std::string& name : names) {
    const WrittenTensor& tensor = tensors.at(name);
    const size_t begin = buffer.size();
    buffer += f32_bytes(tensor.values);
    header[name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, buffer.size()}}};
  }
  return safetensors_bytes(header.dump(), buffer);
}

// Writes a GGUF in the order of the calls. Nothing is checked: lies are what it is for.
class GgufWriter {
 public:
  uint32_t version = 3;
  size_t alignment = 32;
  std::string magic = "GGUF";

  static std::string text(std::string_view s) {
    return little_endian(s.size(), 8) + std::string(s);
  }
  GgufWriter& raw(std::string_view key, uint32_t type, const std::string& value) {
    metadata_ += text(key) + little_endian(type, 4) + value;
    ++n_metadata_;
    return *this;
  }
  GgufWriter& string(std::string_view key, std::string_view value) {
    return raw(key, 8, text(value));
  }
  GgufWriter& u32(std::string_view key, uint32_t value) {
    return raw(key, 4, little_endian(value, 4));
  }
  GgufWriter& f32(std::string_view key, float value) { return raw(key, 6, f32_bytes({value})); }
  GgufWriter& boolean(std::string_view key, uint8_t value) {
    return raw(key, 7, little_endian(value, 1));
  }
  GgufWriter& strings(std::string_view key, const std::vector<std::string>& values) {
    std::string body = little_endian(8, 4) + little_endian(values.size(), 8);
    for (const std::string& v : values) body += text(v);
    return raw(key, 9, body);
  }
  GgufWriter& array(std::string_view key, uint32_t type, size_t n, const std::string& bytes) {
    return raw(key, 9, little_endian(type, 4) + little_endian(n, 8) + bytes);
  }
  // `shape` outermost first; stored innermost first. The offset is the running one.
  GgufWriter& tensor(std::string_view name, uint32_t type, std::vector<int64_t> shape,
                     const std::string& bytes) {
    std::string info = text(name) + little_endian(shape.size(), 4);
    for (size_t i = shape.size(); i-- > 0;)
      info += little_endian(static_cast<uint64_t>(shape[i]), 8);
    return raw_tensor(info + little_endian(type, 4) + little_endian(data_.size(), 8), bytes);
  }
  GgufWriter& raw_tensor(const std::string& info, const std::string& bytes) {
    infos_ += info;
    ++n_tensors_;
    data_ += bytes;
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  std::string bytes() const {
    std::string out = magic + little_endian(version, 4) + little_endian(n_tensors_, 8) +
                      little_endian(n_metadata_, 8);
    out += metadata_ + infos_;
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data_;
  }

 private:
  std::string metadata_, infos_, data_;
  uint64_t n_metadata_ = 0, n_tensors_ = 0;
};

// The row order that llama.cpp's converter gives Q and K: of each head, first rows and rows of the
// second half in turn.
inline WrittenTensor interleaved(const WrittenTensor& tensor, int64_t n_heads) {
  const int64_t n_rows = tensor.shape[0], width = tensor.shape[1], head_dim = n_rows / n_heads;
  WrittenTensor out{tensor.shape, {}};
  for (int64_t head = 0; head < n_heads; ++head) {
    for (int64_t i = 0; i < head_dim; ++i) {
      const int64_t row = head * head_dim + (i % 2) * (head_dim / 2) + i / 2;
      out.values.insert(out.values.end(), tensor.values.begin() + row * width,
                        tensor.values.begin() + (row + 1) * width);
    }
  }
  return out;
}

inline std::string gguf_name(const std::string& hf_name) {
  static const std::map<std::string, std::string> kNames = {
      {"input_layernorm", "attn_norm"},    {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"}, {"post_attention_layernorm", "ffn_norm"},
      {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"}};
  if (hf_name == "model.embed_tokens.weight") return "token_embd.weight";
  if (hf_name == "model.norm.weight") return "output_norm.weight";
  if (hf_name == "lm_head.weight") return "output.weight";
  const size_t layer_at = std::strlen("model.layers."), dot = hf_name.find('.', layer_at),
               last = hf_name.rfind('.');
  return "blk." + hf_name.substr(layer_at, dot - layer_at) + "." +
         kNames.at(hf_name.substr(dot + 1, last - dot - 1)) + hf_name.substr(last);
}

inline GgufWriter gguf_metadata(const SmallModel& model,
                                const std::string& architecture = "llama") {
  GgufWriter writer;
  const auto u32 = [&](const char* key, int64_t value) {
    writer.u32(architecture + "." + key, static_cast<uint32_t>(value));
  };
  writer.string("general.architecture", architecture);
  u32("embedding_length", model.hidden);
  u32("feed_forward_length", model.intermediate);
  u32("block_count", model.n_layers);
  u32("attention.head_count", model.n_heads);
  u32("attention.head_count_kv", model.n_kv_heads);
  u32("attention.key_length", model.head_dim);
  u32("context_length", model.max_positions);
  writer.f32(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  writer.f32(architecture + ".rope.freq_base", 10000.0f);
  writer.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a", "b", "c"});
  writer.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  return writer;
}

inline void add_gguf_tensors(GgufWriter& writer, const SmallModel& model, bool interleave = true) {
  for (const auto& [name, tensor] : model.tensors()) {
    const bool is_q = name.ends_with("q_proj.weight"), is_k = name.ends_with("k_proj.weight");
    const WrittenTensor stored = interleave && (is_q || is_k)
                                     ? interleaved(tensor, is_q ? model.n_heads : model.n_kv_heads)
                                     : tensor;
    writer.tensor(gguf_name(name), 0, stored.shape, f32_bytes(stored.values));
  }
}

inline std::string gguf_file(const SmallModel& model) {
  GgufWriter writer = gguf_metadata(model);
  add_gguf_tensors(writer, model);
  return writer.bytes();
}

}  // namespace isobit::test
