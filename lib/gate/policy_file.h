// Policies as files: JSON with comments (schemas/policy.schema.json), the ready ones among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "gate/policy.h"

namespace isobit {

// Throws Error(usage) for anything that the schema does not allow. A message begins with `where`
// and the line and column, and offers the nearest known word.
Policy read_policy(std::string_view text, const std::string& where);

// The same format, everything spelled out.
Json policy_to_json(const Policy& policy);

// The files of examples/policies, as they are there.
struct ReadyPolicy {
  std::string name;  // of the file, without ".json"
  std::string_view text;
};
const std::vector<ReadyPolicy>& ready_policies();

// Throws Error(usage) with the nearest name.
Policy ready_policy(const std::string& name);

}  // namespace isobit
