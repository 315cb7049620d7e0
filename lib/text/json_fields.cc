#include "text/json_fields.h"

#include <cmath>
#include <vector>

namespace isobit {

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array of " + std::to_string(value.size());
    case Json::value_t::string: {
      const auto& text = value.get_ref<const std::string&>();
      return text.size() <= 40 ? "\"" + text + "\""
                               : "a string of " + std::to_string(text.size()) + " bytes";
    }
    default:
      return value.dump();
  }
}

JsonFields::JsonFields(const Json& object, std::string where, ErrorCode code)
    : object_(object), where_(std::move(where)), code_(code) {
  if (!object_.is_object()) fail("expected an object, found " + describe(object_));
}

void JsonFields::fail(const std::string& what) const {
  throw Error(code_, where_ + ": " + what);
}

void JsonFields::fail_at(const char* key, const std::string& expected) const {
  const Json* value = find(key);
  fail("\"" + std::string(key) + "\": expected " + expected + ", found " +
       (value ? describe(*value) : "nothing"));
}

const Json* JsonFields::find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() ? nullptr : &*it;
}

bool JsonFields::has(const char* key) const {
  const Json* value = find(key);
  return value && !value->is_null();
}

const Json& JsonFields::at(const char* key) const {
  const Json* value = find(key);
  if (!value) fail("\"" + std::string(key) + "\" is missing");
  return *value;
}

std::string JsonFields::string(const char* key) const {
  if (!at(key).is_string()) fail_at(key, "a string");
  return at(key).get<std::string>();
}

std::string JsonFields::string_or(const char* key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

bool JsonFields::boolean(const char* key) const {
  if (!at(key).is_boolean()) fail_at(key, "true or false");
  return at(key).get<bool>();
}

bool JsonFields::boolean_or(const char* key, bool fallback) const {
  return has(key) ? boolean(key) : fallback;
}

int64_t JsonFields::integer(const char* key, int64_t low, int64_t high) const {
  return integer_of(key, at(key), low, high);
}

int64_t JsonFields::integer_of(const std::string& key, const Json& value, int64_t low,
                               int64_t high) const {
  const bool fits =
      value.is_number_integer() &&
      !(value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!fits || value.get<int64_t>() < low || value.get<int64_t>() > high) {
    fail("\"" + key + "\": expected an integer from " + std::to_string(low) + " to " +
         std::to_string(high) + ", found " + describe(value));
  }
  return value.get<int64_t>();
}

double JsonFields::real(const char* key) const {
  if (!at(key).is_number() || !std::isfinite(at(key).get<double>())) fail_at(key, "a number");
  return at(key).get<double>();
}

const Json& JsonFields::array(const char* key) const {
  if (!at(key).is_array()) fail_at(key, "an array");
  return at(key);
}

JsonFields JsonFields::object(const char* key) const {
  if (!at(key).is_object()) fail_at(key, "an object");
  return JsonFields(at(key), where_ + ": " + key, code_);
}

void JsonFields::allow_only(std::initializer_list<std::string_view> keys) const {
  const std::vector<std::string> known(keys.begin(), keys.end());
  for (auto it = object_.begin(); it != object_.end(); ++it) {
    bool found = false;
    for (const std::string& key : known) found = found || key == it.key();
    if (!found) fail("unknown key \"" + it.key() + "\"" + did_you_mean(it.key(), known));
  }
}

}  // namespace isobit
