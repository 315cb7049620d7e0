#include "gate/selection.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace isobit {
namespace {

using Names = std::vector<std::string>;

bool any_matches(const Names& patterns, const std::string& text) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const auto& p) { return matches(p, text); });
}

const Names& tags_of(const RunComparison& comparison, int32_t prompt_index) {
  static const Names kNone;
  const auto i = static_cast<size_t>(prompt_index);
  return i < comparison.request_tags.size() ? comparison.request_tags[i] : kNone;
}

bool share_a_tag(const Names& wanted, const Names& tags) {
  return std::any_of(tags.begin(), tags.end(), [&](const auto& tag) {
    return std::find(wanted.begin(), wanted.end(), tag) != wanted.end();
  });
}

std::string value_of(const CellComparison& cell, const std::string& axis) {
  const auto at = cell.values.find(axis);
  return at == cell.values.end() ? std::string() : at->second;
}

// An override that leaves a name empty means all of them; an unnamed rule is never a suspicious
// flip.
bool names_rule(const Override& o, const std::string& rule_id) {
  if (o.rule.empty()) return !rule_id.starts_with("suspicious-flips");
  return o.rule == rule_id;
}

bool every_pair(const PairComparison&) {
  return true;
}

// Splits what a rule selects into its units.
class Selector {
 public:
  Selector(const Rule& rule, const RunComparison& comparison, const Waivers& waivers,
           const TierList* tiers, std::optional<size_t> tier)
      : rule_(rule), comparison_(comparison), waivers_(waivers), tiers_(tiers), tier_(tier) {}

  std::vector<Selection> units() const {
    switch (rule_.scope) {
      case Scope::kRun:
        return {unit("run", kept_cells(every_pair))};
      case Scope::kCell:
        return cell_units();
      case Scope::kAxis:
        return axis_units();
      case Scope::kTag:
        return tag_units();
      case Scope::kPrompt:
        return prompt_units();
    }
    return {};
  }

 private:
  Selection unit(std::string name, std::vector<SelectedCell> cells) const {
    return {.comparison = &comparison_, .unit = std::move(name), .cells = std::move(cells)};
  }

  bool keeps_cell(const CellComparison& cell) const {
    return takes_part(comparison_, cell) && selects_cell(rule_.where, cell) &&
           !waivers_.covers_cell(rule_.id, cell.name);
  }

  bool keeps_pair(const CellComparison& cell, const PairComparison& pair) const {
    if (tier_ && tiers_->of_prompt(pair.prompt_index) != *tier_) return false;
    if (!any_matches(rule_.where.prompts, pair.request_id)) return false;
    if (!rule_.where.tags.empty() &&
        !share_a_tag(rule_.where.tags, tags_of(comparison_, pair.prompt_index)))
      return false;
    return !waivers_.covers(rule_.id, cell.name, pair.request_id);
  }

  template <typename Wanted>
  SelectedCell kept_pairs(const CellComparison& cell, const Wanted& wanted) const {
    SelectedCell out{.cell = &cell, .pairs = {}};
    for (const PairComparison& pair : cell.pairs) {
      if (wanted(pair) && keeps_pair(cell, pair)) out.pairs.push_back(&pair);
    }
    return out;
  }

  template <typename Wanted>
  std::vector<SelectedCell> kept_cells(const Wanted& wanted) const {
    std::vector<SelectedCell> out;
    for (const CellComparison& cell : comparison_.cells) {
      if (keeps_cell(cell)) out.push_back(kept_pairs(cell, wanted));
    }
    return out;
  }

  std::vector<Selection> cell_units() const {
    std::vector<Selection> out;
    for (SelectedCell& cell : kept_cells(every_pair)) {
      const std::string name = cell.cell->name;
      out.push_back(unit(name, {std::move(cell)}));
    }
    return out;
  }

  std::vector<Selection> axis_units() const {
    std::vector<Selection> out;
    const std::vector<SelectedCell> cells = kept_cells(every_pair);
    for (const AxisSummary& axis : comparison_.axes) {
      const bool named = rule_.where.axes.contains(axis.axis);
      if (rule_.where.axes.empty() ? axis.values.size() < 2 : !named) continue;
      for (const AxisValueSummary& value : axis.values) {
        std::vector<SelectedCell> here;
        std::copy_if(
            cells.begin(), cells.end(), std::back_inserter(here),
            [&](const SelectedCell& c) { return value_of(*c.cell, axis.axis) == value.value; });
        if (!here.empty()) out.push_back(unit(axis.axis + "=" + value.value, std::move(here)));
      }
    }
    return out;
  }

  std::vector<Selection> tag_units() const {
    std::set<std::string> tags;
    for (const Names& names : comparison_.request_tags) tags.insert(names.begin(), names.end());
    std::vector<Selection> out;
    for (const std::string& tag : tags) {
      if (!rule_.where.tags.empty() && !share_a_tag(rule_.where.tags, {tag})) continue;
      out.push_back(unit(tag, kept_cells([&](const PairComparison& pair) {
                           return share_a_tag({tag}, tags_of(comparison_, pair.prompt_index));
                         })));
    }
    return out;
  }

  // One pass over the pairs: a unit per prompt may be thousands.
  std::vector<Selection> prompt_units() const {
    std::map<int32_t, Selection> units;
    for (const SelectedCell& cell : kept_cells(every_pair)) {
      for (const PairComparison* pair : cell.pairs) {
        Selection& of =
            units.try_emplace(pair->prompt_index, unit(pair->request_id, {})).first->second;
        if (of.cells.empty() || of.cells.back().cell != cell.cell)
          of.cells.push_back({.cell = cell.cell, .pairs = {}});
        of.cells.back().pairs.push_back(pair);
      }
    }
    std::vector<Selection> out;
    for (auto& [index, selection] : units) out.push_back(std::move(selection));
    return out;
  }

  const Rule& rule_;
  const RunComparison& comparison_;
  const Waivers& waivers_;
  const TierList* tiers_;
  std::optional<size_t> tier_;
};

}  // namespace

std::vector<Tier> tiers_of(const Policy& policy) {
  std::vector<Tier> tiers = policy.tiers;
  const bool takes_all =
      std::any_of(tiers.begin(), tiers.end(), [](const Tier& t) { return t.tags.empty(); });
  if (!takes_all) {
    const char* name = tiers.empty() ? "" : "other requests";
    tiers.push_back({.name = name, .tags = {}, .level = policy.level});
  }
  return tiers;
}

TierList::TierList(const Policy& policy, const RunComparison& comparison)
    : tiers_(tiers_of(policy)), divided_(!policy.tiers.empty()) {
  for (const Names& tags : comparison.request_tags) {
    const auto tier = std::find_if(tiers_.begin(), tiers_.end(), [&](const Tier& t) {
      return t.tags.empty() || share_a_tag(t.tags, tags);
    });
    of_prompt_.push_back(static_cast<size_t>(tier - tiers_.begin()));
  }
}

size_t TierList::of_prompt(int32_t prompt_index) const {
  const auto i = static_cast<size_t>(prompt_index);
  return i < of_prompt_.size() ? of_prompt_[i] : tiers_.size() - 1;
}

bool Waivers::covers(const std::string& rule_id, const std::string& cell,
                     const std::string& request_id) const {
  return std::any_of(overrides_.begin(), overrides_.end(), [&](const Override& o) {
    return (!o.cell.empty() || !o.prompt.empty()) && names_rule(o, rule_id) &&
           (o.cell.empty() || matches(o.cell, cell)) &&
           (o.prompt.empty() || matches(o.prompt, request_id));
  });
}

bool Waivers::covers_cell(const std::string& rule_id, const std::string& cell) const {
  return std::any_of(overrides_.begin(), overrides_.end(), [&](const Override& o) {
    return !o.cell.empty() && o.prompt.empty() && names_rule(o, rule_id) && matches(o.cell, cell);
  });
}

const Override* Waivers::of_rule(const std::string& rule_id) const {
  const auto at = std::find_if(overrides_.begin(), overrides_.end(), [&](const Override& o) {
    return o.rule == rule_id && o.cell.empty() && o.prompt.empty();
  });
  return at == overrides_.end() ? nullptr : &*at;
}

bool takes_part(const RunComparison& comparison, const CellComparison& cell) {
  return comparison.kind == ComparisonKind::kBetweenRuns || !cell.is_reference ||
         !cell.pairs.empty();
}

bool selects_cell(const Selectors& where, const CellComparison& cell) {
  if (!any_matches(where.cells, cell.name)) return false;
  return std::all_of(where.axes.begin(), where.axes.end(), [&](const auto& axis) {
    return axis.second.empty() || any_matches(axis.second, value_of(cell, axis.first));
  });
}

std::vector<Selection> select(const Rule& rule, const RunComparison& comparison,
                              const Waivers& waivers, const TierList* tiers,
                              std::optional<size_t> tier) {
  ISOBIT_REQUIRE(!tier || tiers != nullptr);
  return Selector(rule, comparison, waivers, tiers, tier).units();
}

}  // namespace isobit
