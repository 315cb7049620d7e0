#include "compare/run_facts.h"

#include <algorithm>
#include <set>

#include "compare/recorded_samples.h"

namespace isobit {
namespace {

using ItemKey = std::pair<FingerprintClass, std::string>;

std::map<ItemKey, std::string> known_items(const Fingerprint& fingerprint) {
  std::map<ItemKey, std::string> items;
  for (const FingerprintItem& item : fingerprint.items) {
    if (item.source != FingerprintSource::kUnknown)
      items[{item.item_class, item.name}] = item.value;
  }
  return items;
}

std::optional<std::string> value_of(const std::map<ItemKey, std::string>& items,
                                    const ItemKey& key) {
  const auto at = items.find(key);
  return at == items.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

const char* name(PairState state) {
  switch (state) {
    case PairState::kCompared:
      return "compared";
    case PairState::kReferenceMissing:
      return "reference_missing";
    case PairState::kCandidateMissing:
      return "candidate_missing";
  }
  return "unknown";
}

const char* name(ComparisonKind kind) {
  return kind == ComparisonKind::kWithinRun ? "within_run" : "between_runs";
}

Sameness PairComparison::sameness(Level level) const {
  return state == PairState::kCompared ? sameness_at(level, divergence) : Sameness::kMissing;
}

namespace {

std::vector<std::string> settings_of_all_cells(const RunRecord& run) {
  std::vector<std::string> out;
  if (run.cells.empty()) return out;
  for (const auto& [axis, value] : run.cells[0].values) {
    const auto has_it = [&wanted_axis = axis, &wanted = value](const CellRecord& cell) {
      const auto at = cell.values.find(wanted_axis);
      return at != cell.values.end() && at->second == wanted;
    };
    const bool everywhere = std::ranges::all_of(run.cells, has_it);
    if (everywhere) out.push_back(axis + "=" + value);
  }
  return out;
}

}  // namespace

RunSide describe_run(const RunRecord& run) {
  return {.id = run.id,
          .target = run.target,
          .label = run.label,
          .status = run.status,
          .prompts_digest = run.prompts_digest,
          .fingerprint = run.fingerprint,
          .redacted = run.redacted,
          .settings = settings_of_all_cells(run)};
}

std::vector<std::string> unsampled_requests(const RunRecord& run) {
  std::set<int32_t> sampled;
  for (const SampleRecord& sample : run.samples) sampled.insert(sample.prompt_index);
  std::vector<std::string> ids;
  for (size_t i = 0; i < run.requests.size(); ++i) {
    if (!sampled.contains(static_cast<int32_t>(i))) ids.push_back(run.requests[i].id);
  }
  return ids;
}

std::vector<std::vector<std::string>> request_tags(const RunRecord& run) {
  std::vector<std::vector<std::string>> tags;
  for (const Request& request : run.requests) tags.push_back(request.tags);
  return tags;
}

std::vector<ValueChange> value_changes(const std::map<std::string, std::string>& from,
                                       const std::map<std::string, std::string>& to) {
  std::set<std::string> axes;
  for (const auto& [axis, value] : from) axes.insert(axis);
  for (const auto& [axis, value] : to) axes.insert(axis);
  std::vector<ValueChange> changes;
  for (const std::string& axis : axes) {
    const auto a = from.find(axis);
    const auto b = to.find(axis);
    ValueChange change{.axis = axis,
                       .from = a == from.end() ? "" : a->second,
                       .to = b == to.end() ? "" : b->second};
    if (change.from != change.to) changes.push_back(std::move(change));
  }
  return changes;
}

FlipThresholds with_noise(FlipThresholds thresholds, const std::optional<Drift>& noise) {
  if (noise) thresholds.tie_nats = std::max(thresholds.tie_nats, 2 * noise->nats);
  return thresholds;
}

void sort_by_cell_order(RunComparison& comparison, const RunRecord& run) {
  std::map<std::string, int32_t> order;
  for (const CellRecord& cell : run.cells) order[cell.name] = cell.index;
  std::sort(comparison.cells.begin(), comparison.cells.end(),
            [&](const CellComparison& a, const CellComparison& b) {
              return order.at(a.name) < order.at(b.name);
            });
}

std::vector<FingerprintChange> fingerprint_changes(const Fingerprint& base,
                                                   const Fingerprint& candidate) {
  const auto a = known_items(base);
  const auto b = known_items(candidate);
  std::set<ItemKey> keys;
  for (const auto& [key, value] : a) keys.insert(key);
  for (const auto& [key, value] : b) keys.insert(key);
  std::vector<FingerprintChange> changes;
  for (const ItemKey& key : keys) {
    FingerprintChange change{.item_class = key.first,
                             .name = key.second,
                             .base = value_of(a, key),
                             .candidate = value_of(b, key)};
    if (change.base != change.candidate) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace isobit
