#include "checkpoint/config_fields.h"

#include <cmath>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

bool is_whole(const Json& v) {
  return v.is_number_integer() && !(v.is_number_unsigned() && v.get<uint64_t>() > INT64_MAX);
}

}  // namespace

const Json* ConfigFields::find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

std::optional<int64_t> ConfigFields::integer(const char* key) const {
  const Json* v = find(key);
  if (!v) return std::nullopt;
  if (!is_whole(*v)) wrong(key, *v, "a whole number");
  return v->get<int64_t>();
}

int64_t ConfigFields::required_integer(const char* key) const {
  if (const auto v = integer(key)) return *v;
  refuse(where_, std::string("no ") + key);
}

std::optional<double> ConfigFields::real(const char* key) const {
  const Json* v = find(key);
  if (!v) return std::nullopt;
  if (!v->is_number()) wrong(key, *v, "a number");
  return v->get<double>();
}

std::optional<double> ConfigFields::positive(const char* key) const {
  const std::optional<double> v = real(key);
  if (v && !(*v > 0 && std::isfinite(*v))) wrong(key, *find(key), "a positive number");
  return v;
}

double ConfigFields::required_positive(const char* key) const {
  if (const auto v = positive(key)) return *v;
  refuse(where_, std::string("no ") + key);
}

std::vector<double> ConfigFields::required_reals(const char* key) const {
  const Json* v = find(key);
  if (!v) refuse(where_, std::string("no ") + key);
  if (!v->is_array()) wrong(key, *v, "a list of numbers");
  std::vector<double> out;
  for (const Json& element : *v) {
    if (!element.is_number()) wrong(key, element, "a list of numbers");
    out.push_back(element.get<double>());
  }
  return out;
}

bool ConfigFields::boolean(const char* key, bool otherwise) const {
  const Json* v = find(key);
  if (!v) return otherwise;
  if (!v->is_boolean()) wrong(key, *v, "true or false");
  return v->get<bool>();
}

std::optional<std::string> ConfigFields::string(const char* key) const {
  const Json* v = find(key);
  if (!v) return std::nullopt;
  if (!v->is_string()) wrong(key, *v, "a string");
  return v->get<std::string>();
}

const Json* ConfigFields::object_at(const char* key) const {
  const Json* v = find(key);
  if (v && !v->is_object()) wrong(key, *v, "an object");
  return v;
}

std::optional<std::vector<int64_t>> ConfigFields::integers(const char* key) const {
  const Json* v = find(key);
  if (!v) return std::nullopt;
  if (!v->is_array()) wrong(key, *v, "a list of whole numbers");
  std::vector<int64_t> out;
  for (const Json& element : *v) {
    if (!is_whole(element)) wrong(key, element, "a list of whole numbers");
    out.push_back(element.get<int64_t>());
  }
  return out;
}

std::vector<int32_t> ConfigFields::token_ids(const char* key) const {
  const Json* v = find(key);
  if (!v) return {};
  std::vector<int32_t> out;
  for (const Json& id : v->is_array() ? *v : Json::array({*v})) {
    const bool fits =
        id.is_number_integer() && id.get<double>() >= 0 && id.get<double>() <= INT32_MAX;
    if (!fits) wrong(key, id, "a token id");
    out.push_back(id.get<int32_t>());
  }
  return out;
}

void ConfigFields::wrong(const char* key, const Json& found, const char* expected) const {
  refuse(where_, std::string(key) + " is " +
                     shown(found.dump(-1, ' ', true, Json::error_handler_t::replace)) +
                     ", expected " + expected);
}

}  // namespace isobit
