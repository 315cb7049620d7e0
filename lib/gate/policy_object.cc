#include "gate/policy_object.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json_places.h"

namespace isobit {
namespace {

constexpr size_t kMaxShown = 60;
constexpr size_t kMaxTextBytes = 2000;  // every verdict repeats names and reasons

std::string kind_of(const Json& value) {
  if (value.is_number()) return "the number " + value.dump().substr(0, kMaxShown);
  if (value.is_boolean()) return value.dump();
  return value.is_null() ? "null" : std::string("an ") + value.type_name();
}

std::string found(const Json& value) {
  return value.is_string() ? "found a string" : "found " + kind_of(value);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

}  // namespace

PolicyObject::PolicyObject(const PolicyText& file, const Json& value, std::string pointer,
                           const std::vector<std::string>& known_keys)
    : file_(file), value_(value), pointer_(std::move(pointer)) {
  if (!value.is_object()) fail(pointer_, "expected an object, " + found(value));
  for (const auto& [key, member] : value.items()) {
    if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
    const auto place = JsonPlaces(file.text).of_key(pointer_ + pointer_step(key));
    const std::string near = did_you_mean(key, known_keys);
    throw Error(ErrorCode::usage,
                file.where + (place ? place_text(*place) : "") + ": unknown key \"" +
                    key.substr(0, kMaxShown) + "\"" + near,
                "known here: " + listed(known_keys));
  }
}

std::string PolicyObject::text(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  const Json& member = value_.at(key);
  if (!member.is_string()) refuse(key, "expected a string, " + found(member));
  const auto value = member.get<std::string>();
  if (value.size() > kMaxTextBytes)
    refuse(key, "the string has " + std::to_string(value.size()) + " bytes, at most " +
                    std::to_string(kMaxTextBytes) + " are allowed");
  return value;
}

std::string PolicyObject::required_text(const char* key) const {
  const std::string value = text(key);
  if (value.empty())
    refuse(key, has(key) ? std::string("\"") + key + "\" is empty"
                         : std::string("needs \"") + key + "\"");
  return value;
}

std::optional<double> PolicyObject::number(const char* key) const {
  if (!has(key)) return std::nullopt;
  const Json& member = value_.at(key);
  if (!member.is_number()) refuse(key, "expected a number, " + found(member));
  return member.get<double>();
}

int64_t PolicyObject::count(const char* key) const {
  constexpr uint64_t kMost = 1'000'000'000'000;
  if (!has(key)) return 0;
  const Json& member = value_.at(key);
  if (!member.is_number_unsigned() || member.get<uint64_t>() > kMost)
    refuse(key,
           "expected a whole number from 0 to " + std::to_string(kMost) + ", " + found(member));
  return static_cast<int64_t>(member.get<uint64_t>());
}

bool PolicyObject::flag(const char* key) const {
  if (!has(key)) return false;
  const Json& member = value_.at(key);
  if (!member.is_boolean()) refuse(key, "expected true or false, " + found(member));
  return member.get<bool>();
}

std::vector<std::string> PolicyObject::texts(const char* key) const {
  if (!has(key)) return {};
  const Json& member = value_.at(key);
  if (member.is_string()) return {member.get<std::string>()};
  if (!member.is_array()) refuse(key, "expected an array of strings, " + found(member));
  std::vector<std::string> out;
  for (size_t i = 0; i < member.size(); ++i) {
    if (!member[i].is_string()) refuse_item(key, i, "expected a string, " + found(member[i]));
    out.push_back(member[i].get<std::string>());
  }
  return out;
}

std::vector<PolicyObject> PolicyObject::objects(const char* key,
                                                const std::vector<std::string>& known_keys) const {
  if (!has(key)) return {};
  const Json& member = value_.at(key);
  if (!member.is_array()) refuse(key, "expected an array, " + found(member));
  std::vector<PolicyObject> out;
  for (size_t i = 0; i < member.size(); ++i)
    out.emplace_back(file_, member[i], pointer_ + pointer_step(key) + "/" + std::to_string(i),
                     known_keys);
  return out;
}

PolicyObject PolicyObject::object(const char* key,
                                  const std::vector<std::string>& known_keys) const {
  return {file_, value_.at(key), pointer_ + pointer_step(key), known_keys};
}

std::vector<std::string> PolicyObject::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, member] : value_.items()) out.push_back(key);
  return out;
}

size_t PolicyObject::word(const char* key, const std::vector<std::string>& words,
                          size_t otherwise) const {
  if (!has(key)) return otherwise;
  const std::string value = text(key);
  const auto at = std::find(words.begin(), words.end(), value);
  if (at == words.end())
    refuse(key, std::string("\"") + key + "\" is \"" + value.substr(0, kMaxShown) + "\", not " +
                    listed(words) + did_you_mean(value, words));
  return static_cast<size_t>(at - words.begin());
}

void PolicyObject::refuse(const std::string& key, const std::string& what) const {
  fail(value_.contains(key) ? pointer_ + pointer_step(key) : pointer_, what);
}

void PolicyObject::refuse_item(const std::string& key, size_t i, const std::string& what) const {
  fail(pointer_ + pointer_step(key) + "/" + std::to_string(i), what);
}

std::vector<std::string> PolicyObject::places(const char* key) const {
  std::vector<std::string> out;
  for (const TextPlace& place : JsonPlaces(file_.text).of_elements(pointer_ + pointer_step(key)))
    out.push_back(file_.where + place_text(place));
  return out;
}

void PolicyObject::fail(const std::string& pointer, const std::string& what) const {
  const auto place = JsonPlaces(file_.text).of_value(pointer);
  throw Error(ErrorCode::usage, file_.where + (place ? place_text(*place) : "") + ": " + what);
}

}  // namespace isobit
