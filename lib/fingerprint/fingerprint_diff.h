// What changed between two fingerprints, and what such a change can affect.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/fingerprint_items.h"

namespace isobit {

// What an item says about the comparability of two runs. Data: the table in item_rules.cc.
enum class ItemRole {
  kIdentity,    // another value is another model or another text: outputs are not comparable
  kArithmetic,  // another value is another definition of the result: bits are expected to differ
  kAdvisory,    // may move bits of sets that promise nothing; the invariant sets keep theirs
};
const char* name(ItemRole role);  // "identity", "arithmetic", "advisory"

struct ItemRule {
  FingerprintClass item_class;
  std::string_view prefix;  // of the item's name; the longest that fits decides
  ItemRole role;
  std::string_view effect;  // one sentence: what a change can affect
};
// Every item has a rule: each class has one with an empty prefix.
const ItemRule& rule_of(FingerprintClass item_class, std::string_view item_name);
const std::vector<ItemRule>& item_rules();

// kUnknown: at least one side does not know the value, so nothing is known about a change. It is
// never counted as equal.
enum class ChangeKind { kChanged, kAdded, kRemoved, kUnknown };
const char* name(ChangeKind kind);  // "changed", "added", "removed", "unknown"

struct FingerprintItemChange {
  ChangeKind kind = ChangeKind::kChanged;
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;
  std::optional<FingerprintItem> before, after;
  ItemRole role = ItemRole::kAdvisory;
  std::string effect;
};

// In the order of the items. Empty when every item is known and the same on both sides.
std::vector<FingerprintItemChange> diff_fingerprints(const Fingerprint& before,
                                                     const Fingerprint& after);

// A recorded fingerprint held against one computed now.
struct Verification {
  bool same_identity = false;  // every identity item known and the same: the same model and text
  bool same_everything = false;
  std::vector<FingerprintItemChange> changes;
};
Verification verify_fingerprint(const Fingerprint& recorded, const Fingerprint& now);

}  // namespace isobit
