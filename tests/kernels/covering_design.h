// Which cases of a large product of factors to run: every pair of levels of any two factors at
// least once, in a few hundred cases instead of a million. ISOBIT_KERNEL_CASES=20000 adds so many
// cases drawn from the whole product.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace isobit {

using DesignCase = std::vector<size_t>;  // a level of each factor

class CoveringDesign {
 public:
  CoveringDesign(std::vector<size_t> n_levels, uint32_t seed)
      : n_levels_(std::move(n_levels)), random_(seed) {
    for (size_t f = 0; f < n_levels_.size(); ++f) {
      for (size_t g = f + 1; g < n_levels_.size(); ++g) {
        for (size_t a = 0; a < n_levels_[f]; ++a) {
          for (size_t b = 0; b < n_levels_[g]; ++b) uncovered_.emplace(f, a, g, b);
        }
      }
    }
    while (!uncovered_.empty()) add_case();
    const char* more = std::getenv("ISOBIT_KERNEL_CASES");
    for (int64_t i = 0; more && i < std::atoll(more); ++i) add_random_case();
  }

  const std::vector<DesignCase>& cases() const { return cases_; }

 private:
  using Pair = std::tuple<size_t, size_t, size_t, size_t>;  // factor, level, later factor, level

  static Pair pair_of(size_t f, size_t a, size_t g, size_t b) {
    return f < g ? Pair{f, a, g, b} : Pair{g, b, f, a};
  }

  // Starts from a pair that is missing; each other factor takes the level that adds most.
  void add_case() {
    const auto [f0, a0, g0, b0] = *uncovered_.begin();
    DesignCase levels(n_levels_.size());
    std::vector<size_t> chosen = {f0, g0};
    levels[f0] = a0;
    levels[g0] = b0;
    for (size_t f = 0; f < levels.size(); ++f) {
      if (f == f0 || f == g0) continue;
      levels[f] = best_level(f, levels, chosen);
      chosen.push_back(f);
    }
    for (size_t f = 0; f < levels.size(); ++f) {
      for (size_t g = f + 1; g < levels.size(); ++g)
        uncovered_.erase(pair_of(f, levels[f], g, levels[g]));
    }
    cases_.push_back(std::move(levels));
  }

  size_t best_level(size_t f, const DesignCase& levels, const std::vector<size_t>& chosen) {
    size_t best = random_() % n_levels_[f], most = 0;
    for (size_t a = 0; a < n_levels_[f]; ++a) {
      size_t n = 0;
      for (const size_t g : chosen) n += uncovered_.count(pair_of(f, a, g, levels[g]));
      if (n > most) best = a, most = n;
    }
    return best;
  }

  void add_random_case() {
    DesignCase levels;
    for (const size_t n : n_levels_) levels.push_back(random_() % n);
    cases_.push_back(std::move(levels));
  }

  const std::vector<size_t> n_levels_;
  std::mt19937 random_;
  std::set<Pair> uncovered_;
  std::vector<DesignCase> cases_;
};

}  // namespace isobit
