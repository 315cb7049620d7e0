#include "record/fingerprint_items.h"

namespace isobit {

const char* name(FingerprintClass item_class) {
  switch (item_class) {
    case FingerprintClass::kModel:
      return "model";
    case FingerprintClass::kText:
      return "text";
    case FingerprintClass::kNumerics:
      return "numerics";
    case FingerprintClass::kSoftware:
      return "software";
    case FingerprintClass::kHardware:
      return "hardware";
    case FingerprintClass::kScheduler:
      return "scheduler";
    case FingerprintClass::kEnvironment:
      return "environment";
  }
  return "unknown";
}

const char* name(FingerprintSource source) {
  switch (source) {
    case FingerprintSource::kMeasured:
      return "measured";
    case FingerprintSource::kDeclared:
      return "declared";
    case FingerprintSource::kServer:
      return "server";
    case FingerprintSource::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace isobit
