#include "checkpoint/checkpoint.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace isobit {

int64_t ModelConfig::n_segments() const {
  bool has_dense = experts.n == 0;
  for (const LayerConfig& layer : layers) has_dense = has_dense || !layer.has_experts;
  std::vector<int64_t> widths;
  if (has_dense) widths.push_back(intermediate_size);
  if (experts.n > 0) widths.push_back(experts.width);
  int64_t g = std::gcd(n_heads, int64_t{24});
  for (const int64_t width : widths) g = std::gcd(g, width);
  for (int64_t r = g; r > 1; --r) {
    const auto fits = [&](int64_t width) { return width / r % 32 == 0; };
    if (g % r == 0 && std::all_of(widths.begin(), widths.end(), fits)) return r;
  }
  return 1;
}

const TensorView* Checkpoint::find(const std::string& name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

const TensorView& Checkpoint::tensor(const std::string& name) const {
  if (const TensorView* t = find(name)) return *t;
  throw Error(ErrorCode::environment, "checkpoint '" + path_ + "' has no tensor '" + name + "'",
              "the configuration asks for it; is a shard missing?");
}

}  // namespace isobit
