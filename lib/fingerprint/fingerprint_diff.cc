#include "fingerprint/fingerprint_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace isobit {
namespace {

using Key = std::pair<FingerprintClass, std::string>;

std::map<Key, const FingerprintItem*> by_key(const Fingerprint& fingerprint) {
  std::map<Key, const FingerprintItem*> out;
  for (const FingerprintItem& item : fingerprint.items)
    out.emplace(Key{item.item_class, item.name}, &item);
  return out;
}

const FingerprintItem* find(const std::map<Key, const FingerprintItem*>& items, const Key& key) {
  const auto it = items.find(key);
  return it == items.end() ? nullptr : it->second;
}

// Nothing when both sides know the item and agree on it.
std::optional<ChangeKind> kind_of(const FingerprintItem* before, const FingerprintItem* after) {
  const auto is_unknown = [](const FingerprintItem* item) {
    return item && item->source == FingerprintSource::kUnknown;
  };
  if (is_unknown(before) || is_unknown(after)) return ChangeKind::kUnknown;
  if (!before) return ChangeKind::kAdded;
  if (!after) return ChangeKind::kRemoved;
  if (before->value != after->value) return ChangeKind::kChanged;
  return std::nullopt;
}

// Equal f32 values in another dtype, order of rows or file format are the same model.
bool same_canonical_root(const std::map<Key, const FingerprintItem*>& a,
                         const std::map<Key, const FingerprintItem*>& b) {
  const Key key{FingerprintClass::kModel, "weights.canonical_root"};
  const FingerprintItem *old_item = find(a, key), *new_item = find(b, key);
  return old_item && new_item && !kind_of(old_item, new_item);
}

bool is_stored_weight(const Key& key) {
  return key.first == FingerprintClass::kModel &&
         (key.second == "weights.stored_root" || key.second.starts_with("tensor.") ||
          key.second == "quantisation");
}

}  // namespace

const char* name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kChanged:
      return "changed";
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kRemoved:
      return "removed";
    case ChangeKind::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::vector<FingerprintItemChange> diff_fingerprints(const Fingerprint& before,
                                                     const Fingerprint& after) {
  const auto old_items = by_key(before), new_items = by_key(after);
  std::set<Key> keys;
  for (const auto& [key, unused] : old_items) keys.insert(key);
  for (const auto& [key, unused] : new_items) keys.insert(key);
  const bool same_values = same_canonical_root(old_items, new_items);
  std::vector<FingerprintItemChange> out;
  for (const Key& key : keys) {
    const FingerprintItem *old_item = find(old_items, key), *new_item = find(new_items, key);
    const std::optional<ChangeKind> kind = kind_of(old_item, new_item);
    if (!kind) continue;
    const ItemRule& rule = rule_of(key.first, key.second);
    FingerprintItemChange& change = out.emplace_back();
    change.kind = *kind;
    change.item_class = key.first;
    change.name = key.second;
    if (old_item) change.before = *old_item;
    if (new_item) change.after = *new_item;
    change.role = rule.role;
    change.effect = rule.effect;
    if (same_values && is_stored_weight(key)) {
      change.role = ItemRole::kAdvisory;
      change.effect =
          "Stored differently, but the f32 values are the same: results of the invariant sets keep "
          "their bits.";
    }
  }
  return out;
}

Verification verify_fingerprint(const Fingerprint& recorded, const Fingerprint& now) {
  Verification out;
  out.changes = diff_fingerprints(recorded, now);
  out.same_everything = out.changes.empty();
  out.same_identity =
      std::none_of(out.changes.begin(), out.changes.end(),
                   [](const FingerprintItemChange& c) { return c.role == ItemRole::kIdentity; });
  return out;
}

}  // namespace isobit
