// Checks a value against the part of JSON Schema 2020-12 that schemas/ uses, so that no report
// leaves its schema unnoticed. A keyword that this does not know is an error, never ignored.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"

namespace isobit::testing {

class SchemaCheck {
 public:
  explicit SchemaCheck(std::string file) : file_(std::move(file)), root_(load(file_)) {}

  // Every place where `value` breaks the schema: "/cells/0/samples: ...". Empty: valid.
  std::vector<std::string> errors(const Json& value) {
    errors_.clear();
    check(root_, value, "");
    return errors_;
  }

 private:
  static Json load(const std::string& file) {
    return parse_json(read_file(std::string(ISOBIT_SOURCE_DIR) + "/schemas/" + file), file);
  }

  void fail(const std::string& at, const std::string& what) { errors_.push_back(at + ": " + what); }

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  static bool has_one_type(const Json& value, const Json& types) {
    if (types.is_string()) return has_type(value, types.get<std::string>());
    return std::any_of(types.begin(), types.end(),
                       [&](const Json& type) { return has_type(value, type.get<std::string>()); });
  }

  void check(const Json& schema, const Json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items())
      check_keyword(keyword, rule, schema, value, at);
  }

  void check_keyword(const std::string& keyword, const Json& rule, const Json& schema,
                     const Json& value, const std::string& at) {
    if (keyword == "$schema" || keyword == "$id" || keyword == "$defs" || keyword == "title" ||
        keyword == "description")
      return;
    if (keyword == "$ref") return check_reference(rule.get<std::string>(), value, at);
    if (keyword == "type") {
      if (!has_one_type(value, rule)) fail(at, "is no " + rule.dump());
    } else if (keyword == "const") {
      if (value != rule) fail(at, "is not " + rule.dump());
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end())
        fail(at, value.dump() + " is not in " + rule.dump());
    } else if (keyword == "anyOf") {
      check_any(rule, value, at);
    } else if (keyword == "pattern") {
      if (value.is_string() &&
          !std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())))
        fail(at, "pattern");
    } else if (keyword == "minimum" || keyword == "maximum") {
      if (value.is_number() && (keyword == "minimum" ? value < rule : value > rule))
        fail(at, keyword);
    } else if (keyword == "minItems" || keyword == "maxItems") {
      const size_t n = rule.get<size_t>();
      if (value.is_array() && (keyword == "minItems" ? value.size() < n : value.size() > n))
        fail(at, keyword);
    } else if (keyword == "items") {
      if (!value.is_array()) return;
      for (size_t i = 0; i < value.size(); ++i) check(rule, value[i], at + "/" + std::to_string(i));
    } else if (keyword == "required") {
      for (const Json& key : rule) {
        if (value.is_object() && !value.contains(key.get<std::string>()))
          fail(at, "lacks " + key.dump());
      }
    } else if (keyword == "properties") {
      for (const auto& [key, sub] : rule.items()) {
        if (value.is_object() && value.contains(key)) check(sub, value.at(key), at + "/" + key);
      }
    } else if (keyword == "additionalProperties") {
      check_additional(rule, schema, value, at);
    } else {
      fail(at, "schema keyword " + keyword + " is not known to this check");
    }
  }

  void check_additional(const Json& rule, const Json& schema, const Json& value,
                        const std::string& at) {
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.items()) {
      if (schema.contains("properties") && schema.at("properties").contains(key)) continue;
      if (rule.is_boolean()) {
        if (!rule.get<bool>()) fail(at, "has the unexpected member " + key);
      } else {
        check(rule, member, at + "/" + key);
      }
    }
  }

  void check_any(const Json& rules, const Json& value, const std::string& at) {
    const std::vector<std::string> before = errors_;
    std::vector<std::string> last;
    for (const Json& rule : rules) {
      errors_.clear();
      check(rule, value, at);
      if (errors_.empty()) {
        errors_ = before;
        return;
      }
      last = errors_;
    }
    errors_ = before;
    errors_.insert(errors_.end(), last.begin(), last.end());
  }

  void check_reference(const std::string& reference, const Json& value, const std::string& at) {
    const std::string local = "#/$defs/";
    if (reference.starts_with(local))
      return check(root_.at("$defs").at(reference.substr(local.size())), value, at);
    for (const std::string& error : SchemaCheck(reference).errors(value))
      errors_.push_back(at + error);
  }

  std::string file_;
  Json root_;
  std::vector<std::string> errors_;
};

}  // namespace isobit::testing
