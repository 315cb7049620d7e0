#include "app/upgrade_findings.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/gate_runs.h"
#include "report/report.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

constexpr size_t kMostFlipsShown = 20;
constexpr size_t kMostCharacters = 200;

std::string token_text(std::optional<int32_t> token, const std::vector<std::string>& token_bytes) {
  const bool known = token && *token >= 0 && static_cast<size_t>(*token) < token_bytes.size();
  return known ? token_bytes[static_cast<size_t>(*token)] : std::string();
}

std::vector<Flip> flips_of(const RunComparison& comparison,
                           const std::vector<std::string>& token_bytes) {
  std::vector<Flip> out;
  for (const CellComparison& cell : comparison.cells) {
    for (const PairComparison& pair : cell.pairs) {
      if (pair.state != PairState::kCompared || !pair.divergence.token) continue;
      const TokenDivergence& d = *pair.divergence.token;
      out.push_back({.cell = cell.name,
                     .request_id = pair.request_id,
                     .divergence = d,
                     .kind = pair.flip,
                     .old_text = token_text(d.reference_token, token_bytes),
                     .new_text = token_text(d.candidate_token, token_bytes)});
    }
  }
  return out;
}

std::string visible(const std::string& text) {
  return visible_text(text, kMostCharacters);
}

std::string token_words(std::optional<int32_t> token, const std::string& text) {
  return token ? fmt::format("'{}' (token {})", visible(text), *token)
               : std::string("the answer's end");
}

std::string margin_words(const std::optional<float>& margin) {
  return margin ? fmt::format("{:.4g}", *margin) : std::string("unknown");
}

std::string flip_words(const Flip& f) {
  return fmt::format(
      "  {}, prompt {}, position {}: {} became {}; margin {} nats before, {} after{}\n",
      visible(f.cell), visible(f.request_id), f.divergence.position,
      token_words(f.divergence.reference_token, f.old_text),
      token_words(f.divergence.candidate_token, f.new_text),
      margin_words(f.divergence.reference_margin), margin_words(f.divergence.candidate_margin),
      f.kind ? fmt::format(" ({})", name(*f.kind)) : std::string());
}

std::string item_value(const std::optional<FingerprintItem>& item) {
  if (!item) return "absent";
  return item->source == FingerprintSource::kUnknown ? "unknown" : visible(item->value);
}

std::string change_words(const FingerprintItemChange& c) {
  return fmt::format("  {}.{}: {} -> {}\n    {}: {}\n", name(c.item_class), visible(c.name),
                     item_value(c.before), item_value(c.after), name(c.role), c.effect);
}

std::string arm_words(const char* which, const UpgradeArm& arm) {
  std::string settings;
  for (const auto& [axis, value] : arm.configuration.settings)
    settings += (settings.empty() ? "" : ", ") + axis + "=" + value;
  return fmt::format("{}: {} ({})\n     run {}, {}\n", which, visible(arm.file),
                     settings.empty() ? "defaults" : settings, arm.run.id,
                     arm.reused
                         ? "reused: the same fingerprint, plan and prompts were recorded before"
                         : "recorded now");
}

// "same_bits", "same_tokens", "flipped" or "not_comparable".
std::string outcome_word(const UpgradeFindings& f) {
  const PairCounts& totals = f.comparison.totals;
  const bool judged =
      f.verdict.outcome != Outcome::kIncomparable && f.verdict.outcome != Outcome::kUnsupported;
  if (totals.n_pairs == 0 || (!judged && totals.exact_matches == 0)) return "not_comparable";
  if (totals.token_divergences + totals.finish_differences > 0) return "flipped";
  return totals.bit_matches == totals.n_pairs ? "same_bits" : "same_tokens";
}

std::string answer_words(const UpgradeFindings& f) {
  const PairCounts& t = f.comparison.totals;
  const std::string word = outcome_word(f);
  if (word == "same_bits") return fmt::format("same bits: all {} answers\n", t.n_pairs);
  if (word == "not_comparable") return "the two arms cannot be compared\n";
  std::string out;
  if (word == "same_tokens") {
    out = fmt::format("same tokens: {} of {} answers; the bits of {} differ\n", t.exact_matches,
                      t.n_pairs, t.n_pairs - t.bit_matches);
  } else {
    out = fmt::format("{} of {} answers flipped; {} have the same tokens, {} the same bits\n",
                      t.token_divergences + t.finish_differences, t.n_pairs, t.exact_matches,
                      t.bit_matches);
  }
  if (t.errors + t.missing > 0)
    out += fmt::format("{} answers are missing or failed\n", t.errors + t.missing);
  return out;
}

// "engine.kernel_set: cpu -> cpu-adaptive" says what the fingerprint's item numerics.kernel_set
// says.
bool tells_of_setting(const FingerprintItemChange& change, const std::string& setting) {
  return change.item_class == FingerprintClass::kNumerics &&
         setting.starts_with("engine." + change.name + ": ");
}

std::string reason_words(const UpgradeFindings& f) {
  const bool differs = outcome_word(f) != "same_bits";
  const size_t n = f.changes.size() + f.settings.size();
  std::string out = "\n";
  if (n == 0) {
    return out + (differs ? "nothing that is recorded differs between the two: the target gives "
                            "other answers by itself\n"
                          : "nothing that is recorded differs between the two\n");
  }
  out += !differs ? "what differs, without effect on the answers:\n"
         : n == 1 ? "one thing differs, and it has done it:\n"
                  : "what differs, and may have done it, likeliest first:\n";
  for (const FingerprintItemChange& change : f.changes) out += change_words(change);
  for (const std::string& setting : f.settings) out += "  " + visible(setting) + "\n";
  return out;
}

int rank(ItemRole role) {
  return role == ItemRole::kIdentity ? 0 : role == ItemRole::kArithmetic ? 1 : 2;
}

Json item_json(const std::optional<FingerprintItem>& item) {
  return item && item->source != FingerprintSource::kUnknown ? Json(json_text(item->value))
                                                             : Json();
}

Json arm_json(const UpgradeArm& arm) {
  return {{"file", json_text(arm.file)},
          {"run", arm.run.id},
          {"reused", arm.reused},
          {"fingerprint", arm.run.fingerprint.id},
          {"configuration", configuration_to_json(arm.configuration)}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json flip_json(const Flip& f) {
  return {{"cell", json_text(f.cell)},
          {"request", json_text(f.request_id)},
          {"position", f.divergence.position},
          {"old_token", or_null(f.divergence.reference_token)},
          {"old_text", json_text(f.old_text)},
          {"old_margin", or_null(f.divergence.reference_margin)},
          {"new_token", or_null(f.divergence.candidate_token)},
          {"new_text", json_text(f.new_text)},
          {"new_margin", or_null(f.divergence.candidate_margin)},
          {"kind", f.kind ? Json(name(*f.kind)) : Json()}};
}

Json change_json(const FingerprintItemChange& c) {
  return {{"class", name(c.item_class)}, {"name", json_text(c.name)}, {"change", name(c.kind)},
          {"old", item_json(c.before)},  {"new", item_json(c.after)}, {"role", name(c.role)},
          {"effect", c.effect}};
}

}  // namespace

UpgradeFindings find_upgrade(const UpgradeArm& before, const UpgradeArm& after, Level level,
                             const std::vector<std::string>& token_bytes) {
  UpgradeFindings out;
  // No policy of a level has an override that a day could matter to.
  GatedRuns gated = gate_runs(before.run, after.run, level_policy(level), Date(), Detail::kFull);
  out.comparison = std::move(gated.comparison);
  out.verdict = std::move(gated.verdict);
  out.flips = flips_of(out.comparison, token_bytes);
  out.changes = diff_fingerprints(before.run.fingerprint, after.run.fingerprint);
  std::erase_if(out.changes, [](const FingerprintItemChange& change) {
    return item_value(change.before) == item_value(change.after);  // not known on either side
  });
  std::ranges::stable_sort(out.changes, {},
                           [](const FingerprintItemChange& c) { return rank(c.role); });
  std::set<std::string> settings;
  for (const CellComparison& cell : out.comparison.cells)
    settings.insert(cell.changed_values.begin(), cell.changed_values.end());
  std::erase_if(settings, [&](const std::string& setting) {
    return std::ranges::any_of(out.changes, [&](const FingerprintItemChange& change) {
      return tells_of_setting(change, setting);
    });
  });
  out.settings.assign(settings.begin(), settings.end());
  return out;
}

std::string upgrade_words(const UpgradeArm& before, const UpgradeArm& after,
                          const UpgradeFindings& findings) {
  std::string out = arm_words("old", before) + arm_words("new", after) + "\n";
  out += answer_words(findings);
  for (size_t i = 0; i < findings.flips.size() && i < kMostFlipsShown; ++i)
    out += flip_words(findings.flips[i]);
  if (findings.flips.size() > kMostFlipsShown)
    out += fmt::format("  and {} more; --json has all\n", findings.flips.size() - kMostFlipsShown);
  return out + reason_words(findings) + "\n" + verdict_text(findings.verdict);
}

Json upgrade_json(const UpgradeArm& before, const UpgradeArm& after,
                  const UpgradeFindings& findings) {
  const PairCounts& t = findings.comparison.totals;
  Json flips = Json::array(), changes = Json::array();
  for (const Flip& flip : findings.flips) flips.push_back(flip_json(flip));
  for (const FingerprintItemChange& change : findings.changes)
    changes.push_back(change_json(change));
  Json settings = Json::array();
  for (const std::string& setting : findings.settings) settings.push_back(json_text(setting));
  return {{"old", arm_json(before)},
          {"new", arm_json(after)},
          {"answers", outcome_word(findings)},
          {"pairs", t.n_pairs},
          {"same_tokens", t.exact_matches},
          {"same_bits", t.bit_matches},
          {"flips", std::move(flips)},
          {"fingerprint_changes", std::move(changes)},
          {"setting_changes", std::move(settings)},
          {"verdict", verdict_json(findings.verdict)}};
}

}  // namespace isobit::app
