// Do two fingerprints turn the same request into the same token ids? And where not, at which token
// of which probe does it show?
//
// The digests of tokenizer, chat template and rendered probe decide. The recorded probes only show:
// a tokenizer can differ in a token that no probe contains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/fingerprint_items.h"

namespace isobit {

// A sentence and what became of it, as a fingerprint records it. Bounded: at most kMaxProbeBytes of
// text and kMaxProbeIds ids, the first ones.
struct TextProbe {
  std::string name;  // "conversation", "code"
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // how the vocabulary spells each id
};
inline constexpr size_t kMaxProbeBytes = 4096;
inline constexpr size_t kMaxProbeIds = 512;

// The items "probe.NAME.text", ".ids" and ".pieces", printable. Cuts what is too long.
std::vector<FingerprintItem> probe_items(const TextProbe& probe);
// The probes of a fingerprint, by name. Throws Error(environment) on items that are not such.
std::vector<TextProbe> probes_of(const Fingerprint& fingerprint);

enum class TextVerdict { kSame, kDifferent, kUnknown };
const char* name(TextVerdict verdict);  // "same", "different", "unknown"

// One side of a difference; nothing where its ids end before.
struct ProbeToken {
  int32_t id;
  std::string piece;
};
struct ProbeDifference {
  std::string probe;
  size_t position = 0;  // of the first id that differs
  std::optional<ProbeToken> before, after;
};

struct TextComparison {
  TextVerdict verdict = TextVerdict::kUnknown;
  std::vector<std::string> differing;  // items that decide: "tokenizer", "chat_template", ...
  std::vector<std::string> unknown;    // items that one side does not know
  std::vector<ProbeDifference> probes;
  size_t n_probes = 0;  // recorded on both sides
};
TextComparison compare_text(const Fingerprint& before, const Fingerprint& after);

}  // namespace isobit
