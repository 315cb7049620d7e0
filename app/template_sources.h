// The chat templates of a checkpoint: where they are, which one is used, and the special tokens
// that they see.
//
// The places, as transformers reads them: chat_template.jinja and
// additional_chat_templates/*.jinja; tokenizer_config.json's chat_template, a string or a list of
// named ones; chat_template.json of old processors; in a GGUF tokenizer.chat_template[.NAME]. As
// soon as one .jinja file is there, the configuration's templates are not used.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "checkpoint/gguf.h"

namespace isobit::app {

struct FoundTemplate {
  std::string place;  // "chat_template.jinja", "tokenizer_config.json: chat_template" ...
  std::string name;   // "default", "tool_use" ...
  std::string source;
  bool used = true;            // false: another place goes before this one
  std::string digest() const;  // SHA-256 of the source, hex
};

// Those of one place follow each other; places in their order of precedence. `config` is
// tokenizer_config.json. Throws Error(environment) for a template that is not text.
std::vector<FoundTemplate> folder_templates(const std::filesystem::path& folder,
                                            const std::optional<Json>& config);
std::vector<FoundTemplate> gguf_templates(const GgufTokenizer& tokenizer);

// A file of its own: *.jinja, *.jinja2 or *.j2.
bool is_template_file(const std::string& source);
FoundTemplate template_file(const std::string& path);

// The used template of that name; null when there is none.
const FoundTemplate* used_template(const std::vector<FoundTemplate>& found,
                                   const std::string& name);

// Unused templates whose text differs from the used one of the same name.
std::vector<const FoundTemplate*> shadowed_templates(const std::vector<FoundTemplate>& found);

// bos_token, eos_token ... as strings, absent where the checkpoint names none: what
// apply_chat_template passes beside the messages.
Json folder_special_tokens(const std::filesystem::path& folder, const std::optional<Json>& config);
Json gguf_special_tokens(const GgufTokenizer& tokenizer);

}  // namespace isobit::app
