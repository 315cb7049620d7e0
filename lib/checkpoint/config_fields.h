// Typed reads of one JSON object of a configuration, refused by the field's name when it is of
// another type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace isobit {

// A null counts as absent, as transformers writes it.
class ConfigFields {
 public:
  // `object` must outlive this.
  ConfigFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {}

  const Json& object() const { return object_; }
  const std::string& where() const { return where_; }
  const Json* find(const char* key) const;
  // Also when it is null.
  bool states(const char* key) const { return object_.contains(key); }

  std::optional<int64_t> integer(const char* key) const;
  int64_t required_integer(const char* key) const;
  std::optional<double> real(const char* key) const;
  double required_positive(const char* key) const;
  std::optional<double> positive(const char* key) const;
  std::vector<double> required_reals(const char* key) const;
  bool boolean(const char* key, bool otherwise) const;
  std::optional<std::string> string(const char* key) const;
  // The object at `key`, or null.
  const Json* object_at(const char* key) const;
  // Whole numbers of a list; nothing when it is absent.
  std::optional<std::vector<int64_t>> integers(const char* key) const;
  // An id, a list of ids, or nothing.
  std::vector<int32_t> token_ids(const char* key) const;

  [[noreturn]] void wrong(const char* key, const Json& found, const char* expected) const;

 private:
  const Json& object_;
  std::string where_;
};

}  // namespace isobit
