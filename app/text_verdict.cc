#include "app/text_verdict.h"

#include <fmt/format.h>

#include "app/console.h"

namespace isobit::app {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string token_words(const std::optional<ProbeToken>& token) {
  return token ? fmt::format("{} \"{}\"", token->id, printable(token->piece)) : "its end";
}

std::string difference_words(const ProbeDifference& d) {
  return fmt::format("  probe {}: ids part at position {}: {} before, {} after\n",
                     printable(d.probe), d.position, token_words(d.before), token_words(d.after));
}

std::string verdict_words(const TextComparison& c) {
  if (c.verdict == TextVerdict::kSame)
    return "same text? yes: tokenizer, chat template and rendered probe are the same\n";
  if (c.verdict == TextVerdict::kUnknown)
    return fmt::format("same text? not known: {} is missing on a side\n", joined(c.unknown));
  return fmt::format("same text? no: {} differs\n",
                     c.differing.empty() ? "what becomes of a probe" : joined(c.differing));
}

Json token_json(const std::optional<ProbeToken>& token) {
  if (!token) return {};
  return {{"id", token->id}, {"piece", token->piece}};
}

}  // namespace

std::string text_words(const TextComparison& comparison) {
  std::string out = verdict_words(comparison);
  for (const ProbeDifference& d : comparison.probes) out += difference_words(d);
  if (comparison.verdict == TextVerdict::kDifferent && comparison.probes.empty())
    out += fmt::format(
        "  none of the {} recorded probes shows it: their ids are the same; compare texts of your "
        "own "
        "with isobit tokens encode --batch\n",
        comparison.n_probes);
  return out;
}

Json text_json(const TextComparison& comparison) {
  Json probes = Json::array();
  for (const ProbeDifference& d : comparison.probes)
    probes.push_back({{"probe", d.probe},
                      {"position", d.position},
                      {"before", token_json(d.before)},
                      {"after", token_json(d.after)}});
  return {{"verdict", name(comparison.verdict)},
          {"differing", comparison.differing},
          {"unknown", comparison.unknown},
          {"n_probes", comparison.n_probes},
          {"probes", probes}};
}

}  // namespace isobit::app
