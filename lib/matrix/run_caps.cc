#include "matrix/run_caps.h"

#include <fmt/format.h>

#include <utility>

namespace isobit {

CapWatch::CapWatch(RunCaps caps, std::function<double()> now_ms)
    : caps_(caps), now_ms_(std::move(now_ms)), begin_ms_(now_ms_()) {}

void CapWatch::landed(const SampleRecord& sample, Landing landing) {
  if (landing != Landing::kStored) return;
  requests_.emplace(sample.cell_index, sample.prompt_index, sample.repeat);
  n_tokens_ += static_cast<int64_t>(sample.trace.positions.size());
}

std::string CapWatch::reached() const {
  if (caps_.requests && static_cast<int64_t>(requests_.size()) >= *caps_.requests)
    return fmt::format("--max-requests {}", *caps_.requests);
  if (caps_.tokens && n_tokens_ >= *caps_.tokens)
    return fmt::format("--max-total-tokens {}", *caps_.tokens);
  if (caps_.seconds && now_ms_() - begin_ms_ >= *caps_.seconds * 1e3)
    return fmt::format("--max-seconds {:g}", *caps_.seconds);
  return {};
}

}  // namespace isobit
