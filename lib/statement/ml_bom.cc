#include "statement/ml_bom.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/error.h"
#include "report/untrusted_text.h"
#include "statement/test_result.h"

namespace isobit {
namespace {

constexpr const char* kIdProperty = "isobit:fingerprint";
constexpr const char* kItemProperty = "isobit:";
constexpr const char* kReasonProperty = "isobit:reason:";

struct ComponentKind {
  FingerprintClass item_class;
  const char *item, *type, *name;
};
// Which items are things of their own.
constexpr std::array kComponents = {
    ComponentKind{FingerprintClass::kText, "tokenizer", "data", "tokenizer"},
    ComponentKind{FingerprintClass::kText, "chat_template", "data", "chat template"},
    ComponentKind{FingerprintClass::kNumerics, "kernel_set", "library", "isobit kernel set"},
    ComponentKind{FingerprintClass::kSoftware, "openblas", "library", "OpenBLAS"},
    ComponentKind{FingerprintClass::kSoftware, "openssl", "library", "OpenSSL"},
    ComponentKind{FingerprintClass::kSoftware, "sqlite", "library", "SQLite"},
    ComponentKind{FingerprintClass::kSoftware, "libc", "library", "libc"},
    ComponentKind{FingerprintClass::kSoftware, "compiler", "application", "compiler"},
    ComponentKind{FingerprintClass::kSoftware, "cuda.toolkit", "framework", "CUDA toolkit"},
    ComponentKind{FingerprintClass::kSoftware, "cuda.driver", "device-driver", "CUDA driver"},
    ComponentKind{FingerprintClass::kSoftware, "os", "operating-system", "operating system"},
    ComponentKind{FingerprintClass::kSoftware, "kernel", "operating-system", "kernel"},
    ComponentKind{FingerprintClass::kHardware, "cpu.model", "device", "CPU"},
    ComponentKind{FingerprintClass::kHardware, "gpu", "device", "GPU"}};

std::string value_of(const Fingerprint& f, FingerprintClass item_class, const std::string& name) {
  const auto at = std::ranges::find_if(f.items, [&](const FingerprintItem& item) {
    return item.item_class == item_class && item.name == name;
  });
  return at == f.items.end() || at->value == "absent" ? "" : at->value;
}

Json hash_json(const std::string& sha256) {
  return {{"alg", "SHA-256"}, {"content", sha256}};
}

Json property(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", value}};
}

std::string item_path(const FingerprintItem& item) {
  return std::string(name(item.item_class)) + ":" + item.name;
}

Json properties_json(const Fingerprint& f) {
  Json out = Json::array({property(kIdProperty, f.id)});
  for (const FingerprintItem& item : f.items) {
    out.push_back(property(std::string(kItemProperty) + name(item.source) + ":" + item_path(item),
                           item.value));
    if (!item.reason.empty())
      out.push_back(property(kReasonProperty + item_path(item), item.reason));
  }
  return out;
}

Json model_card(const Fingerprint& f) {
  const auto text = [](const char* format) { return Json{{"format", format}}; };
  Json parameters = {{"task", "text-generation"},
                     {"architectureFamily", "transformer"},
                     {"inputs", Json::array({text("text")})},
                     {"outputs", Json::array({text("text")})}};
  const std::string architecture = value_of(f, FingerprintClass::kModel, "architecture");
  if (!architecture.empty()) parameters["modelArchitecture"] = architecture;
  Json properties = Json::array();
  for (const char* item : {"format", "parameters", "quantisation"}) {
    const std::string value = value_of(f, FingerprintClass::kModel, item);
    if (!value.empty()) properties.push_back(property(item, value));
  }
  return {{"modelParameters", std::move(parameters)}, {"properties", std::move(properties)}};
}

Json model_component(const MlBomInput& input) {
  const Fingerprint& f = input.fingerprint;
  Json out = {{"type", "machine-learning-model"},
              {"bom-ref", "model"},
              {"name", json_text(input.model_name)}};
  const std::string root = value_of(f, FingerprintClass::kModel, "weights.stored_root");
  if (!root.empty()) out["version"] = root;
  const std::vector<Resource> files = model_files(f);
  if (files.size() == 1 && is_sha256_hex(files[0].digests.at("sha256")))
    out["hashes"] = Json::array({hash_json(files[0].digests.at("sha256"))});
  Json parts = Json::array();
  for (const Resource& file : files) {
    if (!is_sha256_hex(file.digests.at("sha256"))) continue;
    parts.push_back({{"type", "file"},
                     {"bom-ref", "model/" + file.name},
                     {"name", file.name},
                     {"hashes", Json::array({hash_json(file.digests.at("sha256"))})}});
  }
  if (!parts.empty()) out["components"] = std::move(parts);
  out["modelCard"] = model_card(f);
  return out;
}

Json components_json(const Fingerprint& f) {
  Json out = Json::array();
  for (const ComponentKind& kind : kComponents) {
    const std::string value = value_of(f, kind.item_class, kind.item);
    if (value.empty()) continue;
    Json component = {{"type", kind.type},
                      {"bom-ref", std::string(name(kind.item_class)) + "/" + kind.item},
                      {"name", kind.name}};
    if (is_sha256_hex(value))
      component["hashes"] = Json::array({hash_json(value)});
    else
      component["version"] = value;
    out.push_back(std::move(component));
  }
  return out;
}

Json metadata_json(const MlBomInput& input) {
  Json out = Json::object();
  if (!input.timestamp.empty()) out["timestamp"] = input.timestamp;
  Json tool = {{"type", "application"}, {"name", "isobit"}};
  const std::string version = value_of(input.fingerprint, FingerprintClass::kSoftware, "isobit");
  if (!version.empty()) tool["version"] = version;
  out["tools"] = {{"components", Json::array({std::move(tool)})}};
  out["component"] = model_component(input);
  return out;
}

// A version 8 UUID (RFC 9562) from all that the BOM says.
std::string serial_number(const Json& bom) {
  std::string digits = sha256_hex("isobit ml-bom\n" + canonical_json(bom)).substr(0, 32);
  digits[12] = '8';
  digits[16] = "89ab"[digits[16] % 4];
  for (const size_t at : {8, 13, 18, 23}) digits.insert(at, "-");
  return "urn:uuid:" + digits;
}

Json bom_of(const MlBomInput& input) {
  Json bom = {{"bomFormat", "CycloneDX"},
              {"specVersion", "1.6"},
              {"serialNumber", ""},
              {"version", 1},
              {"metadata", metadata_json(input)},
              {"components", components_json(input.fingerprint)},
              {"properties", properties_json(input.fingerprint)}};
  bom["serialNumber"] = serial_number(bom);
  return bom;
}

// A text at a path of members; empty where there is none.
std::string text_at(const Json& root, std::initializer_list<const char*> path) {
  const Json* at = &root;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return {};
    at = &(*at)[key];
  }
  return at->is_string() ? at->get<std::string>() : std::string();
}

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  return object.is_object() && object.contains(key) ? object[key] : kNothing;
}

// Whatever the order of members.
bool same(const Json& a, const Json& b) {
  return canonical_json(a) == canonical_json(b);
}

Json own_properties(const Json& properties) {
  Json out = Json::array();
  for (const Json& p : properties) {
    if (text_at(p, {"name"}).starts_with(kItemProperty)) out.push_back(p);
  }
  return out;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "isobit fingerprint SRC --cyclonedx writes a BOM that can be verified");
}

// The enumerator up to `last` that the word names.
template <typename Enum>
std::optional<Enum> enum_of(const std::string& word, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (word == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// "CLASS:NAME" -> an item without a value; nothing where CLASS is none.
std::optional<FingerprintItem> item_at(const std::string& path) {
  const size_t colon = path.find(':');
  if (colon == path.npos) return std::nullopt;
  const auto item_class = enum_of(path.substr(0, colon), FingerprintClass::kEnvironment);
  if (!item_class) return std::nullopt;
  FingerprintItem out;
  out.item_class = *item_class;
  out.name = path.substr(colon + 1);
  return out;
}

std::optional<FingerprintItem> item_of(const std::string& property_name) {
  const std::string rest = property_name.substr(std::string_view(kItemProperty).size());
  const size_t colon = rest.find(':');
  if (colon == rest.npos) return std::nullopt;
  const auto source = enum_of(rest.substr(0, colon), FingerprintSource::kUnknown);
  auto item = item_at(rest.substr(colon + 1));
  if (!source || !item) return std::nullopt;
  item->source = *source;
  return item;
}

void take_property(const std::string& property_name, const std::string& value,
                   const std::string& where, Fingerprint& out) {
  if (property_name == kIdProperty) {
    out.id = value;
  } else if (property_name.starts_with(kReasonProperty)) {
    const std::string path = property_name.substr(std::string_view(kReasonProperty).size());
    if (out.items.empty() || item_path(out.items.back()) != path)
      refuse(where, "property '" + property_name.substr(0, 80) + "' follows another item");
    out.items.back().reason = value;
  } else if (property_name.starts_with(kItemProperty)) {
    auto item = item_of(property_name);
    if (!item) refuse(where, "property '" + property_name.substr(0, 80) + "' is unknown");
    item->value = value;
    out.items.push_back(std::move(*item));
  }
}

}  // namespace

std::string ml_bom_text(const MlBomInput& input) {
  return bom_of(input).dump(2) + "\n";
}

bool looks_like_bom(const Json& root) {
  return root.is_object() && root.contains("bomFormat");
}

Fingerprint fingerprint_of_bom(const Json& root, const std::string& where) {
  if (!root.contains("properties") || !root["properties"].is_array())
    refuse(where, "has no properties: it holds no fingerprint of isobit");
  Fingerprint out;
  for (const Json& p : root["properties"]) {
    const auto text = [&](const char* key) -> const std::string& {
      if (!p.is_object() || !p.contains(key) || !p[key].is_string())
        refuse(where, std::string("a property has no string \"") + key + "\"");
      return p[key].get_ref<const std::string&>();
    };
    take_property(text("name"), p.contains("value") ? text("value") : std::string(), where, out);
  }
  if (out.id.empty()) refuse(where, "holds no fingerprint of isobit");
  return out;
}

std::vector<std::string> parts_unlike_fingerprint(const Json& root,
                                                  const Fingerprint& fingerprint) {
  const Json again = bom_of({.fingerprint = fingerprint,
                             .model_name = text_at(root, {"metadata", "component", "name"}),
                             .timestamp = text_at(root, {"metadata", "timestamp"})});
  const Json &metadata = member(root, "metadata"), &right = again["metadata"];
  std::vector<std::string> out;
  for (const char* key : {"bomFormat", "specVersion", "serialNumber", "version"}) {
    if (!same(member(root, key), again[key])) out.emplace_back(key);
  }
  if (!same(member(metadata, "component"), right["component"]) ||
      !same(member(root, "components"), again["components"]))
    out.emplace_back("components");
  for (const char* key : {"tools", "timestamp"}) {
    if (!same(member(metadata, key), member(right, key))) out.emplace_back(key);
  }
  if (!same(own_properties(member(root, "properties")), again["properties"]))
    out.emplace_back("properties");
  return out;
}

}  // namespace isobit
