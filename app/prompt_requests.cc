#include "app/prompt_requests.h"

#include <algorithm>
#include <filesystem>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "text/prompt_sets.h"

namespace isobit::app {
namespace {

Sampling to_sampling(const PromptRecord& record) {
  const PromptSampling& p = record.sampling;
  Sampling s;
  s.temperature = p.temperature.value_or(s.temperature);
  s.top_k = p.top_k.value_or(s.top_k);
  s.top_p = p.top_p.value_or(s.top_p);
  s.min_p = p.min_p.value_or(s.min_p);
  s.repetition_penalty = p.repetition_penalty.value_or(s.repetition_penalty);
  s.frequency_penalty = p.frequency_penalty.value_or(s.frequency_penalty);
  s.presence_penalty = p.presence_penalty.value_or(s.presence_penalty);
  s.n = p.n.value_or(s.n);
  s.logit_bias = p.logit_bias;
  s.seed_source = p.seed ? SeedSource::kRequest : SeedSource::kRequestId;
  s.seed = p.seed ? *p.seed : seed_from_request_id(record.id);
  return s;
}

Request to_request(const PromptRecord& record, const LoadedText& text,
                   const RequestDefaults& defaults, RenderedTemplate& rendered) {
  Request r;
  r.id = record.id;
  r.max_tokens = record.max_tokens.value_or(defaults.max_tokens);
  r.n_top = defaults.n_top;
  r.sampling = to_sampling(record);
  r.stop = {
      .strings = record.stop, .token_ids = record.stop_token_ids, .ignore_eos = record.ignore_eos};
  r.tags = record.tags;
  if (!record.prompt_token_ids.empty()) {
    r.prompt_token_ids = record.prompt_token_ids;
  } else if (record.prompt) {
    rendered.text = *record.prompt;
    r.prompt_token_ids = text.tokenizer->encode(rendered.text, AddSpecial::kYes);
  } else {
    rendered = text.chat.render({.messages = record.messages, .tools = record.tools});
    r.prompt_token_ids =
        text.tokenizer->encode(rendered.text, AddSpecial::kNo);  // the template writes its own BOS
  }
  return r;
}

}  // namespace

std::vector<PromptRecord> load_prompt_records(const std::string& prompts) {
  const auto& names = builtin_prompt_set_names();
  const bool is_set = std::find(names.begin(), names.end(), prompts) != names.end();
  if (!is_set && std::filesystem::exists(prompts))
    return parse_prompts(read_file(prompts), prompts);
  if (!is_set && prompts.find_first_of("./") != std::string::npos) {
    throw Error(ErrorCode::environment,
                "cannot open the prompt file '" + prompts + "': it does not exist",
                "give a JSONL file or one of the sets smoke, standard, edge");
  }
  return builtin_prompt_set(prompts);
}

PromptRequests load_prompt_requests(const std::string& prompts, const LoadedText& text,
                                    const RequestDefaults& defaults) {
  PromptRequests out;
  for (const PromptRecord& record : load_prompt_records(prompts)) {
    RenderedTemplate rendered;
    try {
      out.requests.push_back(to_request(record, text, defaults, rendered));
    } catch (const Error& e) {
      throw Error(e.code(), "prompt '" + record.id + "': " + e.message(), e.hint());
    }
    out.texts.push_back(std::move(rendered.text));
    out.clock_was_read |= rendered.clock_was_read;
  }
  out.digest = requests_digest(out.requests);
  return out;
}

Request request_from(const PromptRecord& record, const LoadedText& text,
                     const RequestDefaults& defaults) {
  RenderedTemplate rendered;
  return to_request(record, text, defaults, rendered);
}

std::string requests_digest(const std::vector<Request>& requests) {
  Json all = Json::array();
  for (const Request& r : requests) {
    const Sampling& s = r.sampling;
    Json bias = Json::array();
    for (const auto& [id, value] : s.logit_bias) bias.push_back({id, value});
    all.push_back({{"id", r.id},
                   {"prompt_token_ids", r.prompt_token_ids},
                   {"max_tokens", r.max_tokens},
                   {"temperature", s.temperature},
                   {"top_k", s.top_k},
                   {"top_p", s.top_p},
                   {"min_p", s.min_p},
                   {"repetition_penalty", s.repetition_penalty},
                   {"frequency_penalty", s.frequency_penalty},
                   {"presence_penalty", s.presence_penalty},
                   {"logit_bias", bias},
                   {"seed", std::to_string(s.seed)},
                   {"n", s.n},
                   {"stop", r.stop.strings},
                   {"stop_token_ids", r.stop.token_ids},
                   {"ignore_eos", r.stop.ignore_eos},
                   {"forced_token_ids", r.forced_token_ids}});
  }
  return sha256_hex(canonical_json(all));
}

std::vector<int32_t> neighbour_tokens(const Tokenizer& tokenizer, int32_t n_tokens, uint64_t seed) {
  std::vector<int32_t> out;
  for (uint64_t part = 0; static_cast<int32_t>(out.size()) < n_tokens; ++part) {
    const std::string words = filler_prompt(seed * 1000003 + part, static_cast<size_t>(n_tokens));
    for (const int32_t id : tokenizer.encode(words, AddSpecial::kNo)) out.push_back(id);
  }
  out.resize(static_cast<size_t>(n_tokens));
  return out;
}

}  // namespace isobit::app
