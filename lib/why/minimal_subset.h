// The smallest part of a list that still shows something, by deletion: delta debugging (Zeller and
// Hildebrandt 2002) with complements only, from large pieces to single items.
//
// The result is 1-minimal: taking away any one more item makes it disappear. It need not be the
// smallest of all. The order of items is kept, and nothing is random.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace isobit {

// REQUIRES: shows(items). `at_least`: never fewer items than this. `largest_piece`: where to begin.
template <typename Item>
std::vector<Item> minimal_subset(std::vector<Item> items,
                                 const std::function<bool(const std::vector<Item>&)>& shows,
                                 size_t at_least = 0, size_t largest_piece = SIZE_MAX) {
  size_t piece = std::min(items.size(), largest_piece);
  while (piece > 0 && items.size() > at_least) {
    bool removed = false;
    for (size_t begin = 0; begin < items.size() && items.size() > at_least;) {
      const size_t n = std::min({piece, items.size() - begin, items.size() - at_least});
      std::vector<Item> rest = items;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(begin),
                 rest.begin() + static_cast<ptrdiff_t>(begin + n));
      if (shows(rest)) {
        items = std::move(rest);
        removed = true;
      } else {
        begin += n;
      }
    }
    if (piece == 1 && !removed) break;
    if (piece > 1) piece = std::min(piece, items.size() + 1) / 2;
  }
  return items;
}

// A number from `low` to `high` that shows it while the one below does not, found by halving.
// REQUIRES: shows(high), low <= high.
template <typename Number>
Number smallest_number(Number low, Number high, const std::function<bool(Number)>& shows) {
  if (low == high || shows(low)) return low;
  Number fails = low;
  while (high - fails > 1) {
    const Number half = fails + (high - fails) / 2;
    (shows(half) ? high : fails) = half;
  }
  return high;
}

}  // namespace isobit
