// How much alike two answers are that are not the same: beside token comparison, never instead of
// it.
//
//   edit similarity  1 - Levenshtein distance of the tokens / the longer answer's length. 1: the
//                    same tokens, 0: nothing in common. Works on redacted runs.
//   chrF             Popovic 2015, "chrF: character n-gram F-score for automatic MT evaluation":
//                    precision and recall of character 1- to 6-grams, each averaged over the
//                    orders, then F with beta 2 (recall counts four times). Characters are Unicode
//                    code points; white space is left out, as in the paper's tool and sacreBLEU; an
//                    order that either text is too short for is left out, as in sacreBLEU. 0 to 1.
//                    The reference is the reference side, so this one figure is not symmetric.
//   cosine           of the two answers' embeddings (Trace::embedding), -1 to 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/trace.h"

namespace isobit {

double edit_similarity(std::span<const TracePosition> a, std::span<const TracePosition> b);

double chrf(std::string_view reference, std::string_view candidate);

// Absent where a side has none, the sizes differ, or a vector is zero or not finite.
std::optional<double> cosine(std::span<const float> a, std::span<const float> b);

struct TextAgreement {
  double edit_similarity = 1;
  std::optional<double> chrf = {};    // absent: a text was not recorded
  std::optional<double> cosine = {};  // absent: an embedding was not recorded
};
TextAgreement text_agreement(const Trace& reference, const Trace& candidate);

struct AgreementSummary {
  int64_t n = 0;  // pairs that have the figure
  double mean = 0;
  double min = 0;
};

// Over a cell's compared pairs. Absent: no pair has the figure.
struct CellAgreement {
  std::optional<AgreementSummary> edit_similarity = {};
  std::optional<AgreementSummary> chrf = {};
  std::optional<AgreementSummary> cosine = {};
  std::string chrf_absent = {};    // why, where some pair lacks it: "run x is redacted: ..."
  std::string cosine_absent = {};  // the same
};

struct CellComparison;
// `reason_without_texts`: why a text may be missing, in words.
CellAgreement cell_agreement(const CellComparison& cell, const std::string& reason_without_texts);

}  // namespace isobit
