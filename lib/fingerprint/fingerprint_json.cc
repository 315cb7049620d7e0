#include <set>
#include <tuple>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "fingerprint/fingerprint.h"
#include "fingerprint/fingerprint_id.h"

namespace isobit {
namespace {

constexpr const char* kFormat = "isobit-fingerprint-1";

enum class Reasons { leave_out, keep };

Json items_json(const std::vector<FingerprintItem>& items, Reasons reasons) {
  Json out = Json::array();
  for (const FingerprintItem& item : items) {
    Json entry = {{"class", name(item.item_class)},
                  {"name", item.name},
                  {"source", name(item.source)},
                  {"value", item.value}};
    if (reasons == Reasons::keep && !item.reason.empty()) entry["reason"] = item.reason;
    out.push_back(std::move(entry));
  }
  return out;
}

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "expected a file written by 'isobit fingerprint --json'");
}

const std::string& text_member(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string())
    refuse(where, std::string("no string \"") + key + "\"");
  return it->get_ref<const std::string&>();
}

void check_members(const Json& object, const std::set<std::string>& known,
                   const std::string& where) {
  for (const auto& [key, unused] : object.items()) {
    if (!known.contains(key)) {
      refuse(where,
             "unknown member \"" + key + "\"" + did_you_mean(key, {known.begin(), known.end()}));
    }
  }
}

// The enumerator of [first, last] that is called `word`.
template <class Enum>
Enum enum_from(const std::string& word, Enum last, const char* what, const std::string& where) {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    words.emplace_back(name(static_cast<Enum>(i)));
    if (words.back() == word) return static_cast<Enum>(i);
  }
  refuse(where, std::string("unknown ") + what + " \"" + word + "\"" + did_you_mean(word, words));
}

FingerprintItem read_item(const Json& entry, const std::string& where) {
  if (!entry.is_object()) refuse(where, "not an object");
  check_members(entry, {"class", "name", "source", "value", "reason"}, where);
  FingerprintItem item;
  item.item_class =
      enum_from(text_member(entry, "class", where), FingerprintClass::kEnvironment, "class", where);
  item.name = text_member(entry, "name", where);
  item.source =
      enum_from(text_member(entry, "source", where), FingerprintSource::kUnknown, "source", where);
  item.value = text_member(entry, "value", where);
  if (entry.contains("reason")) item.reason = text_member(entry, "reason", where);
  if (item.name.empty()) refuse(where, "empty name");
  if (item.source == FingerprintSource::kUnknown && !item.value.empty())
    refuse(where, "an unknown item has a value");
  return item;
}

void check_order(const std::vector<FingerprintItem>& items, const std::string& where) {
  for (size_t i = 1; i < items.size(); ++i) {
    const auto before = std::tie(items[i - 1].item_class, items[i - 1].name),
               here = std::tie(items[i].item_class, items[i].name);
    if (before == here)
      refuse(where, "item " + std::string(name(items[i].item_class)) + "." + items[i].name +
                        " appears twice");
    if (before > here)
      refuse(where, "item " + std::string(name(items[i].item_class)) + "." + items[i].name +
                        " is out of order");
  }
}

}  // namespace

std::string fingerprint_id(const std::vector<FingerprintItem>& items) {
  return sha256_hex(
      canonical_json({{"format", kFormat}, {"items", items_json(items, Reasons::leave_out)}}));
}

std::string fingerprint_json(const Fingerprint& fingerprint) {
  return canonical_json({{"format", kFormat},
                         {"id", fingerprint.id},
                         {"items", items_json(fingerprint.items, Reasons::keep)}});
}

Fingerprint fingerprint_from_json(std::string_view text, const std::string& where) {
  Json root;
  try {
    root = parse_json(text, where);
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(),
                "expected a file written by 'isobit fingerprint --json'");
  }
  if (!root.is_object()) refuse(where, "not a JSON object");
  check_members(root, {"format", "id", "items"}, where);
  const std::string& format = text_member(root, "format", where);
  if (format != kFormat)
    refuse(where, "format is \"" + format + "\", expected \"" + kFormat + "\"");
  Fingerprint out;
  out.id = text_member(root, "id", where);
  if (!root.contains("items") || !root["items"].is_array()) refuse(where, "no array \"items\"");
  size_t index = 0;
  for (const Json& entry : root["items"])
    out.items.push_back(read_item(entry, where + ": item " + std::to_string(index++)));
  check_order(out.items, where);
  const std::string id = fingerprint_id(out.items);
  if (id != out.id)
    refuse(where, "id is \"" + out.id + "\", but the items give " + id + ": the file was changed");
  return out;
}

}  // namespace isobit
