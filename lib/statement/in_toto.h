// in-toto Statements: what is said (a predicate) of which bytes (subjects, by digest).
//
// in-toto Attestation Framework v1 (github.com/in-toto/attestation, spec/v1). The predicate that
// isobit writes is test-result v0.1: PASSED, WARNED or FAILED under a configuration, with the names
// of the rules that gave it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace isobit {

inline constexpr const char* kStatementType = "https://in-toto.io/Statement/v1";
inline constexpr const char* kTestResultType = "https://in-toto.io/attestation/test-result/v0.1";

// A resource descriptor: something with a name, its digests, and maybe its bytes.
struct Resource {
  std::string name;
  std::map<std::string, std::string> digests;  // "sha256" -> lower-case hexadecimal
  std::optional<std::string> content;
  std::string media_type;             // empty: not said
  Json annotations = Json::object();  // extension members begin with "isobit_"
};

// 64 lower-case hexadecimal digits.
bool is_sha256_hex(std::string_view text);

// A resource whose bytes stand in the statement, with their digest.
Resource resource_with_content(std::string name, std::string content, std::string media_type);

struct InTotoStatement {
  std::vector<Resource> subjects = {};
  std::string predicate_type = {};
  Json predicate = {};
};

Json resource_json(const Resource& resource);

// Canonical JSON: the same statement, the same bytes.
std::string statement_text(const InTotoStatement& statement);

bool looks_like_statement(const Json& root);

// Throws Error(environment) beginning with `where`: another type, no subjects, a subject without a
// digest, digests without a SHA-256, members of other types. Members that are not known are
// ignored, as the framework asks for; so are digests of other algorithms beside the SHA-256.
InTotoStatement read_statement(const Json& root, const std::string& where);
InTotoStatement parse_statement(std::string_view text, const std::string& where);

// The resources in the predicate's "configuration"; none where the predicate has no such list.
std::vector<Resource> configuration_of(const InTotoStatement& statement, const std::string& where);

// "PASSED", "WARNED" or "FAILED" of a test-result; empty for other predicates. Throws for a
// test-result without it.
std::string result_of(const InTotoStatement& statement, const std::string& where);

}  // namespace isobit
