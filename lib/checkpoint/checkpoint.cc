#include "checkpoint/checkpoint.h"

#include <numeric>

#include "base/error.h"

namespace isobit {

int64_t ModelConfig::n_segments() const {
  const int64_t g = std::gcd(std::gcd(n_heads, intermediate_size), int64_t{24});
  for (int64_t r = g; r > 1; --r) {
    if (g % r == 0 && intermediate_size / r % 32 == 0) return r;
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
