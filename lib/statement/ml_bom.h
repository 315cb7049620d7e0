// A fingerprint as a CycloneDX 1.6 bill of materials for machine learning.
//
// The model is the subject, with the digests of its files and a model card; tokenizer, template,
// libraries, operating system and devices are components. Every item of the fingerprint is also a
// property "isobit:SOURCE:CLASS:NAME", so that the fingerprint can be read back and its id checked.
// Specification: ECMA-424, cyclonedx.org/docs/1.6.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "record/fingerprint_items.h"

namespace isobit {

struct MlBomInput {
  const Fingerprint& fingerprint;
  std::string model_name;  // "tiny-kjv"
  std::string timestamp;   // RFC 3339; empty: none is said
};

// The serial number follows from all the rest, reasons and sources included.
// JSON with one member a line, ends with a newline: the same input, the same bytes.
std::string ml_bom_text(const MlBomInput& input);

bool looks_like_bom(const Json& root);

// The fingerprint that a BOM of isobit's holds, with the id that it states. Throws
// Error(environment) beginning with `where`.
Fingerprint fingerprint_of_bom(const Json& root, const std::string& where);

// Which parts of a BOM are not what its fingerprint, its model's name and its timestamp give:
// "components" (the model itself among them), "serialNumber", "properties", ... Members and
// properties that isobit does not write are left alone.
std::vector<std::string> parts_unlike_fingerprint(const Json& root, const Fingerprint& fingerprint);

}  // namespace isobit
