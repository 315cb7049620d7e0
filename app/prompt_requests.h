// Prompts from a built-in set or a file, rendered and encoded into requests.
#pragma once

#include <string>
#include <vector>

#include "app/loaded_model.h"
#include "record/request.h"
#include "text/prompts.h"

namespace isobit::app {

struct PromptRequests {
  std::vector<Request> requests;
  std::vector<std::string> texts;  // what was encoded, parallel; empty for prompts given as ids
  std::string digest;              // SHA-256 (hex) over ids, token ids and parameters
  bool clock_was_read = false;     // by a chat template, for one of them
};

struct RequestDefaults {
  int32_t max_tokens = 16;
  int32_t n_top = 5;
};

// `prompts`: a set's name, or the path of a JSONL file. Throws Error(usage) naming the prompt.
std::vector<PromptRecord> load_prompt_records(const std::string& prompts);
PromptRequests load_prompt_requests(const std::string& prompts, const LoadedText& text,
                                    const RequestDefaults& defaults);

// One prompt as a request. Throws Error(usage) where it cannot be rendered or encoded.
Request request_from(const PromptRecord& record, const LoadedText& text,
                     const RequestDefaults& defaults);

std::string requests_digest(const std::vector<Request>& requests);

// About `n_tokens` tokens of plausible text, exactly n_tokens ids; the same for the same arguments.
std::vector<int32_t> neighbour_tokens(const Tokenizer& tokenizer, int32_t n_tokens, uint64_t seed);

}  // namespace isobit::app
