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

LoadedText text_of_gguf(const std::string& source, const std::string& now) {
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
  out.chat = ChatRenderer(gguf_templates(t), gguf_special_tokens(t), source, now);
  return out;
}

// `source` is a tokenizer.json, or the folder that holds one.
LoadedText text_of_folder(const fs::path& source, const std::string& now) {
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
  LoadedText out;
  out.tokenizer = std::make_unique<Tokenizer>(
      load_tokenizer_json(tokenizer_json, tokenizer_path.string(), side_files));
  out.chat = folder_chat(folder.string(), now);
  return out;
}

}  // namespace

LoadedText load_text(const std::string& source, const std::string& now) {
  if (!fs::exists(source))
    throw Error(ErrorCode::environment, "'" + source + "' does not exist",
                "give a checkpoint folder or a .gguf file");
  return is_gguf(source) ? text_of_gguf(source, now) : text_of_folder(source, now);
}

LoadedModel load_model(const std::string& source, const std::string& now) {
  if (!fs::exists(source))
    throw Error(ErrorCode::environment, "'" + source + "' does not exist",
                "give a checkpoint folder or a .gguf file");
  LoadedModel out{.source = source,
                  .checkpoint = open_checkpoint(source),
                  .text = load_text(source, now),
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

ChatRenderer open_chat(const std::string& source, const std::string& now) {
  if (!is_template_file(source)) return load_text(source, now).chat;
  return ChatRenderer({template_file(source)}, Json::object(), source, now);
}

}  // namespace isobit::app
