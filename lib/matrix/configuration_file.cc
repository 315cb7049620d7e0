#include "matrix/configuration_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/json_members.h"
#include "matrix/axes.h"

namespace isobit {
namespace {

// What the file calls a setting, and its axis.
constexpr std::array<std::pair<const char*, const char*>, 5> kSettings = {
    {{"kernel_set", "engine.kernel_set"},
     {"isa", "engine.isa"},
     {"threads", "engine.threads"},
     {"kv_dtype", "engine.kv_dtype"},
     {"chunked_prefill", "engine.chunked_prefill"}}};

std::string setting_text(const JsonMembers& members, const std::string& key) {
  const Json& value = members.at(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  members.refuse(key, "a string or a whole number is expected, found " + json_kind(value));
}

std::string normalised(const JsonMembers& members, const char* key, const char* axis) {
  try {
    return normalize_axis_value(find_axis(axis), setting_text(members, key));
  } catch (const Error& e) {
    throw Error(e.code(), members.place(key) + ": " + e.message(), e.hint());
  }
}

// Names go into the fingerprint as they are.
void check_name(const JsonMembers& members, const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '_' || c == '-' || c == '.';
      });
  if (!good)
    members.refuse("environment",
                   "the name '" + name.substr(0, 80) + "' is not 1 to 64 of [0-9A-Za-z_.-]");
}

std::map<std::string, std::string> read_environment(const JsonMembers& members) {
  std::map<std::string, std::string> out;
  const Json& object = members.at("environment");
  if (!object.is_object())
    members.refuse("environment", "an object is expected, found " + json_kind(object));
  for (const auto& [name, value] : object.items()) {
    check_name(members, name);
    if (!value.is_string())
      members.refuse("environment", name + ": a string is expected, found " + json_kind(value));
    out[name] = value.get<std::string>();
  }
  return out;
}

}  // namespace

Configuration read_configuration(std::string_view text, const std::string& where) {
  const Json root = parse_json(text, where, {.max_depth = 8, .comments = JsonComments::allowed});
  std::vector<std::string> known = {"$schema", "label", "contract", "environment", "server"};
  for (const auto& [key, axis] : kSettings) known.emplace_back(key);
  const JsonMembers members(root, where, known, ErrorCode::usage);
  if (members.has("server")) {
    throw Error(ErrorCode::unsupported,
                members.place("server") + ": upgrades of servers are not in this version",
                "leave it out: both arms then run in the built-in engine");
  }
  if (members.has("$schema")) static_cast<void>(members.text("$schema"));
  Configuration out;
  if (members.has("label")) out.label = members.text("label");
  if (members.has("contract")) out.contract = members.text("contract");
  for (const auto& [key, axis] : kSettings) {
    if (members.has(key)) out.settings[axis] = normalised(members, key, axis);
  }
  if (members.has("environment")) out.environment = read_environment(members);
  return out;
}

Json configuration_to_json(const Configuration& configuration) {
  Json out = Json::object();
  if (!configuration.label.empty()) out["label"] = configuration.label;
  for (const auto& [key, axis] : kSettings) {
    const auto at = configuration.settings.find(axis);
    if (at != configuration.settings.end()) out[key] = at->second;
  }
  if (!configuration.contract.empty()) out["contract"] = configuration.contract;
  if (!configuration.environment.empty()) out["environment"] = configuration.environment;
  return out;
}

}  // namespace isobit
