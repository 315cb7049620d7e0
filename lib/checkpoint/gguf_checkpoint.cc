#include "checkpoint/gguf_checkpoint.h"

#include <cmath>

#include "base/digest.h"
#include "base/json.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/mapped_checkpoint.h"
#include "checkpoint/model_tensors.h"
#include "checkpoint/refusal.h"
#include "numeric/dequantise.h"

namespace isobit {
namespace {

// Divisors of the frequencies: Llama 3's, and the two lists of Phi-3's longrope.
constexpr const char* kRopeFactors = "rope_freqs.weight";
constexpr const char* kLongFactors = "rope_factors_long.weight";
constexpr const char* kShortFactors = "rope_factors_short.weight";

// What of the metadata describes the model, and not its tokenizer or how it was split, key by key:
// {"llama.block_count": "u32:1e000000", ...}. Long values as digests.
std::string metadata_json(const GgufFile& file) {
  constexpr size_t kMaxShownBytes = 64;
  Json out = Json::object();
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("tokenizer.") || key.starts_with("split.")) continue;
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
    for (const MappedFile& file : file_.files())
      files_.push_back({file.path().filename().string(), file.bytes()});
    config_ = read_gguf_config(file_);
    check_sizes(config_, file_.where());
    stored_config_ = metadata_json(file_);
    for (const StoredTensor& stored : file_.tensors()) add(stored);
    config_.tied_head = !tensors_.contains("lm_head.weight");
    check_tensors(config_, tensors_, file_.where());
    mark_permuted_rows();
  }

  void release(const TensorView& tensor) const override { release(tensor.bytes); }
  void release(std::span<const std::byte> bytes) const override {
    release_pages(file_.files(), bytes);
  }

 private:
  void add(const StoredTensor& stored) {
    TensorView view = view_of(stored, file_.bytes_with(stored), file_.where());
    if (stored.name == kRopeFactors || stored.name == kLongFactors ||
        stored.name == kShortFactors) {
      read_rope_factors(view);
      return;
    }
    if (stored.shape.size() == 3 && add_experts(view)) return;
    const std::optional<std::string> hf_name = hf_name_of(stored.name, config_);
    if (!hf_name) {
      refuse(
          file_.where(),
          "tensor " + shown(stored.name) + " is not part of a " + config_.architecture + " model",
          "the model has a part that this version cannot compute");
    }
    view.name = *hf_name;
    tensors_.emplace(*hf_name, std::move(view));
  }

  // One tensor of all experts of a layer, (n_experts, n_out, n_in), as a matrix for each.
  bool add_experts(const TensorView& stored) {
    const std::optional<ExpertTensor> found = expert_tensor_of(stored.name);
    if (!found || config_.experts.n == 0) return false;
    if (stored.shape[0] != config_.experts.n) {
      refuse(file_.where(), "tensor " + shown(stored.name) + " has shape " +
                                shape_text(stored.shape) + ", expected " +
                                std::to_string(config_.experts.n) + " experts");
    }
    const size_t n_bytes = stored.bytes.size() / static_cast<size_t>(stored.shape[0]);
    for (int64_t e = 0; e < stored.shape[0]; ++e) {
      TensorView view = stored;
      view.name = found->name_of(expert_names(config_, found->layer, e));
      view.shape = {stored.shape[1], stored.shape[2]};
      view.bytes = stored.bytes.subspan(static_cast<size_t>(e) * n_bytes, n_bytes);
      tensors_.emplace(view.name, view);
    }
    return true;
  }

  // Of longrope's two lists, that for the configured context is taken (numeric contract, row rope).
  void read_rope_factors(const TensorView& view) {
    const auto half = config_.rotary_elems() / 2;
    if (view.dtype != DType::kF32 || view.shape != std::vector<int64_t>{half}) {
      refuse(file_.where(), "tensor " + shown(view.name) + " is " + std::string(name(view.dtype)) +
                                " " + shape_text(view.shape) + ", expected F32 (" +
                                std::to_string(half) + ")");
    }
    std::vector<float> factors(static_cast<size_t>(half));
    dequantise_row(DType::kF32, view.bytes.data(), half, factors.data());
    for (size_t i = 0; i < factors.size(); ++i) {
      if (!std::isfinite(factors[i]) || factors[i] <= 0) {
        refuse(file_.where(), "tensor " + shown(view.name) + " element " + std::to_string(i) +
                                  " is " + std::to_string(factors[i]) +
                                  ", expected a positive number");
      }
    }
    if (view.name != kRopeFactors && (view.name == kLongFactors) != context_is_long()) return;
    config_.ropes[0].divisors = factors;
  }

  bool context_is_long() const {
    const auto original = file_.count("phi3.rope.scaling.original_context_length").value_or(4096);
    return static_cast<uint64_t>(config_.max_positions) > original;
  }

  // llama.cpp's converter permutes the rows of Q and K, and their biases, of the architectures that
  // come from its Llama class, and of no other here.
  void mark_permuted_rows() {
    const std::string& type = config_.architecture;
    if (type != "llama" && type != "mixtral" && type != "smollm3") return;
    for (auto& [tensor_name, view] : tensors_) {
      if (tensor_name.find("self_attn.q_proj.") != std::string::npos ||
          tensor_name.find("self_attn.k_proj.") != std::string::npos) {
        view.row_order = RowOrder::kInterleavedHalves;
        view.head_dim = config_.head_dim;
      }
    }
  }

  GgufFile file_;
};

}  // namespace

std::unique_ptr<Checkpoint> open_gguf_checkpoint(const std::filesystem::path& path) {
  return std::make_unique<GgufCheckpoint>(path);
}

}  // namespace isobit
