// Character classes as old as the tables of Hugging Face's `tokenizers`, against today's Unicode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace isobit {

struct CodePointRange {
  uint32_t first;
  uint32_t last;
};

// A class then: what is in it today without what is new, and with what has left it since.
struct FrozenClass {
  std::span<const CodePointRange> added_since;    // ascending
  std::span<const CodePointRange> removed_since;  // ascending

  bool contains(uint32_t c, bool is_in_today) const {
    return is_in_today ? !in(added_since, c) : in(removed_since, c);
  }

 private:
  static bool in(std::span<const CodePointRange> ranges, uint32_t c) {
    const auto it = std::lower_bound(ranges.begin(), ranges.end(), c,
                                     [](const auto& r, uint32_t value) { return r.last < value; });
    return it != ranges.end() && it->first <= c;
  }
};

FrozenClass frozen_other();
FrozenClass frozen_nonspacing_mark();
FrozenClass frozen_mark();
FrozenClass frozen_punctuation();
// Characters that normal forms know of: all others are neither decomposed nor composed nor ordered.
FrozenClass frozen_normalization();

}  // namespace isobit
