// The mean of the values that are there; absent when none is.
#pragma once

#include <cstdint>
#include <optional>

namespace isobit {

class Mean {
 public:
  void add(std::optional<double> value) {
    if (!value) return;
    sum_ += *value;
    ++n_;
  }
  std::optional<double> result() const {
    return n_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(n_));
  }

 private:
  double sum_ = 0;
  int64_t n_ = 0;
};

}  // namespace isobit
