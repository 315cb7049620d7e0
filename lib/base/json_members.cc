#include "base/json_members.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace isobit {
namespace {

bool is_integer(const Json& value, int64_t least, int64_t most) {
  if (value.is_number_unsigned())
    return value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
           value.get<int64_t>() >= least && value.get<int64_t>() <= most;
  return value.is_number_integer() && value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

}  // namespace

std::string json_kind(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    default:
      return value.dump().substr(0, 40);
  }
}

bool is_int32(const Json& value, int32_t least) {
  return is_integer(value, least, std::numeric_limits<int32_t>::max());
}

JsonMembers::JsonMembers(const Json& object, std::string where,
                         const std::vector<std::string>& known, ErrorCode code)
    : object_(object), where_(std::move(where)), code_(code) {
  if (!object.is_object()) refuse("an object is expected, found " + json_kind(object));
  for (const auto& [key, unused] : object.items()) {
    if (std::ranges::find(known, key) == known.end())
      refuse("unknown key \"" + key.substr(0, 60) + "\"" + did_you_mean(key, known));
  }
}

const Json& JsonMembers::at(const std::string& key) const {
  const auto it = object_.find(key);
  if (it == object_.end()) refuse("\"" + key + "\" is missing");
  return *it;
}

const Json& JsonMembers::array(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_array()) refuse(key, "an array is expected, found " + json_kind(value));
  return value;
}

const std::string& JsonMembers::text(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_string()) refuse(key, "a string is expected, found " + json_kind(value));
  return value.get_ref<const std::string&>();
}

bool JsonMembers::flag(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_boolean()) refuse(key, "true or false is expected, found " + json_kind(value));
  return value.get<bool>();
}

int64_t JsonMembers::integer(const std::string& key, int64_t least, int64_t most) const {
  const Json& value = at(key);
  if (!is_integer(value, least, most)) {
    refuse(key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                    " is expected, found " + json_kind(value));
  }
  return value.get<int64_t>();
}

int32_t JsonMembers::int32(const std::string& key, int32_t least) const {
  return static_cast<int32_t>(integer(key, least, std::numeric_limits<int32_t>::max()));
}

double JsonMembers::number(const std::string& key) const {
  const Json& value = at(key);
  if (!value.is_number()) refuse(key, "a number is expected, found " + json_kind(value));
  return value.get<double>();
}

uint64_t JsonMembers::uint64_text(const std::string& key) const {
  const std::string& digits = text(key);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    refuse(key, "a whole number of 64 bits in a string is expected, found \"" +
                    digits.substr(0, 40) + "\"");
  }
  return value;
}

std::vector<std::string> JsonMembers::texts(const std::string& key) const {
  std::vector<std::string> out;
  for (const Json& value : array(key)) {
    if (!value.is_string()) refuse(key, "strings are expected, found " + json_kind(value));
    out.push_back(value.get<std::string>());
  }
  return out;
}

std::vector<int32_t> JsonMembers::int32s(const std::string& key) const {
  std::vector<int32_t> out;
  out.reserve(array(key).size());
  for (const Json& value : array(key)) {
    if (!is_int32(value))
      refuse(key, "whole numbers of 32 bits are expected, found " + json_kind(value));
    out.push_back(value.get<int32_t>());
  }
  return out;
}

void JsonMembers::refuse(const std::string& what) const {
  throw Error(code_, where_ + ": " + what);
}

void JsonMembers::refuse(const std::string& key, const std::string& what) const {
  throw Error(code_, place(key) + ": " + what);
}

}  // namespace isobit
