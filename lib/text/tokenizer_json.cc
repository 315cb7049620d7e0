// Reads Hugging Face's tokenizer.json and tokenizer_config.json.
//
// Members that would change ids and are not understood are refused by name. `truncation` and
// `padding` are not read: they are how a file's last user batched it, and serving engines reset
// them.
#include <algorithm>

#include "base/error.h"
#include "text/json_fields.h"
#include "text/post_processor.h"
#include "text/token_model_json.h"
#include "text/tokenizer.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace isobit {
namespace {

constexpr ErrorCode kCode = ErrorCode::environment;  // the file is part of a checkpoint

Json parse_file(std::string_view text, const std::string& where) {
  try {
    return parse_json(text, where);
  } catch (const Error& error) {
    throw Error(kCode, error.message(), error.hint());
  }
}

AddedToken read_added_token(const JsonFields& fields, int64_t id) {
  AddedToken token;
  token.id = static_cast<int32_t>(id);
  token.content = fields.string("content");
  token.single_word = fields.boolean_or("single_word", false);
  token.lstrip = fields.boolean_or("lstrip", false);
  token.rstrip = fields.boolean_or("rstrip", false);
  token.special = fields.boolean_or("special", false);
  token.normalized = fields.boolean_or("normalized", !token.special);
  return token;
}

void read_added_tokens(const JsonFields& top, std::vector<AddedToken>& tokens) {
  if (!top.has("added_tokens")) return;
  for (const Json& entry : top.array("added_tokens")) {
    const JsonFields fields(
        entry, top.where() + ": added_tokens[" + std::to_string(tokens.size()) + "]", kCode);
    fields.allow_only(
        {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    tokens.push_back(read_added_token(fields, fields.integer("id", 0, kMaxTokenId)));
  }
}

// tokenizer_config.json repeats the added tokens under their ids; what it says about one wins, and
// it may add some.
void read_config_added_tokens(const JsonFields& config, std::vector<AddedToken>& tokens) {
  if (!config.has("added_tokens_decoder")) return;
  const JsonFields list = config.object("added_tokens_decoder");
  for (auto it = list.json().begin(); it != list.json().end(); ++it) {
    const std::string& key = it.key();
    if (key.empty() || key.size() > 9 || key.find_first_not_of("0123456789") != std::string::npos) {
      list.fail("\"" + key + "\": expected a token id");
    }
    AddedToken token =
        read_added_token(JsonFields(*it, list.where() + ": " + key, kCode), std::stoll(key));
    const auto same_id =
        std::find_if(tokens.begin(), tokens.end(), [&](const auto& t) { return t.id == token.id; });
    if (same_id == tokens.end()) {
      tokens.push_back(std::move(token));
    } else if (same_id->content != token.content) {
      list.fail("token " + key + " is \"" + token.content + "\", but \"" + same_id->content +
                "\" in tokenizer.json");
    } else {
      *same_id = std::move(token);
    }
  }
}

// An added token that the vocabulary also has must have the same id there, and no other token may
// sit on its id.
void check_against_vocabulary(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
                              const std::string& where) {
  const std::vector<std::string>& spellings = vocabulary.tokens();
  for (const AddedToken& token : tokens) {
    require_token_id(token.id, spellings.size() + tokens.size(), where);
    const auto model_id = vocabulary.id_of(token.content);
    const auto at = static_cast<size_t>(token.id);
    const bool taken = at < spellings.size() && !spellings[at].empty();
    if ((model_id && *model_id != token.id) || (taken && spellings[at] != token.content)) {
      throw Error(kCode,
                  where + ": added token \"" + token.content + "\" has the id " +
                      std::to_string(token.id) +
                      (model_id ? ", but the vocabulary gives it " + std::to_string(*model_id)
                                : ", which the vocabulary gives to \"" + spellings[at] + "\""));
    }
  }
}

// "bos_token": "<s>" or {"content": "<s>", ...}; null and absent mean none.
std::optional<int32_t> read_named_token(const JsonFields& config, const char* key,
                                        const TokenizerParts& parts) {
  if (!config.has(key)) return std::nullopt;
  const std::string content =
      config.at(key).is_object() ? config.object(key).string("content") : config.string(key);
  for (const AddedToken& token : parts.added_tokens) {
    if (token.content == content) return token.id;
  }
  const auto id = vocabulary_of(parts.model).id_of(content);
  if (!id) config.fail_at(key, "a token of the vocabulary");
  return id;
}

void read_config(const JsonFields& config, TokenizerParts& parts) {
  parts.bos_id = read_named_token(config, "bos_token", parts);
  parts.eos_id = read_named_token(config, "eos_token", parts);
  parts.pad_id = read_named_token(config, "pad_token", parts);
  parts.unknown_id = read_named_token(config, "unk_token", parts);
}

void check_ids_exist(const std::vector<int32_t>& ids, const TokenizerParts& parts) {
  const std::vector<std::string>& spellings = vocabulary_of(parts.model).tokens();
  for (const int32_t id : ids) {
    const auto at = static_cast<size_t>(id);
    const bool in_model = at < spellings.size() && !spellings[at].empty();
    const bool added = std::any_of(parts.added_tokens.begin(), parts.added_tokens.end(),
                                   [&](const auto& t) { return t.id == id; });
    if (!in_model && !added) {
      throw Error(kCode, parts.where + ": post_processor adds token " + std::to_string(id) +
                             ", which is not in the vocabulary");
    }
  }
}

}  // namespace

Tokenizer load_tokenizer_json(std::string_view tokenizer_json, const std::string& where,
                              std::optional<std::string_view> tokenizer_config_json) {
  const Json file = parse_file(tokenizer_json, where);
  const Json config_file =
      tokenizer_config_json ? parse_file(*tokenizer_config_json, where + " (tokenizer_config.json)")
                            : Json::object();
  const JsonFields top(file, where, kCode);
  const JsonFields config(config_file, where + " (tokenizer_config.json)", kCode);
  top.allow_only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
  const auto member = [&](const char* key) { return top.has(key) ? top.at(key) : Json(); };
  std::vector<AddedToken> added;
  read_added_tokens(top, added);
  check_added_tokens(added, where);
  read_config_added_tokens(config, added);
  check_added_tokens(added, where);

  PreTokenizer pre_tokenizer =
      read_pre_tokenizer(member("pre_tokenizer"), where + ": pre_tokenizer");
  TokenModel model = read_token_model(member("model"), where + ": model", pre_tokenizer);
  Decoder decoder = top.has("decoder") || !pre_tokenizer.is_byte_level()
                        ? read_decoder(member("decoder"), where + ": decoder")
                        : Decoder({DecodeByteLevel{}}, std::nullopt);
  TokenizerParts parts{.where = where,
                       .normalizer = read_normalizer(member("normalizer"), where + ": normalizer"),
                       .pre_tokenizer = std::move(pre_tokenizer),
                       .model = std::move(model),
                       .decoder = std::move(decoder),
                       .added_tokens = std::move(added),
                       .prefix_ids = {},
                       .suffix_ids = {},
                       .bos_id = {},
                       .eos_id = {},
                       .pad_id = {},
                       .unknown_id = {}};
  check_against_vocabulary(parts.added_tokens, vocabulary_of(parts.model), where);
  PostProcessor post = read_post_processor(member("post_processor"), where + ": post_processor");
  parts.prefix_ids = std::move(post.prefix_ids);
  parts.suffix_ids = std::move(post.suffix_ids);
  check_ids_exist(parts.prefix_ids, parts);
  check_ids_exist(parts.suffix_ids, parts);
  read_config(config, parts);
  return Tokenizer(std::move(parts));
}

}  // namespace isobit
