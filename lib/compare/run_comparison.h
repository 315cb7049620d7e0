// Two questions about recorded runs, answered in numbers:
//   compare_within_run: does a request's answer depend on how the target was loaded and scheduled?
//                       Every cell against its reference cell, and the reference's repeats against
//                       its first.
//   compare_runs:       did an upgrade change answers? Every cell against the cell of the same name
//                       in another run.
//
// Cells that share a reference cell are a group. Groups differ in an identity axis (another
// arithmetic, another question); what differs between groups is `changed by` that axis, never a
// divergence.
//
// Samples are paired by request, choice and repeat, never by the order of rows. An expected pair
// that lacks a side stays in the list as missing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/attribution.h"
#include "compare/certificates.h"
#include "compare/distinct_outputs.h"
#include "compare/divergence.h"
#include "compare/flip_law.h"
#include "compare/level.h"
#include "compare/price.h"
#include "compare/row_histograms.h"
#include "compare/spread.h"
#include "compare/statistics.h"
#include "compare/survival.h"
#include "compare/suspicion.h"
#include "compare/text_agreement.h"
#include "record/run_record.h"

namespace isobit {

struct ValueChange {
  std::string axis;
  std::string from;
  std::string to;
};

enum class PairState { kCompared, kReferenceMissing, kCandidateMissing };
const char* name(PairState state);

// How long one answer took, and how much came.
struct AnswerTiming {
  double ttft_ms = 0;
  double total_ms = 0;
  int32_t n_tokens = 0;
};

struct PairComparison {
  int32_t prompt_index = 0;  // into the base run's requests
  std::string request_id = {};
  int32_t sample_index = 0;
  int32_t repeat = 0;
  PairState state = PairState::kCompared;
  Divergence divergence = {};         // of a compared pair
  std::optional<FlipKind> flip = {};  // of a pair whose tokens differ
  AnswerTiming reference_timing = {};
  AnswerTiming candidate_timing = {};

  std::vector<DivergenceKind> kinds = {};       // of a diverging pair; several: not decided
  std::optional<TextAgreement> agreement = {};  // of a compared pair, at Detail::kFull

  Sameness sameness(Level level) const;  // kMissing unless compared
};

// Pairs, counted. A pair may count in several rows but is `exact` only if nothing about its answer
// differs or is missing.
struct PairCounts {
  int64_t n_pairs = 0;
  int64_t exact_matches = 0;  // level 1 holds
  int64_t bit_matches = 0;    // level 2 holds
  int64_t numeric_divergences = 0;
  int64_t token_divergences = 0;
  int64_t finish_differences = 0;  // same tokens, another finish reason
  int64_t errors = 0;              // the target failed on a side
  int64_t missing =
      0;  // otherwise incomplete: a side without sample, truncated, cancelled, non-finite
  int64_t unsupported = 0;       // level 2 could not be answered
  int64_t suspicious_flips = 0;  // of the token divergences: FlipKind::kSuspicious
  PairCounts& operator+=(const PairCounts& other);
};

struct CellComparison {
  std::string name;
  std::map<std::string, std::string> values;
  std::string reference_name;  // the cell compared with: of this run, or of the base run
  int32_t group = 0;           // index of the group's reference cell
  bool is_reference = false;   // within a run: its pairs are repeats against the first repeat
  bool exercised = false;      // on both sides
  std::string not_exercised_reason;
  bool complete = false;  // on both sides
  int64_t n_samples = 0;  // recorded in this cell
  PairCounts counts;
  Proportion
      token_match;       // prompts all of whose pairs hold level 1, of prompts with a compared pair
  Proportion bit_match;  // the same for level 2
  int64_t distinct_outputs =
      0;  // most token sequences that one prompt's choice gave, the reference's included
  std::vector<DistinctOutputs> distinct;  // of prompts with more than one: most distinct first
  std::optional<Drift> max_drift = {};    // over all compared positions, forced ones included
  std::optional<GapDrift> max_gap_drift = {};
  int64_t n_forced_positions = 0;
  int64_t n_argmax_flips = 0;                // rows whose most likely token differs
  std::optional<double> top_agreement = {};  // mean over pairs, before the first token divergence
  std::optional<double> top_agreement_after = {};  // the same over forced positions
  std::vector<SurvivalPoint> survival;
  AnswerSpread spread;  // over the cell's answers and its reference's
  CellPrice price;
  CellPrice reference_price;
  PriceRatio price_ratio;
  std::vector<int32_t> numeric_positions;  // of first numeric divergences, ascending
  std::vector<int32_t> token_positions;    // of first token divergences, ascending
  std::vector<float> flip_margins;         // the reference's, at first token divergences, ascending
  std::vector<SharedSuspicion> shared_suspicions;
  std::vector<ValueChange> changes;  // from the reference cell's values, or the base cell's
  Attribution attribution;           // of what diverges here
  CellAgreement agreement;           // at Detail::kFull
  std::vector<std::string>
      changed_values;                 // between runs: "engine.kernel_set: cpu -> cpu-adaptive"
  std::vector<PairComparison> pairs;  // by (prompt, choice, repeat)
};

// One value of an axis over all cells that have it; reference cells are left out within a run (they
// are compared with nothing).
struct AxisValueSummary {
  std::string value;
  int64_t n_cells = 0;
  PairCounts counts;
  Proportion token_match;  // counted in pairs of (cell, prompt)
  Proportion bit_match;
};

struct AxisSummary {
  std::string axis;
  bool is_identity = false;  // its value differs between reference cells
  std::vector<AxisValueSummary> values;
};

// Two groups' reference cells side by side. Expected to differ; reported, never judged.
struct GroupChange {
  std::string from_cell;
  std::string to_cell;
  std::vector<ValueChange> changed;  // "changed by" these
  int64_t n_pairs = 0;
  int64_t n_same_tokens = 0;
  int64_t n_other_tokens = 0;
  int64_t n_same_bits = 0;
  int64_t n_not_compared = 0;  // a side missing or incomplete
};

struct FingerprintChange {
  FingerprintClass item_class = FingerprintClass::kModel;
  std::string name;
  std::optional<std::string> base =
      {};  // absent: the item is not in the fingerprint, or its value is unknown
  std::optional<std::string> candidate = {};
};

struct RunSide {
  std::string id;
  std::string target;
  std::string label;
  std::string status;
  std::string prompts_digest;
  Fingerprint fingerprint;
  bool redacted = false;                   // token ids are digests
  std::vector<std::string> settings = {};  // "axis=value" of every cell alike, by axis
};

// Over the answers of all cells that share a reference cell, that one included.
struct GroupSpread {
  std::string reference_name;
  AnswerSpread spread;
};

enum class ComparisonKind { kWithinRun, kBetweenRuns };
const char* name(ComparisonKind kind);

struct RunComparison {
  ComparisonKind kind = ComparisonKind::kWithinRun;
  RunSide base;
  RunSide candidate;                  // within a run: the same run
  std::vector<CellComparison> cells;  // by cell index
  std::vector<AxisSummary> axes;      // by axis name; values in the order of the cells
  std::vector<GroupChange> group_changes;
  std::vector<GroupSpread> group_spreads;  // within a run, of groups with at least two cells
  PairCounts totals;                       // of all cells' pairs
  Proportion token_match;                  // prompts that hold level 1 in every cell
  Proportion bit_match;
  PairCounts noise;  // within a run: the reference cells' repeats, also part of the totals
  std::optional<Drift> noise_drift = {};
  std::vector<int32_t> noisy_prompts;          // whose reference repeats differ, ascending
  std::vector<KindCount> kinds;                // of the diverging pairs, in the order of the kinds
  double tie_nats = 0;                         // what counted as a tie: see FlipThresholds
  std::optional<FlipLawResult> flip_law = {};  // at Detail::kFull
  std::optional<RowHistograms> row_histograms = {};  // at Detail::kFull
  std::optional<Certificates> certificates = {};     // at Detail::kFull
  Proportion noise_match;  // prompts whose repeats in the reference cells have the same tokens
  std::vector<std::string> cells_only_in_base;
  std::vector<std::string> cells_only_in_candidate;
  std::vector<std::string> prompts_only_in_base;  // request ids
  std::vector<std::string> prompts_only_in_candidate;
  std::vector<std::string> request_differences;        // in words, of ids that both have
  std::vector<std::string> unsampled_requests;         // no cell of a run has a sample of them
  std::vector<FingerprintChange> fingerprint_changes;  // by (class, name)
  std::vector<std::vector<std::string>> request_tags;  // by the base run's request index
};

// A verdict needs neither fits nor texts, and has to be fast.
enum class Detail {
  kVerdict,
  kFull,  // also the flip law, certificates, and how much alike different answers are
};

struct CompareOptions {
  FlipThresholds flips = {};
  Detail detail = Detail::kVerdict;
};

// Throw Error(environment) for a record that contradicts itself: two samples of one kind, a sample
// of no cell or no request.
RunComparison compare_within_run(const RunRecord& run, const CompareOptions& options = {});
RunComparison compare_runs(const RunRecord& base, const RunRecord& candidate,
                           const CompareOptions& options = {});

std::vector<FingerprintChange> fingerprint_changes(const Fingerprint& base,
                                                   const Fingerprint& candidate);

}  // namespace isobit
