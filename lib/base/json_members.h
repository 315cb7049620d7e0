// The members of one JSON object, each asked for by name and type, for files with a fixed shape.
//
// What is missing, of another type, out of range or not known is an Error whose message begins with
// the place and shows expected against found.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace isobit {

class JsonMembers {
 public:
  // Throws unless `object` is an object all of whose members are in `known`. It must outlive this.
  JsonMembers(const Json& object, std::string where, const std::vector<std::string>& known,
              ErrorCode code = ErrorCode::environment);

  bool has(const std::string& key) const { return object_.contains(key); }
  const Json& at(const std::string& key) const;
  const Json& array(const std::string& key) const;
  const std::string& text(const std::string& key) const;
  bool flag(const std::string& key) const;
  int64_t integer(const std::string& key, int64_t least = 0,
                  int64_t most = std::numeric_limits<int64_t>::max()) const;
  int32_t int32(const std::string& key, int32_t least = 0) const;
  double number(const std::string& key) const;
  // A whole number of 64 bits, written as a string: JSON readers elsewhere take numbers for
  // doubles.
  uint64_t uint64_text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<int32_t> int32s(const std::string& key) const;

  // "WHERE: key", the place of a member.
  std::string place(const std::string& key) const { return where_ + ": " + key; }
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  const Json& object_;
  std::string where_;
  ErrorCode code_;
};

// "a number", "an object", ...: what was found, for messages.
std::string json_kind(const Json& value);

// An integer that fits 32 bits and is at least `least`; nothing otherwise.
bool is_int32(const Json& value, int32_t least = std::numeric_limits<int32_t>::min());

}  // namespace isobit
