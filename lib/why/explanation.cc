#include "why/explanation.h"

#include <algorithm>

#include "base/error.h"
#include "compare/bits.h"

namespace isobit {
namespace {

bool differs(const Divergence& d) {
  return d.numeric || d.token || d.finish_differs || d.reference_length != d.candidate_length;
}

ArmFinding describe_arm(const Arm& arm) {
  ArmFinding out{.sample = arm.sample,
                 .cell = arm.cell,
                 .kernel_set = {},
                 .isa = {},
                 .from_record = std::nullopt};
  if (!arm.execution || !arm.target.kernels) return out;
  const KernelSet& kernels = arm.target.kernels(arm.execution->workload);
  out.kernel_set = kernels.name;
  out.isa = kernels.isa;
  out.claims_invariance = kernels.claims.batch_invariant && kernels.claims.schedule_invariant;
  out.rounds_to_bf16 = kernels.rounds_activations_to_bf16;
  return out;
}

void check_rerun(ArmFinding& finding, const Arm& arm, const Trace& rerun) {
  finding.rerun = true;
  finding.reproduced = same_answer(arm.recorded, rerun);
  if (!finding.reproduced) finding.from_record = compare_samples(arm.recorded, rerun);
}

std::vector<TailPosition> tail_around(const Trace& a, const Trace& b, int32_t position,
                                      const ExplainOptions& options) {
  const auto longest = static_cast<int32_t>(std::max(a.positions.size(), b.positions.size()));
  const auto at = [](const Trace& trace, int32_t i) -> std::optional<TracePosition> {
    if (static_cast<size_t>(i) >= trace.positions.size()) return std::nullopt;
    return trace.positions[static_cast<size_t>(i)];
  };
  const auto one = [](TracePosition p) {
    Trace trace;
    trace.positions = {std::move(p)};
    return trace;
  };
  std::vector<TailPosition> out;
  for (int32_t i = std::max(0, position - options.n_before);
       i < std::min(longest, position + options.n_after + 1); ++i) {
    TailPosition tail{.position = i, .reference = at(a, i), .candidate = at(b, i)};
    tail.same_bits =
        tail.reference && tail.candidate && same_answer(one(*tail.reference), one(*tail.candidate));
    out.push_back(std::move(tail));
  }
  return out;
}

// The gap between two tokens in a row of logits; nullopt where a token lies outside it.
std::optional<double> gap(const ProbedAnswer& answer, int32_t a, int32_t b) {
  if (answer.rows.empty()) return std::nullopt;
  const auto& [place, row] = *answer.rows.rbegin();  // the last operator: the logits
  const auto inside = [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < row.size(); };
  if (!is_of_logits(place.second) || !inside(a) || !inside(b)) return std::nullopt;
  return static_cast<double>(row[static_cast<size_t>(a)]) - row[static_cast<size_t>(b)];
}

class Explainer {
 public:
  Explainer(const Arm& reference, const Arm& candidate, const ExplainOptions& options)
      : reference_(reference), candidate_(candidate), options_(options) {}

  Explanation run() {
    describe_records();
    out_.cause = cause();
    return std::move(out_);
  }

 private:
  void describe_records() {
    out_.request_id = reference_.recorded.request_id;
    out_.reference = describe_arm(reference_);
    out_.candidate = describe_arm(candidate_);
    out_.divergence =
        compare_samples(reference_.recorded, candidate_.recorded, options_.comparison);
    out_.n_prompt_tokens = static_cast<int32_t>(reference_.request.prompt_token_ids.size());
    out_.flip = classify_flip(out_.divergence, reference_.request.sampling, options_.flips);
    if (const auto at = out_.position())
      out_.tail = tail_around(reference_.recorded, candidate_.recorded, *at, options_);
  }

  Cause cause() {
    if (!reference_.execution || !candidate_.execution)
      return differs(out_.divergence) ? Cause::kNotProbed : Cause::kNone;
    if (!reference_.target.can_be_probed() || !candidate_.target.can_be_probed()) {
      check_rerun(out_.reference, reference_, rerun(reference_));
      check_rerun(out_.candidate, candidate_, rerun(candidate_));
      if (!reproduced()) return Cause::kNotReproduced;
      return differs(out_.divergence) ? Cause::kNotProbed : Cause::kNone;
    }
    return cause_by_probing();
  }

  Cause cause_by_probing() {
    const ProbedAnswer a = probed(reference_), b = probed(candidate_);
    check_rerun(out_.reference, reference_, a.trace);
    check_rerun(out_.candidate, candidate_, b.trace);
    if (!reproduced()) return Cause::kNotReproduced;
    if (!differs(out_.divergence)) return Cause::kNone;
    describe_drift(a, b);
    try {
      if (locate(a, b)) return Cause::kOperator;
    } catch (const Error& e) {
      if (e.code() != ErrorCode::internal) throw;
      return Cause::kNotRepeatable;
    }
    return cause_without_operator();
  }

  bool reproduced() const { return out_.reference.reproduced && out_.candidate.reproduced; }

  Trace rerun(const Arm& arm) const {
    return answer_of(*arm.target.target, *arm.execution, options_.between_answers);
  }

  // Absolute, of the row from which the diverging output position was scored.
  int32_t scored_position() const { return out_.n_prompt_tokens - 1 + out_.position().value_or(0); }

  ProbedAnswer probed(const Arm& arm) const {
    return probe_answer(arm.target, *arm.execution, scored_position(), options_.between_answers);
  }

  void describe_drift(const ProbedAnswer& a, const ProbedAnswer& b) {
    out_.drifts = drifts(a, b);
    const auto& flip = out_.divergence.token;
    if (!flip || !flip->reference_token || !flip->candidate_token) return;
    const auto on_reference = gap(a, *flip->reference_token, *flip->candidate_token),
               on_candidate = gap(b, *flip->reference_token, *flip->candidate_token);
    if (!on_reference || !on_candidate) return;
    out_.flip_margin = FlipMargin{.reference_token = *flip->reference_token,
                                  .candidate_token = *flip->candidate_token,
                                  .reference_gap = *on_reference,
                                  .candidate_gap = *on_candidate};
  }

  bool locate(const ProbedAnswer& a, const ProbedAnswer& b) {
    const int32_t last = scored_position();
    out_.first = first_operator_difference(
        probed_choice(reference_.target, *reference_.execution, last, options_.between_answers),
        probed_choice(candidate_.target, *candidate_.execution, last, options_.between_answers));
    if (!out_.first) return false;
    out_.first_ulp = ulp_distance(out_.first->reference, out_.first->candidate);
    out_.clause = clause_of(out_.first->op);
    out_.reference_step = step_of(a, out_.first->reference_step);
    out_.candidate_step = step_of(b, out_.first->candidate_step);
    return true;
  }

  static std::optional<StepComposition> step_of(const ProbedAnswer& answer, int64_t step) {
    const auto at = answer.steps.find(step);
    return at == answer.steps.end() ? std::nullopt : std::optional(at->second);
  }

  Cause cause_without_operator() {
    const Divergence& d = out_.divergence;
    if (d.numeric && d.numeric->logits_hash_differs) return Cause::kNotLocated;
    if (d.numeric) {
      out_.clause = clause_of_scores();
      return Cause::kScores;
    }
    const bool another_token = d.token && d.token->reference_token && d.token->candidate_token;
    out_.clause = another_token ? clause_of_sampler() : clause_of_ending();
    return another_token ? Cause::kSampler : Cause::kEnding;
  }

  const Arm& reference_;
  const Arm& candidate_;
  const ExplainOptions& options_;
  Explanation out_;
};

}  // namespace

const char* name(Cause cause) {
  switch (cause) {
    case Cause::kNone:
      return "none";
    case Cause::kNotReproduced:
      return "not_reproduced";
    case Cause::kNotRepeatable:
      return "not_repeatable";
    case Cause::kNotProbed:
      return "not_probed";
    case Cause::kOperator:
      return "operator";
    case Cause::kSampler:
      return "sampler";
    case Cause::kScores:
      return "scores";
    case Cause::kEnding:
      return "ending";
    case Cause::kNotLocated:
      return "not_located";
  }
  return "unknown";
}

const OperatorDrift* Explanation::largest_drift() const {
  const auto at = std::max_element(drifts.begin(), drifts.end(),
                                   [](const auto& a, const auto& b) { return a.ulp < b.ulp; });
  return at == drifts.end() || at->ulp == 0 ? nullptr : &*at;
}

std::optional<int32_t> Explanation::position() const {
  if (divergence.token) return divergence.token->position;
  if (divergence.numeric) return divergence.numeric->position;
  if (divergence.reference_length != divergence.candidate_length)
    return std::min(divergence.reference_length, divergence.candidate_length);
  return std::nullopt;
}

Explanation explain(const Arm& reference, const Arm& candidate, const ExplainOptions& options) {
  return Explainer(reference, candidate, options).run();
}

}  // namespace isobit
