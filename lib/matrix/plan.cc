#include "matrix/plan.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "matrix/axes.h"
#include "matrix/seeded_order.h"

namespace isobit {
namespace {

constexpr size_t kMaxCells = 10000;

const std::string& value_or_default(const AxisValues& values, const Axis& axis) {
  const auto at = values.find(axis.key);
  return at == values.end() ? axis.default_value : at->second;
}

// `peak` is whatever the target's scheduler allows at most, so it counts as more than any number.
int64_t concurrency_rank(const std::string& value) {
  return value == "peak" ? int64_t{1} << 40 : std::stoll(value);
}

// Cells while they are being collected: grouped by identity values, each once.
class CellList {
 public:
  // `base` has a value for every axis that the plan mentions.
  explicit CellList(AxisValues base) : base_(std::move(base)) {}

  const AxisValues& base() const { return base_; }

  AxisValues at_base(const AxisValues& partial) const {
    AxisValues values = base_;
    for (const auto& [key, value] : partial) values[key] = value;
    return values;
  }

  // Adds the group's reference cell before the first other one.
  void add(const AxisValues& values) {
    AxisValues reference = values;
    for (auto& [key, value] : reference) {
      if (find_axis(key).kind == AxisKind::kSchedule) value = base_.at(key);
    }
    if (seen_.insert(reference).second) {
      if (const auto reason = impossible_reason(reference)) {
        throw Error(
            ErrorCode::usage,
            "the reference cell '" + cell_name(reference, base_) + "' is impossible: " + *reason,
            "raise --set load.concurrency, or vary the axis with --axis instead of setting it");
      }
      groups_.push_back({reference});
    }
    if (!seen_.insert(values).second) return;
    if (const auto reason = impossible_reason(values)) {
      left_out_.push_back({cell_name(values, base_), *reason});
      return;
    }
    group_of(reference).push_back(values);
    n_others_++;
    if (seen_.size() > kMaxCells) {
      throw Error(ErrorCode::usage,
                  "the plan has more than " + std::to_string(kMaxCells) + " cells",
                  "list fewer values, or use --design one-at-a-time");
    }
  }

  std::vector<std::vector<AxisValues>>& groups() { return groups_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  size_t n_others() const { return n_others_; }

 private:
  std::vector<AxisValues>& group_of(const AxisValues& reference) {
    return *std::ranges::find_if(groups_, [&](const auto& group) { return group[0] == reference; });
  }

  AxisValues base_;
  std::vector<std::vector<AxisValues>> groups_;  // [i][0] is the group's reference cell
  std::vector<LeftOut> left_out_;
  std::set<AxisValues> seen_;
  size_t n_others_ = 0;
};

void check_values(const AxisValues& values) {
  for (const auto& [key, value] : values) {
    if (normalize_axis_value(find_axis(key), value) != value) {
      throw Error(ErrorCode::usage,
                  "axis '" + key + "': '" + value + "' is not the normal spelling");
    }
  }
}

void check_spec(const PlanSpec& spec) {
  if (spec.repeats < 1 || spec.repeats > 100000) {
    throw Error(ErrorCode::usage,
                "repeats must be from 1 to 100000, found " + std::to_string(spec.repeats));
  }
  check_values(spec.reference);
  for (const VariedAxis& axis : spec.axes) {
    if (axis.values.empty())
      throw Error(ErrorCode::usage, "axis '" + axis.key + "' lists no values");
    for (const std::string& value : axis.values) check_values({{axis.key, value}});
  }
  for (const AxisValues& values : spec.include) check_values(values);
  for (const AxisValues& values : spec.exclude) check_values(values);
  std::set<std::string> names;
  for (const Scenario& scenario : spec.scenarios) {
    check_values(scenario.values);
    if (scenario.name.empty() || scenario.name == "reference" ||
        scenario.name.find_first_of("=,") != std::string::npos ||
        !names.insert(scenario.name).second) {
      throw Error(ErrorCode::usage,
                  "scenario name '" + scenario.name + "' is empty, taken, or holds '=' or ','");
    }
  }
}

// The values from which everything varies, for every axis that the plan mentions.
AxisValues base_values(const PlanSpec& spec) {
  AxisValues base;
  const auto mention = [&](const std::string& key) {
    base.try_emplace(key, find_axis(key).default_value);
  };
  for (const auto& [key, value] : spec.reference) base[key] = value;
  for (const VariedAxis& varied : spec.axes) {
    const Axis& axis = find_axis(varied.key);
    const bool default_listed =
        std::ranges::find(varied.values, axis.default_value) != varied.values.end();
    // An identity axis whose default is not asked for gets no cell at its default.
    base.try_emplace(varied.key, axis.kind == AxisKind::kSchedule || default_listed
                                     ? axis.default_value
                                     : varied.values[0]);
  }
  for (const AxisValues& values : spec.include) {
    for (const auto& entry : values) mention(entry.first);
  }
  for (const Scenario& scenario : spec.scenarios) {
    for (const auto& entry : scenario.values) mention(entry.first);
  }
  return base;
}

std::vector<const VariedAxis*> axes_of_kind(const PlanSpec& spec, AxisKind kind) {
  std::vector<const VariedAxis*> out;
  for (const Axis& axis : axes()) {
    for (const VariedAxis& varied : spec.axes) {
      if (varied.key == axis.key && axis.kind == kind) out.push_back(&varied);
    }
  }
  return out;
}

// Every combination of the varied axes' values over `start`, the last axis fastest.
std::vector<AxisValues> combinations(const AxisValues& start,
                                     const std::vector<const VariedAxis*>& varied) {
  std::vector<AxisValues> out{start};
  for (const VariedAxis* axis : varied) {
    if (out.size() * axis->values.size() > kMaxCells) {
      throw Error(ErrorCode::usage,
                  "the grid has more than " + std::to_string(kMaxCells) + " combinations",
                  "list fewer values, or use --design one-at-a-time");
    }
    std::vector<AxisValues> next;
    for (const AxisValues& values : out) {
      for (const std::string& value : axis->values) {
        next.push_back(values);
        next.back()[axis->key] = value;
      }
    }
    out = std::move(next);
  }
  return out;
}

// `start`, then each single change from it.
std::vector<AxisValues> single_changes(const AxisValues& start,
                                       const std::vector<const VariedAxis*>& varied) {
  std::vector<AxisValues> out{start};
  for (const VariedAxis* axis : varied) {
    for (const std::string& value : axis->values) {
      AxisValues changed = start;
      changed[axis->key] = value;
      if (changed != start) out.push_back(std::move(changed));
    }
  }
  return out;
}

// The concurrency at which an axis that needs company varies in a one-at-a-time plan: the
// reference's own when it is above 1, else the largest one listed.
std::string company_concurrency(const PlanSpec& spec, const AxisValues& base) {
  std::string best = value_or_default(base, find_axis("load.concurrency"));
  if (concurrency_rank(best) > 1) return best;
  for (const VariedAxis& varied : spec.axes) {
    if (varied.key != "load.concurrency") continue;
    for (const std::string& value : varied.values) {
      if (concurrency_rank(value) > concurrency_rank(best)) best = value;
    }
  }
  return best;
}

void add_one_at_a_time(CellList& cells, const PlanSpec& spec) {
  const std::string company = company_concurrency(spec, cells.base());
  for (const AxisValues& group :
       single_changes(cells.base(), axes_of_kind(spec, AxisKind::kIdentity))) {
    cells.add(group);
    for (AxisValues values : single_changes(group, axes_of_kind(spec, AxisKind::kSchedule))) {
      for (const auto& [key, value] : values) {
        if (!find_axis(key).needs_company || value == group.at(key)) continue;
        if (company != value_or_default(values, find_axis("load.concurrency")))
          values["load.concurrency"] = company;
        break;
      }
      cells.add(values);
    }
  }
}

void add_grid(CellList& cells, const PlanSpec& spec) {
  for (const AxisValues& group :
       combinations(cells.base(), axes_of_kind(spec, AxisKind::kIdentity))) {
    cells.add(group);
    for (const AxisValues& values : combinations(group, axes_of_kind(spec, AxisKind::kSchedule)))
      cells.add(values);
  }
}

bool has_all(const AxisValues& values, const AxisValues& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& entry) {
    return value_or_default(values, find_axis(entry.first)) == entry.second;
  });
}

bool names_identity_only(const AxisValues& values) {
  return std::ranges::all_of(
      values, [](const auto& e) { return find_axis(e.first).kind == AxisKind::kIdentity; });
}

void apply_excludes(CellList& cells, const std::vector<AxisValues>& excludes) {
  for (const AxisValues& wanted : excludes) {
    if (wanted.empty())
      throw Error(ErrorCode::usage, "an exclude entry without values would exclude every cell");
    auto& groups = cells.groups();
    if (names_identity_only(wanted)) {
      std::erase_if(groups, [&](const auto& group) { return has_all(group[0], wanted); });
    }
    for (auto& group : groups) {
      group.erase(std::remove_if(group.begin() + 1, group.end(),
                                 [&](const auto& v) { return has_all(v, wanted); }),
                  group.end());
    }
  }
}

void number_cells(Plan& plan, const std::vector<std::vector<AxisValues>>& groups,
                  const AxisValues& named_beside) {
  SplitMix64 random(plan.spec.seed);
  for (const auto& group : groups) {
    const auto reference_index = static_cast<int32_t>(plan.cells.size());
    for (const AxisValues& values : group) {
      const auto index = static_cast<int32_t>(plan.cells.size());
      CellRecord& cell = plan.cells.emplace_back();
      cell.index = index;
      cell.name = cell_name(values, named_beside);
      cell.values = values;
      cell.reference_index = reference_index;
      plan.order.push_back(index);
    }
    shuffle(plan.order.data() + reference_index, group.size(), random);
  }
}

void name_scenarios(Plan& plan, const AxisValues& base) {
  for (const Scenario& scenario : plan.spec.scenarios) {
    AxisValues values = base;
    for (const auto& [key, value] : scenario.values) values[key] = value;
    for (CellRecord& cell : plan.cells) {
      if (cell.values == values && !cell.is_reference()) cell.name = scenario.name;
    }
  }
}

void refuse_if_empty(const PlanSpec& spec, const CellList& cells, const Plan& plan) {
  if (plan.cells.empty()) throw Error(ErrorCode::usage, "the exclude entries leave no cell");
  if (cells.n_others() > 0 || plan.left_out.empty() || plan.cells.size() > 1) return;
  throw Error(ErrorCode::usage,
              "none of the cells asked for can happen: " + plan.left_out[0].name + ": " +
                  plan.left_out[0].reason,
              spec.reference.contains("load.concurrency") ? "raise --set load.concurrency"
                                                          : "add --axis load.concurrency=8");
}

}  // namespace

std::string cell_name(const AxisValues& values, const AxisValues& base) {
  std::string out;
  for (const Axis& axis : axes()) {
    const auto at = values.find(axis.key);
    if (at == values.end() || at->second == value_or_default(base, axis)) continue;
    out += (out.empty() ? "" : ",") + axis.key + "=" + at->second;
  }
  return out.empty() ? "reference" : out;
}

std::string axis_value(const CellRecord& cell, std::string_view key) {
  return value_or_default(cell.values, find_axis(key));
}

std::optional<std::string> impossible_reason(const AxisValues& values) {
  const auto value = [&](const char* key) { return value_or_default(values, find_axis(key)); };
  if (value("load.concurrency") == "1") {
    for (const Axis& axis : axes()) {
      const std::string& own = value_or_default(values, axis);
      if (axis.needs_company && own != axis.default_value) {
        return axis.key + "=" + own +
               " has no effect on a request that runs alone (load.concurrency=1)";
      }
    }
  }
  if (value("load.batch_shape") == "needle" && value("load.neighbours") != "same") {
    return "load.batch_shape=needle brings its own short neighbours, so load.neighbours=" +
           value("load.neighbours") + " cannot hold at the same time";
  }
  if (value("load.batch_shape") == "mixed" && value("load.position") != "first") {
    return "load.batch_shape=mixed admits prompts one after the other, each to the row that is "
           "free, so load.position=" +
           value("load.position") + " has nothing to choose";
  }
  if (value("prompt.length") == "near-limit" && value("output.length") == "long") {
    return "prompt.length=near-limit and output.length=long both claim the rest of the context";
  }
  return std::nullopt;
}

Plan make_plan(const PlanSpec& spec, CellNaming naming) {
  check_spec(spec);
  CellList cells(base_values(spec));
  spec.design == Design::kGrid ? add_grid(cells, spec) : add_one_at_a_time(cells, spec);
  for (const AxisValues& values : spec.include) cells.add(cells.at_base(values));
  for (const Scenario& scenario : spec.scenarios) {
    const AxisValues values = cells.at_base(scenario.values);
    if (const auto reason = impossible_reason(values)) {
      throw Error(ErrorCode::usage, "scenario '" + scenario.name + "' cannot happen: " + *reason);
    }
    cells.add(values);
  }
  apply_excludes(cells, spec.exclude);

  Plan plan{.spec = spec, .cells = {}, .order = {}, .left_out = cells.left_out()};
  number_cells(plan, cells.groups(),
               naming == CellNaming::kBesideReference ? cells.base() : AxisValues());
  name_scenarios(plan, cells.base());
  refuse_if_empty(spec, cells, plan);
  return plan;
}

}  // namespace isobit
