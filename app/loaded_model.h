// A checkpoint with what turns text into its token ids, from a folder or a GGUF.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/chat_renderer.h"
#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "fingerprint/fingerprint.h"
#include "text/tokenizer.h"

namespace isobit::app {

// Tokenizer and template alone: what `isobit tokens` needs, without opening weights.
struct LoadedText {
  std::unique_ptr<Tokenizer> tokenizer;
  ChatRenderer chat;
};

struct LoadedModel {
  std::string source;
  std::unique_ptr<Checkpoint> checkpoint;
  LoadedText text;
  std::vector<std::string> token_bytes;  // (vocab_size) what a token adds to the text
};

// `now` is what a template's clock says. Throw Error(environment) for what cannot be read.
LoadedText load_text(const std::string& source, const std::string& now = kPinnedNow);
LoadedModel load_model(const std::string& source, const std::string& now = kPinnedNow);

// The templates of a model, which bring its special tokens, or a template file, which stands alone.
ChatRenderer open_chat(const std::string& source, const std::string& now);

}  // namespace isobit::app
