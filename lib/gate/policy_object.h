// A JSON object of a policy file while it is read: typed members, and errors that point at the line
// and column where the person who wrote it has to look.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace isobit {

// The file that all objects of one policy come from.
struct PolicyText {
  std::string_view text;
  std::string where;  // its name
};

class PolicyObject {
 public:
  // Throws Error(usage) unless `value` is an object of known keys only.
  PolicyObject(const PolicyText& file, const Json& value, std::string pointer,
               const std::vector<std::string>& known_keys);

  bool has(const char* key) const { return value_.contains(key); }
  std::string text(const char* key, const std::string& otherwise = {}) const;
  std::string required_text(const char* key) const;
  std::optional<double> number(const char* key) const;
  int64_t count(const char* key) const;                   // 0 when absent
  bool flag(const char* key) const;                       // false when absent
  std::vector<std::string> texts(const char* key) const;  // a string stands for a list of it
  // The members of an array, each an object of its own.
  std::vector<PolicyObject> objects(const char* key,
                                    const std::vector<std::string>& known_keys) const;
  PolicyObject object(const char* key, const std::vector<std::string>& known_keys) const;
  const Json& value(const char* key) const { return value_.at(key); }
  std::vector<std::string> keys() const;

  // One of these words, by index.
  size_t word(const char* key, const std::vector<std::string>& words, size_t otherwise) const;

  // Points at the member's value, or at the object itself for a member that is not there.
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;
  [[noreturn]] void refuse_item(const std::string& key, size_t i, const std::string& what) const;
  // "policy.json, line 3, column 5", for each member of an array.
  std::vector<std::string> places(const char* key) const;

 private:
  [[noreturn]] void fail(const std::string& pointer, const std::string& what) const;

  const PolicyText& file_;
  const Json& value_;
  std::string pointer_;
};

}  // namespace isobit
