// JSON as isobit reads and writes it. The only file that names the JSON library.
//
// Input is strict: UTF-8, no duplicate keys, bounded depth, one value and nothing after it.
// Comments are allowed only where a page of the product says so (matrix and policy files). Output
// for digests is canonical (RFC 8785).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace isobit {

using Json = nlohmann::ordered_json;  // keeps the order in which keys were written

enum class JsonComments { refused, allowed };

struct JsonLimits {
  size_t max_depth = 256;  // nested arrays and objects
  JsonComments comments = JsonComments::refused;
};

// Parses `text`. Throws Error(usage) whose message begins with `where` and says line and column.
Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits = {});

// RFC 8785: keys sorted by UTF-16 code units, no whitespace, shortest number forms. Throws
// Error(internal) on a NaN.
std::string canonical_json(const Json& value);

}  // namespace isobit
