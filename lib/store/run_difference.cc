#include "store/run_difference.h"

#include <map>

#include "record/run_json.h"

namespace isobit {
namespace {

constexpr size_t kMaxShown = 120;

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "...";
}

std::optional<RunDifference> difference(const Json& here, const Json& there,
                                        const std::string& place);

std::optional<RunDifference> members_differ(const Json& here, const Json& there,
                                            const std::string& place) {
  for (const auto& [key, value] : here.items()) {
    const std::string at = place.empty() ? key : place + "." + key;
    if (!there.contains(key)) return RunDifference{at, shown(value), "nothing"};
    if (auto found = difference(value, there[key], at)) return found;
  }
  for (const auto& [key, value] : there.items()) {
    if (!here.contains(key))
      return RunDifference{place.empty() ? key : place + "." + key, "nothing", shown(value)};
  }
  return std::nullopt;
}

std::optional<RunDifference> elements_differ(const Json& here, const Json& there,
                                             const std::string& place) {
  for (size_t i = 0; i < here.size() && i < there.size(); ++i) {
    if (auto found = difference(here[i], there[i], place + "[" + std::to_string(i) + "]"))
      return found;
  }
  if (here.size() == there.size()) return std::nullopt;
  return RunDifference{place, std::to_string(here.size()) + " elements",
                       std::to_string(there.size()) + " elements"};
}

std::optional<RunDifference> difference(const Json& here, const Json& there,
                                        const std::string& place) {
  if (here == there) return std::nullopt;
  if (here.is_object() && there.is_object()) return members_differ(here, there, place);
  if (here.is_array() && there.is_array()) return elements_differ(here, there, place);
  return RunDifference{place, shown(here), shown(there)};
}

std::string key_of(const Json& sample) {
  std::string out;
  for (const char* part : {"cell", "prompt", "repeat", "sample_index", "over_run"})
    out += (sample.contains(part) ? sample[part].dump() : "") + "/";
  return out;
}

// Of answers that both sides have.
std::optional<RunDifference> common_differ(const Json& here, const Json& there,
                                           const std::string& section) {
  std::map<std::string, const Json*> known;
  for (const Json& element : here) known[key_of(element)] = &element;
  for (size_t i = 0; i < there.size(); ++i) {
    const auto at = known.find(key_of(there[i]));
    if (at == known.end()) continue;
    if (auto found = difference(*at->second, there[i], section + "[" + std::to_string(i) + "]"))
      return found;
  }
  return std::nullopt;
}

std::optional<RunDifference> cells_differ(Json here, Json there) {
  for (size_t i = 0; i < here.size() && i < there.size(); ++i) {
    if (here[i]["complete"] == true && there[i]["complete"] == true) continue;
    for (Json* cell : {&here[i], &there[i]}) {
      for (const char* outcome :
           {"complete", "exercised", "not_exercised_reason", "wall_ms", "generated_tokens_per_s"})
        cell->erase(outcome);
    }
  }
  return difference(here, there, "cells");
}

std::optional<RunDifference> difference_so_far(Json here, Json there) {
  for (Json* side : {&here, &there}) {
    (*side)["run"].erase("status");
    (*side)["run"].erase("stop_reason");
  }
  for (const char* section : {"run", "fingerprint", "requests"}) {
    if (auto found = difference(here[section], there[section], section)) return found;
  }
  if (auto found = cells_differ(here["cells"], there["cells"])) return found;
  if (auto found = common_differ(here["samples"], there["samples"], "samples")) return found;
  return common_differ(here["forced"], there["forced"], "forced");
}

}  // namespace

std::optional<RunDifference> run_difference(const RunRecord& here, const RunRecord& there) {
  const Json a = run_sections(here), b = run_sections(there);
  if (here.status == "complete" && there.status == "complete") return difference(a, b, "");
  return difference_so_far(a, b);
}

}  // namespace isobit
