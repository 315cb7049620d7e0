#include "fingerprint/same_text.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "fingerprint/item_list.h"

namespace isobit {
namespace {

constexpr std::string_view kPrefix = "probe.";
constexpr const char* kDeciding[] = {"tokenizer", "chat_template", "rendered_probe"};

// What fits, without the beginning of a character that does not.
std::string_view cut_text(std::string_view text) {
  size_t n = std::min(text.size(), kMaxProbeBytes);
  while (n < text.size() && n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  return text.substr(0, n);
}

// The spelling of a token is bytes; JSON holds text.
std::string printable_piece(const std::string& piece) {
  ItemList list;
  list.declared(FingerprintClass::kText, "piece", piece);
  return list.take().front().value;
}

const FingerprintItem* find_item(const Fingerprint& fingerprint, std::string_view item_name) {
  for (const FingerprintItem& item : fingerprint.items)
    if (item.item_class == FingerprintClass::kText && item.name == item_name) return &item;
  return nullptr;
}

[[noreturn]] void refuse(const FingerprintItem& item) {
  throw Error(ErrorCode::environment, "fingerprint item text." + item.name + " is not a JSON array",
              "expected a file written by 'isobit fingerprint --json'");
}

Json array_of(const FingerprintItem& item) {
  Json value;
  try {
    value = parse_json(item.value, item.name);
  } catch (const Error&) {
    refuse(item);
  }
  if (!value.is_array()) refuse(item);
  return value;
}

void read_probe_item(const FingerprintItem& item, std::string_view part, TextProbe& probe) {
  if (part == "text") probe.text = item.value;
  if (part == "ids") {
    for (const Json& id : array_of(item)) {
      if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() > INT32_MAX)
        refuse(item);
      probe.ids.push_back(id.get<int32_t>());
    }
  }
  if (part == "pieces") {
    for (const Json& piece : array_of(item)) {
      if (!piece.is_string()) refuse(item);
      probe.pieces.push_back(piece.get<std::string>());
    }
  }
}

std::optional<ProbeToken> token_at(const TextProbe& probe, size_t i) {
  if (i >= probe.ids.size()) return std::nullopt;
  return ProbeToken{probe.ids[i], i < probe.pieces.size() ? probe.pieces[i] : ""};
}

std::optional<ProbeDifference> first_difference(const TextProbe& before, const TextProbe& after) {
  if (before.ids == after.ids) return std::nullopt;
  const auto [a, b] =
      std::mismatch(before.ids.begin(), before.ids.end(), after.ids.begin(), after.ids.end());
  const auto at = static_cast<size_t>(a - before.ids.begin());
  return ProbeDifference{.probe = before.name,
                         .position = at,
                         .before = token_at(before, at),
                         .after = token_at(after, at)};
}

void compare_deciding(const Fingerprint& before, const Fingerprint& after, TextComparison& out) {
  for (const char* item_name : kDeciding) {
    const FingerprintItem* a = find_item(before, item_name);
    const FingerprintItem* b = find_item(after, item_name);
    const auto known = [](const FingerprintItem* item) {
      return item && item->source != FingerprintSource::kUnknown;
    };
    if (!known(a) || !known(b)) {
      out.unknown.emplace_back(item_name);
    } else if (a->value != b->value) {
      out.differing.emplace_back(item_name);
    }
  }
}

void compare_probes(const Fingerprint& before, const Fingerprint& after, TextComparison& out) {
  const std::vector<TextProbe> ours = probes_of(before), theirs = probes_of(after);
  for (const TextProbe& probe : ours) {
    const auto it = std::find_if(theirs.begin(), theirs.end(),
                                 [&](const TextProbe& other) { return other.name == probe.name; });
    if (it == theirs.end()) continue;
    ++out.n_probes;
    if (auto difference = first_difference(probe, *it)) out.probes.push_back(*difference);
  }
}

}  // namespace

const char* name(TextVerdict verdict) {
  switch (verdict) {
    case TextVerdict::kSame:
      return "same";
    case TextVerdict::kDifferent:
      return "different";
    case TextVerdict::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::vector<FingerprintItem> probe_items(const TextProbe& probe) {
  const size_t n = std::min(probe.ids.size(), kMaxProbeIds);
  Json ids = Json::array(), pieces = Json::array();
  for (size_t i = 0; i < n; ++i) ids.push_back(probe.ids[i]);
  for (size_t i = 0; i < std::min(n, probe.pieces.size()); ++i)
    pieces.push_back(printable_piece(probe.pieces[i]));
  const std::string base = std::string(kPrefix) + probe.name;
  ItemList items;
  items.declared(FingerprintClass::kText, base + ".text", std::string(cut_text(probe.text)));
  items.declared(FingerprintClass::kText, base + ".ids", ids.dump());
  items.declared(FingerprintClass::kText, base + ".pieces", pieces.dump());
  return items.take();
}

std::vector<TextProbe> probes_of(const Fingerprint& fingerprint) {
  std::map<std::string, TextProbe> probes;
  for (const FingerprintItem& item : fingerprint.items) {
    const size_t dot = item.name.rfind('.');
    if (item.item_class != FingerprintClass::kText || !item.name.starts_with(kPrefix) ||
        dot < kPrefix.size())
      continue;
    TextProbe& probe = probes[item.name.substr(kPrefix.size(), dot - kPrefix.size())];
    read_probe_item(item, std::string_view(item.name).substr(dot + 1), probe);
  }
  std::vector<TextProbe> out;
  for (auto& [probe_name, probe] : probes) {
    probe.name = probe_name;
    out.push_back(std::move(probe));
  }
  return out;
}

TextComparison compare_text(const Fingerprint& before, const Fingerprint& after) {
  TextComparison out;
  compare_deciding(before, after, out);
  compare_probes(before, after, out);
  // Ids that differ are a difference whatever the digests say.
  if (!out.differing.empty() || !out.probes.empty()) {
    out.verdict = TextVerdict::kDifferent;
  } else if (out.unknown.empty()) {
    out.verdict = TextVerdict::kSame;
  }
  return out;
}

}  // namespace isobit
