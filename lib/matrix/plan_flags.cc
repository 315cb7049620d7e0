// Words of the command line that describe a plan.
#include <set>

#include "base/error.h"
#include "matrix/axes.h"
#include "matrix/plan.h"

namespace isobit {
namespace {

struct Flag {
  std::string key;
  std::string value;
};

Flag split_flag(const std::string& text, const std::string& flag, const std::string& form) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorCode::usage, flag + " '" + text + "': expected " + form);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

const char* name(Design design) {
  return design == Design::kGrid ? "grid" : "one-at-a-time";
}

Design design_from_name(std::string_view word) {
  if (word == "one-at-a-time") return Design::kOneAtATime;
  if (word == "grid") return Design::kGrid;
  if (word == "pairwise") {
    throw Error(ErrorCode::unsupported, "design 'pairwise' is not available in this version",
                "use one-at-a-time or grid");
  }
  throw Error(ErrorCode::usage, "there is no design '" + std::string(word.substr(0, 60)) + "'" +
                                    did_you_mean(word, {"one-at-a-time", "grid", "pairwise"}) +
                                    "; expected one-at-a-time or grid");
}

void apply_axis_flags(PlanSpec& spec, std::span<const std::string> axis_flags,
                      std::span<const std::string> set_flags) {
  std::set<std::string> seen;
  for (const std::string& text : axis_flags) {
    const Flag flag = split_flag(text, "--axis", "key=value,value");
    const Axis& axis = find_axis(flag.key);
    if (!seen.insert(axis.key).second) {
      throw Error(ErrorCode::usage, "--axis " + axis.key + " is given twice",
                  "list all its values in one flag");
    }
    std::erase_if(spec.axes, [&](const VariedAxis& varied) { return varied.key == axis.key; });
    spec.axes.push_back({axis.key, normalize_axis_values(axis, flag.value)});
  }
  std::set<std::string> set_seen;
  for (const std::string& text : set_flags) {
    const Flag flag = split_flag(text, "--set", "key=value");
    const Axis& axis = find_axis(flag.key);
    if (!set_seen.insert(axis.key).second) {
      throw Error(ErrorCode::usage, "--set " + axis.key + " is given twice");
    }
    if (!seen.contains(axis.key)) {
      std::erase_if(spec.axes, [&](const VariedAxis& varied) { return varied.key == axis.key; });
    }
    spec.reference[axis.key] = normalize_axis_value(axis, flag.value);
  }
}

}  // namespace isobit
