#include "record/run_json.h"

#include <cmath>

#include "base/digest.h"
#include "record/float_json.h"

namespace isobit {
namespace {

Json fingerprint_json(const Fingerprint& fingerprint) {
  Json out = Json::array();
  for (const FingerprintItem& item : fingerprint.items) {
    out.push_back({{"class", name(item.item_class)},
                   {"name", bytes_json(item.name)},
                   {"value", bytes_json(item.value)},
                   {"source", name(item.source)},
                   {"reason", bytes_json(item.reason)}});
  }
  return out;
}

Json texts_json(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(bytes_json(text));
  return out;
}

Json sampling_json(const Sampling& s) {
  Json bias = Json::array();
  for (const auto& [id, value] : s.logit_bias) bias.push_back(Json::array({id, value}));
  return {{"temperature", s.temperature},
          {"top_k", s.top_k},
          {"top_p", s.top_p},
          {"min_p", s.min_p},
          {"repetition_penalty", s.repetition_penalty},
          {"frequency_penalty", s.frequency_penalty},
          {"presence_penalty", s.presence_penalty},
          {"logit_bias", std::move(bias)},
          {"seed", std::to_string(s.seed)},
          {"seed_source", s.seed_source == SeedSource::kRequest ? "request" : "request_id"},
          {"n", s.n}};
}

Json request_json(const Request& r, const std::string& text) {
  return {{"id", bytes_json(r.id)},
          {"text", bytes_json(text)},
          {"prompt_token_ids", r.prompt_token_ids},
          {"max_tokens", r.max_tokens},
          {"n_top", r.n_top},
          {"sampling", sampling_json(r.sampling)},
          {"stop", texts_json(r.stop.strings)},
          {"stop_token_ids", r.stop.token_ids},
          {"ignore_eos", r.stop.ignore_eos},
          {"forced_token_ids", r.forced_token_ids},
          {"tags", texts_json(r.tags)}};
}

Json cell_json(const CellRecord& c) {
  Json values = Json::object();
  for (const auto& [axis, value] : c.values) values[axis] = value;
  return {{"index", c.index},
          {"name", c.name},
          {"values", std::move(values)},
          {"reference_index", c.reference_index},
          {"complete", c.complete},
          {"exercised", c.exercised},
          {"not_exercised_reason", bytes_json(c.not_exercised_reason)},
          {"wall_ms", c.wall_ms},
          {"generated_tokens_per_s", c.generated_tokens_per_s}};
}

// Columns, as the store has them: one list a quantity. A null stands for evidence that is missing;
// a column with nothing in it is empty.
void put_positions(Json& out, const std::vector<TracePosition>& positions) {
  Json tokens = Json::array(), logprobs = Json::array(), margins = Json::array(),
       hashes = Json::array(), top = Json::array();
  bool any_margin = false, any_hash = false, any_top = false;
  for (const TracePosition& p : positions) {
    tokens.push_back(p.token_id);
    logprobs.push_back(float_json(p.logprob));
    margins.push_back(p.margin ? float_json(*p.margin) : Json());
    hashes.push_back(p.logits_hash ? Json(hex(*p.logits_hash)) : Json());
    Json list = Json::array();
    for (const TokenScore& score : p.top)
      list.push_back(Json::array({score.token_id, float_json(score.logprob)}));
    top.push_back(std::move(list));
    any_margin |= p.margin.has_value();
    any_hash |= p.logits_hash.has_value();
    any_top |= !p.top.empty();
  }
  out["tokens"] = std::move(tokens);
  out["logprobs"] = std::move(logprobs);
  out["margins"] = any_margin ? std::move(margins) : Json::array();
  out["logits_hashes"] = any_hash ? std::move(hashes) : Json::array();
  out["top"] = any_top ? std::move(top) : Json::array();
}

Json scheduling_json(const SchedulingFacts& f) {
  return {{"max_batch_requests", f.max_batch_requests},
          {"min_batch_requests", f.min_batch_requests},
          {"max_batch_tokens", f.max_batch_tokens},
          {"first_row", f.first_row},
          {"prefill_chunks_tokens", f.prefill_chunks_tokens},
          {"n_steps", f.n_steps},
          {"n_mixed_steps", f.n_mixed_steps},
          {"n_cached_tokens", f.n_cached_tokens},
          {"n_preemptions", f.n_preemptions}};
}

Json sample_json(const SampleRecord& s) {
  const Trace& t = s.trace;
  Json embedding = Json::array();
  for (const float value : t.embedding) embedding.push_back(float_json(value));
  Json out = {{"cell", s.cell_index},
              {"prompt", s.prompt_index},
              {"repeat", s.repeat},
              {"sample_index", t.sample_index},
              {"request_id", bytes_json(t.request_id)},
              {"seed", std::to_string(t.seed)},
              {"finish_reason", name(t.finish_reason)},
              {"text", bytes_json(t.text)},
              {"error", bytes_json(t.error)},
              {"non_finite", t.non_finite},
              {"scheduling", scheduling_json(t.scheduling)},
              {"ttft_ms", t.ttft_ms},
              {"total_ms", t.total_ms},
              {"embedding", std::move(embedding)}};
  put_positions(out, t.positions);
  return out;
}

Json forced_json(const ForcedRecord& f) {
  Json out = {{"cell", f.cell_index},
              {"prompt", f.prompt_index},
              {"repeat", f.repeat},
              {"sample_index", f.sample_index},
              {"over_run", f.over_run}};
  put_positions(out, f.positions);
  return out;
}

template <typename T, typename ToJson>
Json array_of(const std::vector<T>& items, const ToJson& to_json) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(to_json(item));
  return out;
}

}  // namespace

Json run_sections(const RunRecord& run) {
  Json requests = Json::array();
  for (size_t i = 0; i < run.requests.size(); ++i) {
    requests.push_back(
        request_json(run.requests[i], run.prompt_texts.empty() ? "" : run.prompt_texts[i]));
  }
  return {{"run",
           {{"id", run.id},
            {"created", run.created},
            {"target", bytes_json(run.target)},
            {"label", bytes_json(run.label)},
            {"plan_json", bytes_json(run.plan_json)},
            {"prompts_digest", run.prompts_digest},
            {"status", run.status},
            {"stop_reason", bytes_json(run.stop_reason)},
            {"fingerprint", run.fingerprint.id},
            {"redacted", run.redacted}}},
          {"fingerprint", fingerprint_json(run.fingerprint)},
          {"requests", std::move(requests)},
          {"cells", array_of(run.cells, cell_json)},
          {"samples", array_of(run.samples, sample_json)},
          {"forced", array_of(run.forced, forced_json)}};
}

}  // namespace isobit
