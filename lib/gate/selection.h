// Which pairs of a comparison a rule looks at, and in which units: the whole run, each cell, each
// value of an axis, each tag, each prompt. What an override lets through is taken out here and
// counted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/run_comparison.h"
#include "gate/policy.h"

namespace isobit {

struct SelectedCell {
  const CellComparison* cell = nullptr;
  std::vector<const PairComparison*> pairs;
};

// What one figure is made of.
struct Selection {
  const RunComparison* comparison = nullptr;
  std::string unit;  // "run", a cell's name, "axis=value", a tag, a request id
  std::vector<SelectedCell> cells;
};

// A policy's tiers, with one for the requests that none of them takes; a policy without tiers has
// one without name.
std::vector<Tier> tiers_of(const Policy& policy);

// Which tier a request belongs to, by its index. One tier of all requests where a policy has none;
// else the policy's tiers in order, and last the requests that no tier took.
class TierList {
 public:
  TierList(const Policy& policy, const RunComparison& comparison);

  const std::vector<Tier>& tiers() const { return tiers_; }
  size_t of_prompt(int32_t prompt_index) const;
  Level level_of(int32_t prompt_index) const { return tiers_[of_prompt(prompt_index)].level; }
  bool divided() const { return divided_; }

 private:
  std::vector<Tier> tiers_;
  std::vector<size_t> of_prompt_;
  bool divided_;
};

// The overrides of a policy, asked pair by pair and cell by cell.
class Waivers {
 public:
  explicit Waivers(const std::vector<Override>& overrides) : overrides_(overrides) {}

  // By an override that names a cell or a prompt. `rule_id` empty: of no rule in particular, as
  // evidence is.
  bool covers(const std::string& rule_id, const std::string& cell,
              const std::string& request_id) const;
  bool covers_cell(const std::string& rule_id, const std::string& cell) const;
  // By an override that names a rule and neither cell nor prompt.
  const Override* of_rule(const std::string& rule_id) const;

 private:
  const std::vector<Override>& overrides_;
};

// In the order of the comparison; axis values by axis. A unit without pairs stays where a selector
// could mean it. `tier`: only its requests.
std::vector<Selection> select(const Rule& rule, const RunComparison& comparison,
                              const Waivers& waivers, const TierList* tiers = nullptr,
                              std::optional<size_t> tier = std::nullopt);

// Cells that are compared with something: within a run not the reference cells, unless repeats of
// theirs were.
bool takes_part(const RunComparison& comparison, const CellComparison& cell);

bool selects_cell(const Selectors& where, const CellComparison& cell);

}  // namespace isobit
