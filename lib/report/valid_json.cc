#include "report/valid_json.h"

#include "report/untrusted_text.h"

namespace isobit {

Json valid_json(const Json& value) {
  if (value.is_string()) return json_text(value.get<std::string>());
  Json out = value.is_object() ? Json::object() : value.is_array() ? Json::array() : value;
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) out[json_text(key)] = valid_json(member);
  } else if (value.is_array()) {
    for (const Json& item : value) out.push_back(valid_json(item));
  }
  return out;
}

}  // namespace isobit
