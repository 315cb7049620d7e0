// Prompts that come with isobit: real sentences, generated from word lists and fixed seeds, the
// same on every machine.
//
// They must be text that a language model understands: the margins between its first and second
// choice decide how easily an answer flips, and on random letters they are nothing like a user's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/prompts.h"

namespace isobit {

//   smoke     8 short chat prompts, one of each kind
//   standard  64 chat prompts: questions, lists, code, arithmetic, translation, stories, rewriting,
//   extraction, planning
//             and documents to summarise; their user messages have about 8 to 512 tokens, spread
//             evenly on a log scale
//   edge      scripts, emoji, combining marks, white space, control characters, special-token
//   spellings, and plain English
//             prompts of exactly 15, 16, 17, ... 257 tokens (in SmolLM2's vocabulary)
// Throws Error(usage) naming the nearest set.
std::vector<PromptRecord> builtin_prompt_set(const std::string& name);
const std::vector<std::string>& builtin_prompt_set_names();

// A user message of about `approx_words` words (1 or more), for requests that share a batch with a
// prompt. The same seed and length give the same text.
std::string filler_prompt(uint64_t seed, size_t approx_words);

}  // namespace isobit
