// What `explain` prints.
#include <cmath>

#include <fmt/format.h>

#include "compare/bits.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"
#include "why/why_text.h"

namespace isobit {
namespace {

constexpr size_t kShownText = 24;
constexpr size_t kShownRequests = 6;

// What the other side is called.
const char* other_side(const Explanation& e) {
  return e.between_runs ? "base" : "reference";
}

std::string number(double value) {
  return fmt::format("{:.3g}", value);
}

std::string margin(const std::optional<float>& value) {
  return value ? number(static_cast<double>(*value)) : "-";
}

std::string token_words(const std::optional<TracePosition>& p, const TokenText& token_text) {
  if (!p) return "(ended)";
  const std::string text = token_text ? token_text(p->token_id) : std::string();
  return text.empty() ? fmt::format("{}", p->token_id)
                      : fmt::format("{} '{}'", p->token_id, visible_text(text, kShownText));
}

const char* state(const TailPosition& t) {
  if (!t.reference || !t.candidate) return "ended";
  if (t.reference->token_id != t.candidate->token_id) return "token";
  return t.same_bits ? "same" : "bits";
}

std::string tail_table(const Explanation& e, const TokenText& token_text) {
  std::vector<std::vector<std::string>> rows;
  for (const TailPosition& t : e.tail)
    rows.push_back({fmt::format("{}", t.position), token_words(t.reference, token_text),
                    margin(t.reference ? t.reference->margin : std::nullopt),
                    token_words(t.candidate, token_text),
                    margin(t.candidate ? t.candidate->margin : std::nullopt), state(t)});
  return text_table({{"position", Align::kRight},
                     {other_side(e), Align::kLeft},
                     {"margin", Align::kRight},
                     {"candidate", Align::kLeft},
                     {"margin", Align::kRight},
                     {"", Align::kLeft}},
                    rows);
}

std::string arm_line(const char* side, const ArmFinding& arm) {
  std::string out = fmt::format("{:<10} {}", side, visible_text(arm.sample));
  if (!arm.kernel_set.empty())
    out += fmt::format("  ({} {}{})", arm.kernel_set, arm.isa,
                       arm.claims_invariance ? "" : ", claims no invariance");
  if (arm.rerun) out += arm.reproduced ? "  re-run: as recorded" : "  re-run: does not reproduce";
  return out + "\n";
}

std::string share_words(const StepShare& s) {
  const std::string rows = s.n_rows == 1 ? fmt::format("position {}", s.first_position)
                                         : fmt::format("positions {}-{}", s.first_position,
                                                       s.first_position + s.n_rows - 1);
  return fmt::format("{}{} ({}, {})", s.is_subject ? "*" : "", visible_text(s.request_id, 40),
                     s.is_prompt ? "prefill" : "decode", rows);
}

std::string step_line(const char* side, const std::optional<StepComposition>& step) {
  if (!step) return {};
  std::string out = fmt::format("  {} step {}: {} row{} of {} request{}: ", side, step->step,
                                step->n_rows, step->n_rows == 1 ? "" : "s", step->shares.size(),
                                step->shares.size() == 1 ? "" : "s");
  for (size_t i = 0; i < std::min(step->shares.size(), kShownRequests); ++i)
    out += (i ? ", " : "") + share_words(step->shares[i]);
  if (step->shares.size() > kShownRequests)
    out += fmt::format(" and {} more", step->shares.size() - kShownRequests);
  return out + "\n";
}

// "matmul (head) after the last layer": what precedes and follows the layers belongs to none.
std::string place_words(Operator op, int64_t layer) {
  if (op == Operator::kEmbed) return name(op);
  return is_of_logits(op) ? fmt::format("{} after the last layer", name(op))
                          : fmt::format("{} of layer {}", name(op), layer);
}

// Between values of opposite sign a count of ulp says only how far both are from zero.
std::string distance_words(float reference, float candidate, std::optional<uint32_t> ulp) {
  if (!ulp) return "not comparable in ulp";
  if (std::signbit(reference) == std::signbit(candidate)) return fmt::format("{} ulp", *ulp);
  return fmt::format("{:.3g} apart, across zero",
                     std::abs(static_cast<double>(reference) - static_cast<double>(candidate)));
}

std::string first_words(const Explanation& e) {
  const OperatorDifference& d = *e.first;
  std::string out =
      fmt::format("\nfirst operator that differs: {}, at position {} ({} token), element {}\n",
                  place_words(d.op, d.layer), d.position,
                  d.position < e.n_prompt_tokens ? "prompt" : "output", d.element);
  out += fmt::format("  {} {} ({:.9g}), candidate {} ({:.9g})", other_side(e),
                     bits_text(d.reference), static_cast<double>(d.reference),
                     bits_text(d.candidate), static_cast<double>(d.candidate));
  out += ": " + distance_words(d.reference, d.candidate, e.first_ulp) + "\n";
  return out + step_line(other_side(e), e.reference_step) +
         step_line("candidate", e.candidate_step);
}

// Which arm breaks the clause: one that claims invariance has a defect, one that claims none has
// done what it may.
std::string clause_words(const Explanation& e) {
  std::string out =
      fmt::format("clause: numeric contract section {}: {}\n", e.clause->section, e.clause->rule);
  const ArmFinding& candidate = e.candidate;
  if (candidate.kernel_set.empty()) return out;
  if (candidate.rounds_to_bf16 != e.reference.rounds_to_bf16)
    return out + fmt::format(
                     "  and 3.1: activations stay f32 between operators; '{}' rounds them "
                     "to bf16\n",
                     (candidate.rounds_to_bf16 ? candidate : e.reference).kernel_set);
  if (candidate.claims_invariance && e.reference.claims_invariance)
    return out + fmt::format("  both arms' kernel sets claim to keep it ({}): this is a defect\n",
                             candidate.kernel_set);
  const ArmFinding& breaker = candidate.claims_invariance ? e.reference : candidate;
  return out + fmt::format("  '{}' does not claim to keep it\n", breaker.kernel_set);
}

std::string drift_words(const Explanation& e) {
  const OperatorDrift* largest = e.largest_drift();
  if (!largest) return {};
  std::string out = fmt::format(
      "at the diverging position: largest difference in {}: {} (element {}: {} against {}); {} of "
      "{} elements differ\n",
      place_words(largest->op, largest->layer),
      distance_words(largest->reference, largest->candidate, largest->ulp), largest->element,
      bits_text(largest->reference), bits_text(largest->candidate), largest->n_different,
      largest->n_elements);
  const OperatorDrift& logits = e.drifts.back();
  if (is_of_logits(logits.op))
    out += fmt::format("  logits: {} of {} differ, by at most {}\n", logits.n_different,
                       logits.n_elements, number(logits.largest_difference));
  return out;
}

std::string flip_words(const Explanation& e) {
  if (!e.flip_margin) return {};
  const FlipMargin& m = *e.flip_margin;
  return fmt::format(
      "the flip: token {} led token {} by {} on the {} side and by {} on the candidate's; "
      "the gap moved by {}\n",
      m.reference_token, m.candidate_token, number(m.reference_gap), other_side(e),
      number(m.candidate_gap), number(std::fabs(m.drift())));
}

std::string not_reproduced_words(const Explanation& e) {
  std::string out;
  for (const ArmFinding* arm : {&e.reference, &e.candidate}) {
    if (!arm->rerun || arm->reproduced) continue;
    std::string where = "in how it ends";
    if (arm->from_record && arm->from_record->token)
      where = fmt::format("token at position {}", arm->from_record->token->position);
    else if (arm->from_record && arm->from_record->numeric)
      where = fmt::format("bits at position {}", arm->from_record->numeric->position);
    out += fmt::format("does not reproduce: {} gave another answer than the one recorded ({})\n",
                       visible_text(arm->sample), where);
  }
  return out +
         "the answer itself is unstable, or something that is not recorded has changed; no "
         "operator is blamed\n";
}

std::string cause_words(const Explanation& e) {
  switch (e.cause) {
    case Cause::kNone:
      return "no difference: both answers are the same in every bit that was recorded\n";
    case Cause::kNotReproduced:
      return not_reproduced_words(e);
    case Cause::kNotRepeatable:
      return "an execution gave other bits when it was repeated in the same schedule: the target "
             "is unstable, and no operator can be named\n";
    case Cause::kNotProbed:
      return "the operator needs the built-in engine: this target shows answers only\n";
    case Cause::kOperator:
      return first_words(e) + clause_words(e) + drift_words(e);
    case Cause::kSampler:
      return "the logits are the same bits on both sides and the tokens differ: the sampler\n" +
             clause_words(e);
    case Cause::kScores:
      return "the logits are the same bits on both sides, the scores made of them differ\n" +
             clause_words(e);
    case Cause::kEnding:
      return "every row is the same; the answers end differently\n" + clause_words(e);
    case Cause::kNotLocated:
      return "the recorded logits differ, and no operator did when both were repeated\n";
  }
  return {};
}

std::string divergence_line(const Explanation& e) {
  const Divergence& d = e.divergence;
  std::string out;
  if (d.numeric) out += fmt::format("bits differ from position {}", d.numeric->position);
  if (d.token)
    out += fmt::format("{}tokens part at position {}{}", out.empty() ? "" : "; ", d.token->position,
                       e.flip ? fmt::format(" ({})", name(*e.flip)) : "");
  return out.empty() ? out : out + "\n";
}

}  // namespace

std::string explanation_text(const Explanation& e, const TokenText& token_text) {
  std::string out = arm_line(other_side(e), e.reference) + arm_line("candidate", e.candidate);
  out += divergence_line(e);
  if (!e.tail.empty()) out += "\n" + tail_table(e, token_text);
  return out + cause_words(e) + flip_words(e);
}

}  // namespace isobit
