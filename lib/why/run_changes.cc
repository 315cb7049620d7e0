#include "why/run_changes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "compare/recorded_samples.h"
#include "compare/run_comparison.h"
#include "fingerprint/fingerprint_diff.h"
#include "matrix/axes.h"

namespace isobit {
namespace {

// Thrown to leave a target once a difference is seen. Not a std::exception: see
// recorded_traffic.cc.
struct DifferenceSeen {};

bool differs(const Divergence& d, Level level) {
  return sameness_at(level, d) == Sameness::kDifferent;
}

int32_t cell_named(const RunRecord& run, const std::string& name) {
  for (const CellRecord& cell : run.cells) {
    if (cell.name == name) return cell.index;
  }
  throw Error(ErrorCode::environment, "run " + run.id + " has no cell '" + name + "'");
}

// Where a pair that differs parts.
DivergingAnswer parting_of(const PairComparison& pair) {
  const Divergence& d = pair.divergence;
  DivergingAnswer out{.prompt_index = pair.prompt_index,
                      .request_id = pair.request_id,
                      .in = DifferenceIn::kEnding,
                      .position = std::min(d.reference_length, d.candidate_length)};
  if (d.token) {
    out.in = DifferenceIn::kTokens;
    out.position = d.token->position;
  } else if (pair.sameness(Level::kRequestReproducible) != Sameness::kDifferent && d.numeric) {
    out.in = DifferenceIn::kBits;
    out.position = d.numeric->position;
  }
  return out;
}

std::vector<DivergingAnswer> diverging_answers(const CellComparison& line, Level level,
                                               std::optional<int32_t> only) {
  std::vector<DivergingAnswer> out;
  for (const PairComparison& pair : line.pairs) {
    if (pair.repeat != 0 || (only && *only != pair.prompt_index)) continue;
    if (pair.sameness(level) != Sameness::kDifferent) continue;
    out.push_back(parting_of(pair));
    out.back().only_request = only.has_value();
  }
  return out;
}

bool parts_before(const DivergingAnswer& a, const DivergingAnswer& b) {
  return std::tuple(a.in, a.position) < std::tuple(b.in, b.position);
}

// Items whose value follows from what is listed as an axis, the seed or the model.
bool follows_from_others(const FingerprintChange& change, bool can_switch_model) {
  if (change.item_class == FingerprintClass::kScheduler) return true;
  if (change.item_class == FingerprintClass::kModel) return can_switch_model;
  return change.item_class == FingerprintClass::kNumerics &&
         (change.name == "kernel_set" || change.name == "isa" || change.name == "kv_dtype");
}

Change as_change(const FingerprintChange& change) {
  const auto shown = [](const std::optional<std::string>& value) {
    return value ? *value : std::string("unknown");
  };
  return {.name = std::string(name(change.item_class)) + "." + change.name,
          .from = shown(change.base),
          .to = shown(change.candidate),
          .effect = std::string(rule_of(change.item_class, change.name).effect)};
}

std::vector<Change> axis_changes(const CellRecord& from, const CellRecord& to) {
  std::vector<Change> out;
  for (const Axis& axis : axes()) {
    const std::string a = axis_value(from, axis.key), b = axis_value(to, axis.key);
    if (a != b) out.push_back({.name = axis.key, .from = a, .to = b, .effect = {}});
  }
  return out;
}

CellRecord with_changes(const CellRecord& base, const std::vector<Change>& changes,
                        const ChangeSet& applied) {
  CellRecord cell = base;
  for (const size_t i : applied) {
    if (changes[i].name != kModelChange && changes[i].name != kSeedChange)
      cell.values[changes[i].name] = changes[i].to;
  }
  cell.name = cell_name(cell.values);
  return cell;
}

bool applies(const std::vector<Change>& changes, const ChangeSet& applied, const char* what) {
  return std::ranges::any_of(applied, [&](size_t i) { return changes[i].name == what; });
}

// Asks one cell and holds the watched requests against the base's record.
ProbeResult ask_cell(const CellPair& pair, const CellRecord& cell, const BuiltWorkload& built,
                     Target& target, const AskSource& source) {
  const RecordedSamples recorded(pair.base.run);
  const CellRecord& base_cell = cell_at(pair.base.run, pair.base.cell_index);
  std::string where;
  const auto compare = [&](size_t item, const Trace& trace) {
    if (source.between_answers) source.between_answers();
    const int32_t prompt = *built.prompt_index[item];
    if (prompt != pair.answer->prompt_index) return;
    const SampleKey key{.prompt_index = prompt, .sample_index = trace.sample_index, .repeat = 0};
    const Trace* expected = recorded.find(base_cell.index, key);
    if (!expected) return;
    const Request& request = pair.base.run.requests[static_cast<size_t>(prompt)];
    const Divergence d =
        compare_samples(*expected, trace, comparison_options(request, base_cell, cell));
    if (!differs(d, source.level)) return;
    const int32_t position = d.token ? d.token->position : d.numeric ? d.numeric->position : 0;
    where = "'" + request.id + "' from position " + std::to_string(position) +
            (d.token ? " (token)" : "");
    throw DifferenceSeen{};
  };
  try {
    target.run(built.workload, compare);
  } catch (const DifferenceSeen&) {
    return {.outcome = ProbeOutcome::kDiffers, .note = where};
  }
  return {};
}

}  // namespace

CellPair diverging_pair(const PairOfRuns& runs, std::optional<int32_t> candidate_cell,
                        std::optional<int32_t> base_prompt, Level level) {
  const bool within = &runs.base == &runs.candidate || runs.base.id == runs.candidate.id;
  const RunComparison comparison =
      within ? compare_within_run(runs.candidate) : compare_runs(runs.base, runs.candidate);
  std::optional<CellPair> found;
  int64_t n_diverging = 0;
  for (const CellComparison& line : comparison.cells) {
    if (within && line.is_reference) continue;  // repeats of one cell: nothing was changed
    const int32_t index = cell_named(runs.candidate, line.name);
    if (candidate_cell && *candidate_cell != index) continue;
    CellPair pair{
        .base = {.run = runs.base,
                 .cell_index = cell_named(runs.base, line.reference_name),
                 .seed = runs.base_seed},
        .candidate = {.run = runs.candidate, .cell_index = index, .seed = runs.candidate_seed},
        .answer = {}};
    if (!found && !line.pairs.empty()) found.emplace(pair);
    for (const DivergingAnswer& answer : diverging_answers(line, level, base_prompt)) {
      ++n_diverging;
      if (found->answer && !parts_before(answer, *found->answer)) continue;
      pair.answer = answer;
      found.emplace(pair);
    }
  }
  if (found && found->answer) found->answer->n_diverging = n_diverging;
  if (found) return *found;
  throw Error(ErrorCode::unsupported,
              within ? "run " + runs.base.id + " has no cell to compare with its reference"
                     : "nothing is comparable between " + runs.base.id + " and " +
                           runs.candidate.id + ": they have no cell and request in common",
              "give two runs of the same prompts and axes, or RUN/CELL of one run");
}

RunChanges changes_between(const CellPair& pair, bool can_switch_model) {
  RunChanges out;
  const RunRecord &base = pair.base.run, &candidate = pair.candidate.run;
  out.applicable = axis_changes(cell_at(base, pair.base.cell_index),
                                cell_at(candidate, pair.candidate.cell_index));
  if (pair.base.seed != pair.candidate.seed)
    out.applicable.push_back({.name = kSeedChange,
                              .from = std::to_string(pair.base.seed),
                              .to = std::to_string(pair.candidate.seed),
                              .effect = "Neighbours and permutations are drawn otherwise."});
  if (can_switch_model)
    out.applicable.push_back({.name = kModelChange,
                              .from = base.target,
                              .to = candidate.target,
                              .effect = "Other weights: every logit of every request can change."});
  for (const FingerprintChange& change :
       fingerprint_changes(base.fingerprint, candidate.fingerprint)) {
    if (!follows_from_others(change, can_switch_model)) out.suspects.push_back(as_change(change));
  }
  if (base.prompts_digest != candidate.prompts_digest)
    out.suspects.push_back({.name = "prompts",
                            .from = base.prompts_digest.substr(0, 12),
                            .to = candidate.prompts_digest.substr(0, 12),
                            .effect = "The requests that share the load are others."});
  return out;
}

AskWith asking(const CellPair& pair, const std::vector<Change>& changes, const AskSource& source) {
  return [&pair, &changes, &source](const ChangeSet& applied) -> ProbeResult {
    const CellRecord cell =
        with_changes(cell_at(pair.base.run, pair.base.cell_index), changes, applied);
    if (const auto reason = impossible_reason(cell.values))
      return {.outcome = ProbeOutcome::kImpossible, .note = *reason};
    TrafficSource traffic = source.traffic;
    traffic.seed = applies(changes, applied, kSeedChange) ? pair.candidate.seed : pair.base.seed;
    BuiltWorkload built;
    try {
      built = traffic_of(cell, pair.base.run.requests, traffic);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::usage) throw;
      return {.outcome = ProbeOutcome::kImpossible, .note = e.message()};
    }
    Target& target = source.target(applies(changes, applied, kModelChange));
    return ask_cell(pair, cell, built, target, source);
  };
}

}  // namespace isobit
