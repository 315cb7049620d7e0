#include "statement/in_toto.h"

#include "base/digest.h"
#include "base/error.h"
#include "statement/base64.h"

namespace isobit {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "the statement was damaged or is not one of in-toto; write it again");
}

const std::string& text_of(const Json& object, const char* key, const std::string& where) {
  if (!object.contains(key) || !object[key].is_string())
    refuse(where, std::string("a string \"") + key + "\" is expected");
  return object[key].get_ref<const std::string&>();
}

std::string optional_text(const Json& object, const char* key, const std::string& where) {
  return object.contains(key) ? text_of(object, key, where) : "";
}

void read_digests(const Json& json, const std::string& where, Resource& out) {
  if (!json.contains("digest")) return;
  if (!json["digest"].is_object()) refuse(where, "\"digest\" is no object");
  for (const auto& [algorithm, value] : json["digest"].items()) {
    if (!value.is_string() || value.get_ref<const std::string&>().empty())
      refuse(where, "the digest \"" + algorithm.substr(0, 40) + "\" is no string");
    out.digests[algorithm] = value.get<std::string>();
  }
  const auto sha256 = out.digests.find("sha256");
  if (sha256 == out.digests.end()) refuse(where, "has no digest \"sha256\"");
  if (!is_sha256_hex(sha256->second))
    refuse(where, "the digest \"sha256\" is '" + sha256->second.substr(0, 80) +
                      "', expected 64 lower-case hexadecimal digits");
}

Resource read_resource(const Json& json, const std::string& where) {
  if (!json.is_object()) refuse(where, "an object is expected");
  Resource out;
  out.name = optional_text(json, "name", where);
  out.media_type = optional_text(json, "mediaType", where);
  read_digests(json, where, out);
  if (json.contains("content")) {
    out.content = base64_decoded(text_of(json, "content", where));
    if (!out.content) refuse(where, "\"content\" is not base64");
  }
  if (json.contains("annotations")) {
    if (!json["annotations"].is_object()) refuse(where, "\"annotations\" is no object");
    out.annotations = json["annotations"];
  }
  return out;
}

}  // namespace

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Resource resource_with_content(std::string name, std::string content, std::string media_type) {
  Resource out;
  out.name = std::move(name);
  out.digests["sha256"] = sha256_hex(content);
  out.content = std::move(content);
  out.media_type = std::move(media_type);
  return out;
}

Json resource_json(const Resource& resource) {
  Json out = {{"name", resource.name}, {"digest", Json::object()}};
  for (const auto& [algorithm, value] : resource.digests) out["digest"][algorithm] = value;
  if (resource.content) out["content"] = base64(*resource.content);
  if (!resource.media_type.empty()) out["mediaType"] = resource.media_type;
  if (!resource.annotations.empty()) out["annotations"] = resource.annotations;
  return out;
}

std::string statement_text(const InTotoStatement& statement) {
  Json subjects = Json::array();
  for (const Resource& subject : statement.subjects) subjects.push_back(resource_json(subject));
  return canonical_json({{"_type", kStatementType},
                         {"subject", std::move(subjects)},
                         {"predicateType", statement.predicate_type},
                         {"predicate", statement.predicate}});
}

bool looks_like_statement(const Json& root) {
  return root.is_object() && root.contains("_type") && root.contains("predicateType");
}

InTotoStatement read_statement(const Json& root, const std::string& where) {
  if (!root.is_object()) refuse(where, "an object is expected");
  const std::string& type = text_of(root, "_type", where);
  if (type != kStatementType)
    refuse(where, "its type is '" + type.substr(0, 80) + "', expected '" + kStatementType + "'");
  InTotoStatement out;
  out.predicate_type = text_of(root, "predicateType", where);
  if (!root.contains("subject") || !root["subject"].is_array() || root["subject"].empty())
    refuse(where, "\"subject\" is no list with a subject in it");
  for (const Json& subject : root["subject"]) {
    const std::string at = where + ": subject[" + std::to_string(out.subjects.size()) + "]";
    out.subjects.push_back(read_resource(subject, at));
    if (out.subjects.back().digests.empty()) refuse(at, "has no digest");
  }
  if (root.contains("predicate")) out.predicate = root["predicate"];
  return out;
}

InTotoStatement parse_statement(std::string_view text, const std::string& where) {
  try {
    return read_statement(parse_json(text, where, {.max_depth = 64}), where);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::usage) throw;
    refuse(where, e.message().substr(std::min(e.message().size(), where.size() + 2)));
  }
}

std::vector<Resource> configuration_of(const InTotoStatement& statement, const std::string& where) {
  std::vector<Resource> out;
  const Json& predicate = statement.predicate;
  if (!predicate.is_object() || !predicate.contains("configuration")) return out;
  if (!predicate["configuration"].is_array()) refuse(where, "\"configuration\" is no list");
  for (const Json& resource : predicate["configuration"]) {
    out.push_back(
        read_resource(resource, where + ": configuration[" + std::to_string(out.size()) + "]"));
  }
  return out;
}

std::string result_of(const InTotoStatement& statement, const std::string& where) {
  if (statement.predicate_type != kTestResultType) return "";
  if (!statement.predicate.is_object()) refuse(where, "has no predicate");
  const std::string& result = text_of(statement.predicate, "result", where + ": predicate");
  if (result != "PASSED" && result != "WARNED" && result != "FAILED")
    refuse(where,
           "the result is '" + result.substr(0, 40) + "', expected PASSED, WARNED or FAILED");
  return result;
}

}  // namespace isobit
