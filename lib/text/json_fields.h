// Reading JSON objects with messages that name the file and the member.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace isobit {

// A JSON object and the words that lead to it ("tokenizer.json: model.pre_tokenizer"). Every reader
// throws Error(code) with the path, what was expected and what was found.
class JsonFields {
 public:
  JsonFields(const Json& object, std::string where, ErrorCode code);

  bool has(const char* key) const;  // present and not null
  const Json& at(const char* key) const;
  std::string string(const char* key) const;
  std::string string_or(const char* key, std::string fallback) const;
  bool boolean(const char* key) const;
  bool boolean_or(const char* key, bool fallback) const;
  int64_t integer(const char* key, int64_t low, int64_t high) const;
  // The same of a member that is at hand: looking it up would take a pass over all of them.
  int64_t integer_of(const std::string& key, const Json& value, int64_t low, int64_t high) const;
  double real(const char* key) const;  // finite
  const Json& array(const char* key) const;
  JsonFields object(const char* key) const;

  // Refuses any key that is not listed, with the nearest listed one.
  void allow_only(std::initializer_list<std::string_view> keys) const;

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(const char* key, const std::string& expected) const;
  const std::string& where() const { return where_; }
  const Json& json() const { return object_; }

 private:
  const Json* find(const char* key) const;

  const Json& object_;
  std::string where_;
  ErrorCode code_;
};

// "a string", "an object", ...; short values are quoted.
std::string describe(const Json& value);

}  // namespace isobit
