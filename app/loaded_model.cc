#include "app/loaded_model.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "checkpoint/gguf.h"
#include "checkpoint/open.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

bool is_gguf(const std::string& source) {
  return fs::path(source).extension() == ".gguf";
}

LoadedText text_of_gguf(const std::string& source) {
  const GgufFile file{fs::path(source)};
  const GgufTokenizer t = file.tokenizer();
  GgufTokenizerParts parts{
      .where = source,
      .general_name = std::string(file.string("general.name").value_or("")),
      .architecture = std::string(file.string("general.architecture").value_or("")),
      .model = std::string(t.model),
      .pre = std::string(t.pre),
      .tokens = {},
      .scores = t.scores,
      .token_types = t.token_types,
      .merges = {},
      .bos_id = t.bos_token_id,
      .eos_id = t.eos_token_id,
      .unknown_id = t.unknown_token_id,
      .pad_id = t.padding_token_id,
      .add_bos = t.add_bos,
      .add_eos = t.add_eos,
      .cls_id = t.cls_token_id,
      .separator_id = t.separator_token_id,
      .add_space_prefix = t.add_space_prefix,
      .remove_extra_whitespaces = t.remove_extra_whitespaces,
      .lowercase = t.lowercase,
      .strip_accents = t.strip_accents,
      .precompiled_charsmap = t.precompiled_charsmap};
  parts.tokens.assign(t.tokens.begin(), t.tokens.end());
  parts.merges.assign(t.merges.begin(), t.merges.end());
  LoadedText out;
  out.tokenizer = std::make_unique<Tokenizer>(make_gguf_tokenizer(parts));
  if (t.chat_template) out.template_source = *t.chat_template;
  return out;
}

// chat_template.jinja beats the configuration's field; a list of named templates gives its
// "default".
std::string template_of_folder(const fs::path& folder, const std::optional<Json>& config) {
  if (fs::exists(folder / "chat_template.jinja"))
    return read_file(folder / "chat_template.jinja", size_t{16} << 20);
  if (!config || !config->contains("chat_template")) return {};
  const Json& value = config->at("chat_template");
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return {};
  for (const Json& entry : value) {
    if (entry.is_object() && entry.value("name", "") == "default" && entry.contains("template") &&
        entry["template"].is_string()) {
      return entry["template"].get<std::string>();
    }
  }
  return {};
}

// A file of a checkpoint, whose faults are not the user's usage.
Json parse_stored_json(const std::string& text, const std::string& where) {
  try {
    return parse_json(text, where);
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(),
                "the file is damaged, or is not what its name says");
  }
}

// `source` is a tokenizer.json, or the folder that holds one.
LoadedText text_of_folder(const fs::path& source) {
  constexpr size_t kMaxTokenizerBytes = size_t{256} << 20;
  const bool is_file = source.extension() == ".json";
  const fs::path folder = is_file ? source.parent_path() : source;
  const fs::path tokenizer_path = is_file ? source : folder / "tokenizer.json";
  const std::string tokenizer_json = read_file(tokenizer_path, kMaxTokenizerBytes);
  const auto beside = [&](const char* name) -> std::optional<std::string> {
    if (!fs::exists(folder / name)) return std::nullopt;
    return read_file(folder / name, kMaxTokenizerBytes);
  };
  const TokenizerSideFiles side_files{.config = beside("tokenizer_config.json"),
                                      .special_tokens_map = beside("special_tokens_map.json"),
                                      .added_tokens = beside("added_tokens.json")};
  std::optional<Json> config;
  if (side_files.config)
    config = parse_stored_json(*side_files.config, (folder / "tokenizer_config.json").string());
  LoadedText out;
  out.tokenizer = std::make_unique<Tokenizer>(
      load_tokenizer_json(tokenizer_json, tokenizer_path.string(), side_files));
  out.template_source = template_of_folder(folder, config);
  return out;
}

}  // namespace

LoadedText load_text(const std::string& source) {
  if (!fs::exists(source))
    throw Error(ErrorCode::environment, "'" + source + "' does not exist",
                "give a checkpoint folder or a .gguf file");
  LoadedText out = is_gguf(source) ? text_of_gguf(source) : text_of_folder(source);
  if (!out.template_source.empty())
    out.chat_template = ChatTemplate::parse(out.template_source, source + ": chat template");
  return out;
}

LoadedModel load_model(const std::string& source) {
  if (!fs::exists(source))
    throw Error(ErrorCode::environment, "'" + source + "' does not exist",
                "give a checkpoint folder or a .gguf file");
  LoadedModel out{.source = source,
                  .checkpoint = open_checkpoint(source),
                  .text = load_text(source),
                  .token_bytes = {}};
  const Tokenizer& tokenizer = *out.text.tokenizer;
  const int64_t vocab = out.checkpoint->config().vocab_size;
  if (tokenizer.vocab_size() > vocab) {
    throw Error(ErrorCode::environment,
                "'" + source + "': the tokenizer has " + std::to_string(tokenizer.vocab_size()) +
                    " tokens, the embedding only " + std::to_string(vocab) + " rows",
                "tokenizer and weights do not belong together");
  }
  out.token_bytes.resize(static_cast<size_t>(vocab));
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    out.token_bytes[static_cast<size_t>(id)] = tokenizer.token_bytes(id);
  return out;
}

std::string render_chat(const LoadedText& text, const Json& messages, const Json& tools,
                        bool add_generation_prompt) {
  if (!text.chat_template) {
    throw Error(ErrorCode::usage, "this model has no chat template",
                "use prompts with \"prompt\" or \"prompt_token_ids\" instead of \"messages\"");
  }
  ChatInput input;
  input.messages = messages;
  input.tools = tools;
  input.add_generation_prompt = add_generation_prompt;
  input.extra = {{"bos_token", text.tokenizer->bos_token()},
                 {"eos_token", text.tokenizer->eos_token()}};
  return text.chat_template->render(chat_variables(input));
}

}  // namespace isobit::app
