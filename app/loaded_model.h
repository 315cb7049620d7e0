// A checkpoint with what turns text into its token ids, from a folder or a GGUF.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "fingerprint/fingerprint.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace isobit::app {

// Tokenizer and template alone: what `isobit tokens` needs, without opening weights.
struct LoadedText {
  std::unique_ptr<Tokenizer> tokenizer;
  std::string template_source;  // empty: the model has none
  std::optional<ChatTemplate> chat_template;
};

struct LoadedModel {
  std::string source;
  std::unique_ptr<Checkpoint> checkpoint;
  LoadedText text;
  std::vector<std::string> token_bytes;  // (vocab_size) what a token adds to the text
};

// Throw Error(environment) for what cannot be read.
LoadedText load_text(const std::string& source);
LoadedModel load_model(const std::string& source);

// The variables that a chat template sees, special tokens included. Throws Error(usage) when the
// model has no template.
std::string render_chat(const LoadedText& text, const Json& messages, const Json& tools,
                        bool add_generation_prompt);

}  // namespace isobit::app
