#include "base/error.h"

#include <algorithm>
#include <numeric>

namespace isobit {

Error::Error(ErrorCode code, std::string message, std::string hint)
    : code_(code), message_(std::move(message)), hint_(std::move(hint)) {}

namespace {

// Insertions, deletions, substitutions and swaps of neighbours each cost 1 (optimal string
// alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> two_up, up(b.size() + 1), row(b.size() + 1);
  std::iota(up.begin(), up.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
    two_up = up;
    up = row;
  }
  return up[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 200) return {};  // not a typo of any word we know, and quadratic to measure
  std::string best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? std::string() : " (did you mean '" + nearest + "'?)";
}

void fail_require(const char* condition, const char* file, int line) {
  throw Error(ErrorCode::internal,
              std::string("broken precondition '") + condition + "' at " + file + ":" +
                  std::to_string(line),
              "this is a bug in isobit; please report it with the command that caused it");
}

}  // namespace isobit
