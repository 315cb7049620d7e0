#include "why/why_json.h"

#include <cmath>

#include "compare/bits.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// JSON has no infinities; the bits beside the number tell.
Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json margin_json(const std::optional<float>& margin) {
  return margin ? finite_or_null(static_cast<double>(*margin)) : Json();
}

Json arm_json(const ArmFinding& arm) {
  const auto parted = [&]() -> Json {
    if (!arm.from_record) return {};
    const Divergence& d = *arm.from_record;
    if (d.token) return d.token->position;
    return d.numeric ? Json(d.numeric->position) : Json();
  };
  return {{"sample", json_text(arm.sample)},
          {"cell", json_text(arm.cell)},
          {"kernel_set", arm.kernel_set.empty() ? Json() : Json(arm.kernel_set)},
          {"isa", arm.isa.empty() ? Json() : Json(arm.isa)},
          {"claims_invariance", arm.claims_invariance},
          {"rerun", arm.rerun},
          {"reproduced", arm.rerun ? Json(arm.reproduced) : Json()},
          {"parts_from_record_at", parted()}};
}

Json position_json(const std::optional<TracePosition>& p) {
  if (!p) return {};
  return {{"token", p->token_id},
          {"logprob", finite_or_null(static_cast<double>(p->logprob))},
          {"logprob_bits", bits_text(p->logprob)},
          {"margin", margin_json(p->margin)}};
}

Json tail_json(const std::vector<TailPosition>& tail) {
  Json out = Json::array();
  for (const TailPosition& t : tail)
    out.push_back({{"position", t.position},
                   {"same_bits", t.same_bits},
                   {"reference", position_json(t.reference)},
                   {"candidate", position_json(t.candidate)}});
  return out;
}

Json step_json(const std::optional<StepComposition>& step) {
  if (!step) return {};
  Json shares = Json::array();
  for (const StepShare& s : step->shares)
    shares.push_back({{"request", json_text(s.request_id)},
                      {"sample_index", s.sample_index},
                      {"first_position", s.first_position},
                      {"rows", s.n_rows},
                      {"phase", s.is_prompt ? "prefill" : "decode"},
                      {"subject", s.is_subject}});
  return {{"step", step->step}, {"rows", step->n_rows}, {"requests", shares}};
}

Json difference_json(const std::optional<OperatorDifference>& d) {
  if (!d) return {};
  return {{"layer", d->layer},
          {"operator", name(d->op)},
          {"position", d->position},
          {"element", d->element},
          {"reference", finite_or_null(static_cast<double>(d->reference))},
          {"reference_bits", bits_text(d->reference)},
          {"candidate", finite_or_null(static_cast<double>(d->candidate))},
          {"candidate_bits", bits_text(d->candidate)},
          {"ulp", or_null(ulp_distance(d->reference, d->candidate))},
          {"reference_step", d->reference_step},
          {"candidate_step", d->candidate_step}};
}

Json drift_json(const OperatorDrift& d) {
  return {{"layer", d.layer},
          {"operator", name(d.op)},
          {"elements", d.n_elements},
          {"different", d.n_different},
          {"element", d.element},
          {"ulp", d.ulp},
          {"reference_bits", bits_text(d.reference)},
          {"candidate_bits", bits_text(d.candidate)},
          {"largest_difference", finite_or_null(d.largest_difference)}};
}

Json drifts_json(const std::vector<OperatorDrift>& drifts) {
  Json out = Json::array();
  for (const OperatorDrift& d : drifts) out.push_back(drift_json(d));
  return out;
}

Json flip_margin_json(const std::optional<FlipMargin>& m) {
  if (!m) return {};
  return {{"reference_token", m->reference_token},
          {"candidate_token", m->candidate_token},
          {"reference_gap", m->reference_gap},
          {"candidate_gap", m->candidate_gap},
          {"drift", m->drift()}};
}

Json changes_json(const std::vector<Change>& changes) {
  Json out = Json::array();
  for (const Change& c : changes)
    out.push_back({{"name", json_text(c.name)},
                   {"from", json_text(c.from)},
                   {"to", json_text(c.to)},
                   {"effect", c.effect}});
  return out;
}

Json names_json(const Bisection& b, const ChangeSet& set) {
  Json out = Json::array();
  for (const size_t i : set) out.push_back(json_text(b.changes[i].name));
  return out;
}

Json settings_json(const Settings& settings) {
  Json out = Json::object();
  for (const auto& [key, value] : settings) out[json_text(key)] = json_text(value);
  return out;
}

Json size_json(const CaseSize& s) {
  return {{"neighbours", s.n_neighbours},
          {"concurrency", s.concurrency},
          {"prompt_tokens", s.n_prompt_tokens},
          {"max_tokens", s.max_tokens},
          {"neighbour_prompt_tokens", s.n_neighbour_tokens},
          {"changed_settings", s.n_settings}};
}

Json case_json(const DivergingCase& c) {
  Json items = Json::array();
  for (size_t i = 0; i < c.execution.workload.items.size(); ++i) {
    const Request& r = c.execution.workload.items[i].request;
    items.push_back({{"id", json_text(r.id)},
                     {"subject", i == c.execution.item},
                     {"prompt_token_ids", r.prompt_token_ids},
                     {"max_tokens", r.max_tokens},
                     {"seed", std::to_string(r.sampling.seed)}});
  }
  return {{"concurrency", c.execution.workload.concurrency},
          {"settings", settings_json(c.execution.workload.settings)},
          {"alone_settings", settings_json(c.alone_settings)},
          {"sample_index", c.execution.sample_index},
          {"requests", items}};
}

Json guilty_json(const std::vector<GuiltyNeighbour>& guilty) {
  Json out = Json::array();
  for (const GuiltyNeighbour& g : guilty)
    out.push_back({{"request", json_text(g.id)},
                   {"place", g.place},
                   {"before_subject", g.before_request},
                   {"prompt_tokens", g.n_prompt_tokens},
                   {"max_tokens", g.max_tokens}});
  return out;
}

Json split_json(const std::optional<Split>& split) {
  if (!split) return {};
  return {{"position", split->position}, {"in", split->in_tokens() ? "tokens" : "bits"}};
}

Json texts_json(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(json_text(text));
  return out;
}

Json document(const char* format) {
  return {{"format", format}, {"version", 1}};
}

Json answer_json(const std::optional<DivergingAnswer>& answer) {
  if (!answer) return {};
  return {{"request", json_text(answer->request_id)},
          {"in", name(answer->in)},
          {"position", answer->position},
          {"diverging", answer->n_diverging}};
}

}  // namespace

Json explanation_json(const Explanation& e) {
  Json out = document("isobit.explanation");
  out["request"] = json_text(e.request_id);
  out["prompt_tokens"] = e.n_prompt_tokens;
  out["cause"] = name(e.cause);
  out["position"] = or_null(e.position());
  out["flip"] = e.flip ? Json(name(*e.flip)) : Json();
  out["reference"] = arm_json(e.reference);
  out["candidate"] = arm_json(e.candidate);
  out["first"] = difference_json(e.first);
  out["clause"] =
      e.clause ? Json{{"section", e.clause->section}, {"rule", e.clause->rule}} : Json();
  out["reference_step"] = step_json(e.reference_step);
  out["candidate_step"] = step_json(e.candidate_step);
  out["largest_drift"] = e.largest_drift() ? drift_json(*e.largest_drift()) : Json();
  out["flip_margin"] = flip_margin_json(e.flip_margin);
  out["tail"] = tail_json(e.tail);
  out["drifts"] = drifts_json(e.drifts);
  return out;
}

Json bisection_json(const Bisection& b, const std::string& base, const std::string& candidate) {
  Json out = document("isobit.bisection");
  out["base"] = json_text(base);
  out["candidate"] = json_text(candidate);
  out["answer"] = answer_json(b.answer);
  out["result"] = name(b.result);
  Json explanations = Json::array(), probes = Json::array();
  for (const ChangeSet& set : b.explanations) explanations.push_back(names_json(b, set));
  for (const BisectionProbe& p : b.probes)
    probes.push_back({{"applied", names_json(b, p.applied)},
                      {"outcome", name(p.result.outcome)},
                      {"note", json_text(p.result.note)}});
  out["explanations"] = explanations;
  out["changes"] = changes_json(b.changes);
  out["suspects"] = changes_json(b.suspects);
  out["probes"] = probes;
  return out;
}

Json reduction_json(const Reduction& r, const std::string& sample) {
  Json out = document("isobit.reduction");
  out["sample"] = json_text(sample);
  out["before"] = size_json(r.before);
  out["after"] = size_json(r.after);
  out["guilty"] = guilty_json(r.guilty);
  out["settings"] = texts_json(r.settings);
  out["first"] = difference_json(r.first);
  const Divergence& d = r.divergence;
  out["numeric_position"] = d.numeric ? Json(d.numeric->position) : Json();
  out["token_position"] = d.token ? Json(d.token->position) : Json();
  out["one_minimal"] = r.one_minimal;
  out["repeatable"] = r.repeatable;
  out["runs"] = r.n_runs;
  out["case"] = case_json(r.smallest);
  return out;
}

Json repetition_json(const Repetition& r, const std::string& sample, bool alone,
                     const std::string& against) {
  Json out = document("isobit.replay");
  out["sample"] = json_text(sample);
  out["alone"] = alone;
  out["against"] = against;
  out["n"] = r.n;
  out["same_tokens"] = r.n_same_tokens;
  out["same_bits"] = r.n_same_bits;
  out["distinct_tokens"] = r.n_distinct_tokens;
  out["distinct_bits"] = r.n_distinct_bits;
  out["first_split"] = split_json(r.first_split);
  out["first_token_split"] = r.first_token_split ? Json(*r.first_token_split) : Json();
  Json runs = Json::array();
  for (const auto& split : r.runs) runs.push_back(split_json(split));
  out["runs"] = runs;
  return out;
}

}  // namespace isobit
