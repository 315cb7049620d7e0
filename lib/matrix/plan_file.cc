#include "matrix/plan_file.h"

#include <limits>

#include "base/error.h"
#include "matrix/axes.h"

namespace isobit {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::usage, where + ": " + what);
}

const char* kind_of(const Json& value) {
  return value.is_number() ? "a number" : value.is_boolean() ? "true or false" : value.type_name();
}

void require_object(const Json& value, const std::string& where) {
  if (!value.is_object()) fail(where, std::string("expected an object, found ") + kind_of(value));
}

void require_array(const Json& value, const std::string& where) {
  if (!value.is_array()) fail(where, std::string("expected an array, found ") + kind_of(value));
}

void refuse_unknown_keys(const Json& object, const std::vector<std::string>& known,
                         const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(where, "unknown key \"" + key.substr(0, 60) + "\"" + did_you_mean(key, known));
    }
  }
}

// Axis values may be written as JSON numbers or strings.
std::string value_text(const Json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return canonical_json(value);
  fail(where, std::string("an axis value is a string or a number, found ") + kind_of(value));
}

// Axis errors carry no place of their own.
template <typename Body>
auto at_place(const std::string& where, const Body& body) {
  try {
    return body();
  } catch (const Error& e) {
    throw Error(e.code(), where + ": " + e.message(), e.hint());
  }
}

AxisValues read_values(const Json& object, const std::string& where) {
  require_object(object, where);
  AxisValues out;
  for (const auto& [key, value] : object.items()) {
    const std::string text = value_text(value, where + "." + key);
    out[key] =
        at_place(where, [&, &axis = key] { return normalize_axis_value(find_axis(axis), text); });
  }
  return out;
}

std::vector<VariedAxis> read_axes(const Json& object, const std::string& where) {
  require_object(object, where);
  std::vector<VariedAxis> out;
  for (const auto& [key, list] : object.items()) {
    require_array(list, where + "." + key);
    if (list.empty()) fail(where + "." + key, "lists no values");
    VariedAxis varied{.key = key, .values = {}};
    for (const Json& value : list) {
      const std::string text = value_text(value, where + "." + key);
      if (text.find(',') != std::string::npos)
        fail(where + "." + key, "'" + text + "' is not one value");
      for (std::string& one : at_place(
               where, [&, &axis = key] { return normalize_axis_values(find_axis(axis), text); })) {
        if (std::ranges::find(varied.values, one) == varied.values.end())
          varied.values.push_back(std::move(one));
      }
    }
    out.push_back(std::move(varied));
  }
  return out;
}

std::vector<AxisValues> read_value_list(const Json& list, const std::string& where) {
  require_array(list, where);
  std::vector<AxisValues> out;
  for (size_t i = 0; i < list.size(); ++i) {
    out.push_back(read_values(list[i], where + "[" + std::to_string(i) + "]"));
    if (out.back().empty()) fail(where + "[" + std::to_string(i) + "]", "names no axis");
  }
  return out;
}

std::vector<Scenario> read_scenarios(const Json& list, const std::string& where) {
  require_array(list, where);
  std::vector<Scenario> out;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string at = where + "[" + std::to_string(i) + "]";
    require_object(list[i], at);
    refuse_unknown_keys(list[i], {"name", "values"}, at);
    if (!list[i].contains("name") || !list[i]["name"].is_string()) fail(at, "needs a \"name\"");
    if (!list[i].contains("values")) fail(at, "needs \"values\"");
    out.push_back(
        {list[i]["name"].get<std::string>(), read_values(list[i]["values"], at + ".values")});
  }
  return out;
}

uint64_t read_count(const Json& value, uint64_t max, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
    fail(where, "expected a whole number from 0 to " + std::to_string(max) + ", found " +
                    value.dump().substr(0, 40));
  }
  return value.get<uint64_t>();
}

PlanSpec read_matrix_json(const Json& root, const std::string& where) {
  require_object(root, where);
  refuse_unknown_keys(root,
                      {"$schema", "design", "reference", "axes", "include", "exclude", "scenarios",
                       "repeats", "seed", "teacher_forcing", "embeddings"},
                      where);
  PlanSpec spec;
  for (const auto& [key, value] : root.items()) {
    const std::string at = where + ": " + key;
    if (key == "design") {
      if (!value.is_string()) fail(at, std::string("expected a string, found ") + kind_of(value));
      spec.design =
          at_place(at, [&, &word = value] { return design_from_name(word.get<std::string>()); });
    } else if (key == "reference") {
      spec.reference = read_values(value, at);
    } else if (key == "axes") {
      spec.axes = read_axes(value, at);
    } else if (key == "include") {
      spec.include = read_value_list(value, at);
    } else if (key == "exclude") {
      spec.exclude = read_value_list(value, at);
    } else if (key == "scenarios") {
      spec.scenarios = read_scenarios(value, at);
    } else if (key == "repeats") {
      spec.repeats = static_cast<int32_t>(read_count(value, 100000, at));
      if (spec.repeats == 0) fail(at, "must be at least 1");
    } else if (key == "seed") {
      spec.seed = read_count(value, std::numeric_limits<uint64_t>::max(), at);
    } else if (key == "teacher_forcing" || key == "embeddings") {
      if (!value.is_boolean()) fail(at, "expected true or false");
      (key == "embeddings" ? spec.embeddings : spec.teacher_forcing) = value.get<bool>();
    } else if (!value.is_string()) {
      fail(at, "expected a string");
    }
  }
  return spec;
}

Json values_to_json(const AxisValues& values) {
  Json out = Json::object();
  for (const auto& [key, value] : values) out[key] = value;
  return out;
}

}  // namespace

PlanSpec read_matrix(std::string_view text, const std::string& where) {
  return read_matrix_json(
      parse_json(text, where, {.max_depth = 16, .comments = JsonComments::allowed}), where);
}

Json matrix_to_json(const PlanSpec& spec) {
  Json out = Json::object();
  out["design"] = name(spec.design);
  out["reference"] = values_to_json(spec.reference);
  out["axes"] = Json::object();
  for (const VariedAxis& axis : spec.axes) out["axes"][axis.key] = axis.values;
  const auto list = [](const std::vector<AxisValues>& entries) {
    Json array = Json::array();
    for (const AxisValues& values : entries) array.push_back(values_to_json(values));
    return array;
  };
  out["include"] = list(spec.include);
  out["exclude"] = list(spec.exclude);
  out["scenarios"] = Json::array();
  for (const Scenario& s : spec.scenarios) {
    out["scenarios"].push_back({{"name", s.name}, {"values", values_to_json(s.values)}});
  }
  out["repeats"] = spec.repeats;
  out["seed"] = spec.seed;
  // Only where they are not the default: plans stored before there was a choice stay as they are.
  if (!spec.teacher_forcing) out["teacher_forcing"] = false;
  if (spec.embeddings) out["embeddings"] = true;
  return out;
}

namespace {

Json cell_to_json(const CellRecord& cell) {
  return {{"index", cell.index},
          {"name", cell.name},
          {"values", values_to_json(cell.values)},
          {"reference_index", cell.reference_index}};
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  Json cells = Json::array();
  for (const CellRecord& cell : plan.cells) cells.push_back(cell_to_json(cell));
  Json out = Json::object();
  out["matrix"] = matrix_to_json(plan.spec);
  out["cells"] = std::move(cells);
  out["order"] = plan.order;
  return out;
}

Plan plan_from_json(std::string_view text, const std::string& where) {
  try {
    const Json stored = parse_json(text, where, {.max_depth = 16});
    require_object(stored, where);
    refuse_unknown_keys(stored, {"matrix", "cells", "order"}, where);
    if (!stored.contains("matrix")) fail(where, "has no \"matrix\"");
    const PlanSpec spec = read_matrix_json(stored["matrix"], where);
    for (const CellNaming naming : {CellNaming::kBesideReference, CellNaming::kBesideDefaults}) {
      Plan plan = make_plan(spec, naming);
      if (canonical_json(plan_to_json(plan)) == canonical_json(stored)) return plan;
    }
    fail(where, "this version expands the stored matrix to other cells than were stored");
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, "the stored plan cannot be used: " + e.message(),
                "start a new run instead of resuming this one");
  }
}

std::string first_cell_unlike_plan(std::string_view text, std::span<const CellRecord> cells,
                                   const std::string& where) {
  const Json stored = parse_json(text, where, {.max_depth = 16});
  if (!stored.is_object() || !stored.contains("cells") || !stored["cells"].is_array())
    return where + " lists no cells";
  const Json& planned = stored["cells"];
  if (planned.size() != cells.size())
    return where + " lists " + std::to_string(planned.size()) + " cells, the run has " +
           std::to_string(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    if (canonical_json(planned[i]) != canonical_json(cell_to_json(cells[i])))
      return "cell " + std::to_string(i) + " ('" + cells[i].name +
             "') has not the name, the values or the reference that " + where + " gives it";
  }
  return {};
}

}  // namespace isobit
