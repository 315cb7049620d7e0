#include "checkpoint/fp8_scales.h"

#include <algorithm>

#include "checkpoint/config_fields.h"
#include "checkpoint/refusal.h"

namespace isobit {
namespace {

struct Block {
  int64_t rows = 0, columns = 0;  // 0: the whole tensor
};

Block read_block(const Json& config, const std::string& where) {
  const ConfigFields fields(config, where + ": config.json");
  const Json* quantisation = fields.object_at("quantization_config");
  if (!quantisation) return {};
  const ConfigFields q(*quantisation, fields.where() + ": quantization_config");
  const auto size = q.integers("weight_block_size");
  if (!size) return {};
  if (size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1)
    q.wrong("weight_block_size", *q.find("weight_block_size"), "two positive numbers");
  return {(*size)[0], (*size)[1]};
}

const TensorView& scales_of(const std::string& name,
                            const std::map<std::string, TensorView>& tensors,
                            const std::string& where) {
  for (const char* suffix : {"_scale_inv", "_scale"}) {
    const auto it = tensors.find(name + suffix);
    if (it == tensors.end()) continue;
    const DType dtype = it->second.dtype;
    if (dtype != DType::kF32 && dtype != DType::kF16 && dtype != DType::kBF16) {
      refuse(where, "tensor " + shown(it->first) + " is stored as " +
                        std::string(isobit::name(dtype)) +
                        ", expected F32, F16 or BF16 for scales");
    }
    return it->second;
  }
  refuse(where,
         "tensor " + shown(name) + " is stored as F8_E4M3, but there is no " +
             shown(name + "_scale_inv"),
         "is a shard missing?");
}

int64_t divide_up(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);  // b comes from the file: a + b may not fit
}

void attach(TensorView& weight, const TensorView& scales, const Block& block,
            const std::string& where) {
  if (weight.shape.size() != 2) {
    refuse(where, "tensor " + shown(weight.name) + " is F8_E4M3 with shape " +
                      shape_text(weight.shape) + ", expected a matrix");
  }
  const int64_t rows = weight.shape[0], columns = weight.shape[1];
  const std::vector<int64_t> by_block = {block.rows ? divide_up(rows, block.rows) : 0,
                                         block.columns ? divide_up(columns, block.columns) : 0};
  weight.scales = &scales;
  if (block.rows > 0 && scales.shape == by_block) {
    // No wider than the matrix: whoever divides by these adds to them first.
    weight.scale_rows = std::min(block.rows, std::max<int64_t>(rows, 1));
    weight.scale_columns = std::min(block.columns, std::max<int64_t>(columns, 1));
  } else if (block.rows == 0 && scales.n_elems() == 1) {
    weight.scale_rows = std::max<int64_t>(rows, 1);
    weight.scale_columns = std::max<int64_t>(columns, 1);
  } else {
    refuse(where, "tensor " + shown(scales.name) + " has shape " + shape_text(scales.shape) +
                      ", expected " +
                      (block.rows > 0 ? shape_text(by_block)
                                      : "one number, since there is no weight_block_size"));
  }
}

}  // namespace

void attach_fp8_scales(const Json& config, std::map<std::string, TensorView>& tensors,
                       const std::string& where) {
  const Block block = read_block(config, where);
  for (auto& [name, view] : tensors) {
    if (view.dtype == DType::kF8E4M3) attach(view, scales_of(name, tensors, where), block, where);
  }
}

}  // namespace isobit
