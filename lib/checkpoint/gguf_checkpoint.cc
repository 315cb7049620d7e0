#include "checkpoint/gguf_checkpoint.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/digest.h"
#include "base/json.h"
#include "checkpoint/model_tensors.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

constexpr const char* kRopeFactors = "rope_freqs.weight";

// What of the metadata describes the model, key by key: {"llama.block_count": "u32:1e000000", ...}.
// Long values as digests.
std::string metadata_json(const GgufFile& file) {
  constexpr size_t kMaxShownBytes = 64;
  Json out = Json::object();
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("tokenizer.")) continue;
    std::string text(name(value.type));
    if (value.type == GgufType::kArray) text += "[" + std::string(name(value.element_type)) + "]";
    const auto* bytes = reinterpret_cast<const uint8_t*>(value.bytes.data());
    if (value.strings.empty() && value.bytes.size() <= kMaxShownBytes) {
      text += ":" + hex({bytes, value.bytes.size()});
    } else {
      Sha256 digest;
      digest.update(bytes, value.bytes.size());
      for (const std::string_view s : value.strings) digest.update_framed(s);
      text += ":sha256:" + hex(digest.finish());
    }
    out[key] = text;
  }
  return canonical_json(out);
}

class GgufCheckpoint final : public Checkpoint {
 public:
  explicit GgufCheckpoint(const std::filesystem::path& path) : file_(path) {
    path_ = path.string();
    format_ = "gguf";
    files_.push_back({path.filename().string(), file_.bytes()});
    config_ = read_gguf_config(file_);
    stored_config_ = metadata_json(file_);
    for (const StoredTensor& stored : file_.tensors()) add(stored);
    config_.tied_head = !tensors_.contains("lm_head.weight");
    check_sizes(config_, file_.where());
    check_tensors(config_, tensors_, file_.where());
    mark_permuted_rows();
  }

  void release(const TensorView& tensor) const override { release(tensor.bytes); }
  void release(std::span<const std::byte> bytes) const override {
    file_.file().release_pages(static_cast<size_t>(bytes.data() - file_.bytes().data()),
                               bytes.size());
  }

 private:
  void add(const StoredTensor& stored) {
    TensorView view = view_of(stored, file_.bytes(), file_.where());
    if (stored.name == kRopeFactors) {
      read_rope_factors(view);
      return;
    }
    const std::optional<std::string> hf_name = hf_name_of(stored.name);
    if (!hf_name) {
      refuse(
          file_.where(),
          "tensor " + shown(stored.name) + " is not part of a " + config_.architecture + " model",
          "the model has a part that this version cannot compute");
    }
    view.name = *hf_name;
    tensors_.emplace(*hf_name, std::move(view));
  }

  void read_rope_factors(const TensorView& view) {
    const auto half = config_.head_dim / 2;
    if (view.dtype != DType::kF32 || view.shape != std::vector<int64_t>{half}) {
      refuse(file_.where(), std::string("tensor '") + kRopeFactors + "' is " +
                                std::string(name(view.dtype)) + " " + shape_text(view.shape) +
                                ", expected F32 (" + std::to_string(half) + ")");
    }
    for (int64_t i = 0; i < half; ++i) {
      uint32_t bits = 0;
      for (size_t b = 0; b < 4; ++b)
        bits |= static_cast<uint32_t>(view.bytes[static_cast<size_t>(i) * 4 + b]) << (8 * b);
      const float factor = std::bit_cast<float>(bits);
      if (!std::isfinite(factor) || factor <= 0) {
        refuse(file_.where(), std::string("tensor '") + kRopeFactors + "' element " +
                                  std::to_string(i) + " is " + std::to_string(factor) +
                                  ", expected a positive number");
      }
      config_.rope_factors.push_back(factor);
    }
  }

  // llama.cpp's converter permutes the rows of Q and K of the llama architecture, and of no other
  // here.
  void mark_permuted_rows() {
    if (config_.architecture != "llama") return;
    for (auto& [tensor_name, view] : tensors_) {
      if (tensor_name.ends_with("self_attn.q_proj.weight") ||
          tensor_name.ends_with("self_attn.k_proj.weight")) {
        view.row_order = RowOrder::kInterleavedHalves;
        view.head_dim = config_.head_dim;
      }
    }
  }

  GgufFile file_;
};

struct Renamed {
  std::string_view gguf, hf;
};
constexpr Renamed kModelNames[] = {{"token_embd.weight", "model.embed_tokens.weight"},
                                   {"output_norm.weight", "model.norm.weight"},
                                   {"output.weight", "lm_head.weight"}};
constexpr Renamed kLayerNames[] = {{"attn_norm.weight", "input_layernorm.weight"},
                                   {"attn_q.weight", "self_attn.q_proj.weight"},
                                   {"attn_k.weight", "self_attn.k_proj.weight"},
                                   {"attn_v.weight", "self_attn.v_proj.weight"},
                                   {"attn_q.bias", "self_attn.q_proj.bias"},
                                   {"attn_k.bias", "self_attn.k_proj.bias"},
                                   {"attn_v.bias", "self_attn.v_proj.bias"},
                                   {"attn_output.weight", "self_attn.o_proj.weight"},
                                   {"ffn_norm.weight", "post_attention_layernorm.weight"},
                                   {"ffn_gate.weight", "mlp.gate_proj.weight"},
                                   {"ffn_up.weight", "mlp.up_proj.weight"},
                                   {"ffn_down.weight", "mlp.down_proj.weight"}};

}  // namespace

std::optional<std::string> hf_name_of(const std::string& gguf_name) {
  for (const Renamed& r : kModelNames) {
    if (gguf_name == r.gguf) return std::string(r.hf);
  }
  constexpr std::string_view kPrefix = "blk.";
  const size_t dot = gguf_name.find('.', kPrefix.size());
  if (!gguf_name.starts_with(kPrefix) || dot == std::string::npos) return std::nullopt;
  const std::string layer = gguf_name.substr(kPrefix.size(), dot - kPrefix.size());
  const std::string_view rest = std::string_view(gguf_name).substr(dot + 1);
  for (const Renamed& r : kLayerNames) {
    if (rest == r.gguf) return "model.layers." + layer + "." + std::string(r.hf);
  }
  return std::nullopt;
}

std::unique_ptr<Checkpoint> open_gguf_checkpoint(const std::filesystem::path& path) {
  return std::make_unique<GgufCheckpoint>(path);
}

}  // namespace isobit
