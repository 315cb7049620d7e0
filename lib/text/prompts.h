// Prompt records: what a user asks a target, before a chat template and a tokenizer turn it into
// token ids.
//
// One record comes from one line of JSON. The native form is strict: a key that is not known is an
// error (except under "meta"), because a misspelt "temprature" that is ignored would make an audit
// of something else. Read beside it are OpenAI batch requests (custom_id, body), ShareGPT
// conversations and {"prompt", "output_tokens_count"} workloads; a file may mix them.
// schemas/prompts.schema.json describes the native form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace isobit {

// Absent members leave the choice to the run.
struct PromptSampling {
  std::optional<double> temperature;
  std::optional<int32_t> top_k;  // 0: off
  std::optional<double> top_p;
  std::optional<double> min_p;
  std::optional<double> repetition_penalty;
  std::optional<double> frequency_penalty;
  std::optional<double> presence_penalty;
  std::optional<uint64_t> seed;
  std::optional<int32_t> n;
  std::vector<std::pair<int32_t, double>> logit_bias;  // (token id, bias), ascending ids
};

// Exactly one of messages, prompt and prompt_token_ids is set.
struct PromptRecord {
  std::string id;
  Json messages;  // array of objects with a "role", as a chat template wants them; null when unset
  Json tools;     // array; null when unset. Only beside messages
  std::optional<std::string> prompt;  // text as it is, no template
  std::vector<int32_t> prompt_token_ids;
  std::optional<int32_t> max_tokens;
  PromptSampling sampling;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;
  bool ignore_eos = false;
  std::vector<std::string> tags;
  Json meta;  // the user's own; null when unset
};

constexpr size_t kMaxPromptLineBytes = size_t{64} << 20;

// Parses a whole file: JSON Lines, or one JSON array of records. Blank lines are skipped; a record
// without an id is "line-N" ("item-N" in an array). Throws Error(usage) naming `where` and the
// line, also on an empty file, on text that is not UTF-8 and on two records with one id.
std::vector<PromptRecord> parse_prompts(std::string_view text, const std::string& where);

// One record, in any of the forms. `fallback_id` is used when it names none.
PromptRecord parse_prompt_record(const Json& value, const std::string& where,
                                 const std::string& fallback_id);

// The native form: parse_prompt_record gives the record back.
Json to_json(const PromptRecord& record);

}  // namespace isobit
