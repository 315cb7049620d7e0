// Collects items while a fingerprint is computed. Values come from files, drivers and variables:
// they are made printable here.
#pragma once

#include <string>
#include <vector>

#include "record/fingerprint_items.h"

namespace isobit {

class ItemList {
 public:
  void measured(FingerprintClass item_class, std::string name, std::string value) {
    add(item_class, std::move(name), std::move(value), FingerprintSource::kMeasured, {});
  }
  void declared(FingerprintClass item_class, std::string name, std::string value) {
    add(item_class, std::move(name), std::move(value), FingerprintSource::kDeclared, {});
  }
  // Looked for, and known not to be there.
  void absent(FingerprintClass item_class, std::string name, std::string reason) {
    add(item_class, std::move(name), "absent", FingerprintSource::kMeasured, std::move(reason));
  }
  void unknown(FingerprintClass item_class, std::string name, std::string reason) {
    add(item_class, std::move(name), {}, FingerprintSource::kUnknown, std::move(reason));
  }
  // Declared, or unknown for `reason` when `value` is empty.
  void declared_or_unknown(FingerprintClass item_class, std::string name, const std::string& value,
                           const std::string& reason) {
    value.empty() ? unknown(item_class, std::move(name), reason)
                  : declared(item_class, std::move(name), value);
  }

  void append(std::vector<FingerprintItem> items) {
    items_.insert(items_.end(), items.begin(), items.end());
  }

  std::vector<FingerprintItem> take() { return std::move(items_); }

 private:
  void add(FingerprintClass item_class, std::string name, std::string value,
           FingerprintSource source, std::string reason);

  std::vector<FingerprintItem> items_;
};

// The groups of items, one file each.
struct FingerprintInputs;
void add_model_items(const FingerprintInputs& inputs, ItemList& items);
void add_numerics_items(const FingerprintInputs& inputs, ItemList& items);

}  // namespace isobit
