// The safetensors file format: an 8-byte header length, a JSON header, and one gapless buffer of
// tensors.
//
// Read at the strictest: besides all that the reference reader refuses (holes, overlaps, trailing
// bytes, sizes that do not follow from dtype and shape), duplicate keys, unknown members of an
// entry and a header that does not begin with '{' or is padded with anything but spaces are refused
// too, since two readers may understand such a file differently.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/stored_tensor.h"

namespace isobit {

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;            // by (offset, name)
  std::map<std::string, std::string> metadata;  // of "__metadata__"
};

// Parses the header of `file` (the whole file's bytes) and checks every tensor against the file's
// length. `where` names the file in messages. Throws Error(environment).
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& where);

}  // namespace isobit
