// The inference fingerprint as data: what could change an answer, item by item.
#pragma once

#include <string>
#include <vector>

namespace isobit {

enum class FingerprintClass {
  kModel,
  kText,
  kNumerics,
  kSoftware,
  kHardware,
  kScheduler,
  kEnvironment
};
enum class FingerprintSource { kMeasured, kDeclared, kServer, kUnknown };

struct FingerprintItem {
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;   // dotted, without the class: "weights.stored_root"
  std::string value;  // empty when the source is kUnknown
  FingerprintSource source = FingerprintSource::kMeasured;
  std::string reason;  // why it is unknown, or absent
};

struct Fingerprint {
  std::vector<FingerprintItem> items;  // sorted by (class, name); names are unique within a class
  std::string id;                      // SHA-256 (hex) of the canonical JSON of the items
};

const char* name(FingerprintClass item_class);  // "model", "text", ...
const char* name(FingerprintSource source);     // "measured", ...

}  // namespace isobit
