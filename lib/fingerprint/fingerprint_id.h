// The id of a list of items: what two fingerprints are compared by first.
#pragma once

#include <string>
#include <vector>

#include "record/fingerprint_items.h"

namespace isobit {

// SHA-256 (hex) of the canonical JSON of class, name, source and value of every item, in order.
// Reasons are left out: the same absence may be worded differently by two versions of a library.
std::string fingerprint_id(const std::vector<FingerprintItem>& items);

}  // namespace isobit
