// Vectors as sets: sorted, each value once.
#pragma once

#include <algorithm>
#include <vector>

namespace isobit {

template <typename T>
std::vector<T> sorted_once(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace isobit
