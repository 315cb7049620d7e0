// The forms in which a prompt record can be written. Each reader throws Error(usage); a record
// without an id keeps "".
#pragma once

#include "text/json_fields.h"
#include "text/prompts.h"

namespace isobit {

PromptRecord read_native_prompt(const JsonFields& fields);
PromptRecord read_openai_batch_prompt(
    const JsonFields& fields);  // {"custom_id", "method", "url", "body": {...}}
PromptRecord read_sharegpt_prompt(
    const JsonFields& fields);  // {"id", "conversations": [{"from", "value"}, ...]}
PromptRecord read_workload_prompt(const JsonFields& fields);  // {"prompt", "output_tokens_count"}

// Members that several forms share.
void read_messages(const JsonFields& fields, PromptRecord& record);
void read_sampling(const JsonFields& fields, PromptSampling& sampling);
void read_stop(const JsonFields& fields, PromptRecord& record);
int32_t read_max_tokens(const JsonFields& fields, const char* key);
void require_one_input(const JsonFields& fields);  // messages, prompt or prompt_token_ids

}  // namespace isobit
