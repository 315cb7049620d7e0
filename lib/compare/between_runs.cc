// compare_runs: every cell of a candidate against its counterpart in a base run, request by
// request.
#include <algorithm>
#include <set>

#include "compare/conclusions.h"
#include "compare/group_keys.h"
#include "compare/pairing.h"
#include "compare/recorded_samples.h"
#include "compare/reference_noise.h"
#include "compare/request_differences.h"
#include "compare/request_identity.h"
#include "compare/run_comparison.h"
#include "compare/run_facts.h"
#include "compare/sorted.h"
#include "compare/summary.h"

namespace isobit {
namespace {

using CellPairs =
    std::vector<std::pair<const CellRecord*, const CellRecord*>>;  // (base, candidate)

struct CellMatch {
  CellPairs pairs;  // by the base cell's index
  std::vector<std::string> only_in_base;
  std::vector<std::string> only_in_candidate;
};

std::set<std::string> varying_axes(const RunRecord& run) {
  std::map<std::string, std::set<std::string>> values;
  for (const CellRecord& cell : run.cells) {
    for (const auto& [axis, value] : cell.values) values[axis].insert(value);
  }
  std::set<std::string> axes;
  for (const auto& [axis, distinct] : values) {
    if (distinct.size() > 1) axes.insert(axis);
  }
  return axes;
}

std::map<std::string, std::string> restricted(const CellRecord& cell,
                                              const std::set<std::string>& axes) {
  std::map<std::string, std::string> values;
  for (const auto& [axis, value] : cell.values) {
    if (axes.contains(axis)) values.emplace(axis, value);
  }
  return values;
}

// A name that says no values: a scenario's.
bool is_scenario(const CellRecord& cell) {
  return cell.name != "reference" && cell.name.find('=') == std::string::npos;
}

bool nothing_contradicts(const std::map<std::string, std::string>& a,
                         const std::map<std::string, std::string>& b) {
  return std::ranges::all_of(a, [&](const auto& entry) {
    const auto at = b.find(entry.first);
    return at == b.end() || at->second == entry.second;
  });
}

// By the axes that vary in either run, so that a setting which one run gave to all its cells
// (another kernel set, say) does not hide that the cells correspond: those that are also named the
// same first. Names decide where one run does not mention an axis that the other varies, and last
// those of scenarios, whatever their values have become.
CellMatch match_cells(const RunRecord& base, const RunRecord& candidate) {
  std::vector<const CellRecord*> left_base = cells_in_order(base);
  std::vector<const CellRecord*> left_candidate = cells_in_order(candidate);
  std::set<std::string> axes = varying_axes(base);
  axes.merge(varying_axes(candidate));
  CellMatch match;
  const auto take = [&](const auto& corresponds) {
    std::erase_if(left_base, [&](const CellRecord* a) {
      const auto at = std::find_if(left_candidate.begin(), left_candidate.end(),
                                   [&](const CellRecord* b) { return corresponds(*a, *b); });
      if (at == left_candidate.end()) return false;
      match.pairs.emplace_back(a, *at);
      left_candidate.erase(at);
      return true;
    });
  };
  const auto same_values = [&](const CellRecord& a, const CellRecord& b) {
    return restricted(a, axes) == restricted(b, axes);
  };
  take([&](const CellRecord& a, const CellRecord& b) {
    return a.name == b.name && same_values(a, b);
  });
  take(same_values);
  take([&](const CellRecord& a, const CellRecord& b) {
    return a.name == b.name && nothing_contradicts(restricted(a, axes), restricted(b, axes));
  });
  take([](const CellRecord& a, const CellRecord& b) { return is_scenario(a) && a.name == b.name; });
  std::sort(match.pairs.begin(), match.pairs.end(),
            [](const auto& x, const auto& y) { return x.first->index < y.first->index; });
  for (const CellRecord* cell : left_base) match.only_in_base.push_back(cell->name);
  for (const CellRecord* cell : left_candidate) match.only_in_candidate.push_back(cell->name);
  return match;
}

std::set<int32_t> repeats_of(const CellSide& side) {
  std::set<int32_t> out = {0};
  for (const auto& [key, sample] : side.samples.of_cell(side.cell.index)) out.insert(key.repeat);
  return out;
}

// Every (prompt, choice, repeat) that either cell has, in the base run's numbering. Repeats that
// only the base run was asked for are left out: they are its own noise. Those that only the
// candidate was asked for are its answers too, and each is held to the base's first (pairing.h).
// A cell that is complete has each choice of each request in every repeat that it has: what both
// runs lack is missing as well.
std::vector<SampleKey> expected_keys(const CellSide& base, const CellSide& candidate,
                                     const std::map<int32_t, int32_t>& prompt_map) {
  const int32_t last_repeat = candidate.samples.max_repeat();
  std::vector<SampleKey> keys;
  const auto add = [&](SampleKey key) {
    if (key.repeat <= last_repeat) keys.push_back(key);
    for (int32_t s = 0; s < base.run.requests[static_cast<size_t>(key.prompt_index)].sampling.n;
         ++s) {
      keys.push_back({.prompt_index = key.prompt_index, .sample_index = s, .repeat = 0});
    }
  };
  std::map<int32_t, int32_t> to_base;
  for (const auto& [mine, theirs] : prompt_map) to_base[theirs] = mine;
  for (const auto& [key, trace] : base.samples.of_cell(base.cell.index)) {
    if (prompt_map.contains(key.prompt_index)) add(key);
  }
  for (auto [key, sample] : candidate.samples.of_cell(candidate.cell.index)) {
    const auto mine = to_base.find(key.prompt_index);
    if (mine == to_base.end()) continue;
    key.prompt_index = mine->second;
    add(key);
  }
  if (base.cell.complete && candidate.cell.complete) {
    for (const SampleKey& key : product(asked_choices(base.run), repeats_of(candidate))) {
      if (prompt_map.contains(key.prompt_index)) keys.push_back(key);
    }
  }
  return sorted_once(std::move(keys));
}

CellComparison compare_matched_cells(const CellSide& base, const CellSide& candidate,
                                     const std::map<int32_t, int32_t>& prompt_map,
                                     const PairingOptions& options) {
  CellComparison line = describe_cell(base, candidate);
  for (const ValueChange& change : line.changes) {
    const auto shown = [](const std::string& value) {
      return value.empty() ? std::string("not set") : value;
    };
    line.changed_values.push_back(change.axis + ": " + shown(change.from) + " -> " +
                                  shown(change.to));
  }
  compare_cells(line, base, candidate, prompt_map, expected_keys(base, candidate, prompt_map),
                options);
  summarise_pairs(line);
  return line;
}

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  for (const std::string& id : b) {
    if (std::find(a.begin(), a.end(), id) == a.end()) a.push_back(id);
  }
  return a;
}

}  // namespace

RunComparison compare_runs(const RunRecord& base, const RunRecord& candidate,
                           const CompareOptions& options) {
  RunComparison comparison;
  comparison.kind = ComparisonKind::kBetweenRuns;
  comparison.base = describe_run(base);
  comparison.candidate = describe_run(candidate);
  const RecordedSamples base_samples(base);
  const RecordedSamples candidate_samples(candidate);
  note_noise(comparison, reference_noise(base, base_samples, options));
  std::vector<RowObservation> rows;
  const PairingOptions pairing{.thresholds = with_noise(options.flips, comparison.noise_drift),
                               .over_run = base.id,
                               .detail = options.detail,
                               .rows = options.detail == Detail::kFull ? &rows : nullptr};

  RequestMatch requests = match_requests(base.requests, candidate.requests);
  comparison.prompts_only_in_base = std::move(requests.only_in_base);
  comparison.prompts_only_in_candidate = std::move(requests.only_in_candidate);
  if (comparison.base.prompts_digest != comparison.candidate.prompts_digest)
    comparison.request_differences = request_differences(base.requests, candidate.requests);
  CellMatch cells = match_cells(base, candidate);
  comparison.cells_only_in_base = std::move(cells.only_in_base);
  comparison.cells_only_in_candidate = std::move(cells.only_in_candidate);

  for (const auto& [a, b] : cells.pairs) {
    const CellSide base_side{.run = base, .samples = base_samples, .cell = *a};
    const CellSide candidate_side{.run = candidate, .samples = candidate_samples, .cell = *b};
    comparison.cells.push_back(
        compare_matched_cells(base_side, candidate_side, requests.base_to_candidate, pairing));
  }
  summarise_cells(comparison);
  comparison.unsampled_requests = joined(unsampled_requests(base), unsampled_requests(candidate));
  comparison.request_tags = request_tags(base);
  comparison.fingerprint_changes = fingerprint_changes(base.fingerprint, candidate.fingerprint);
  conclude(comparison, {.run = base, .samples = base_samples}, pairing);
  return comparison;
}

}  // namespace isobit
