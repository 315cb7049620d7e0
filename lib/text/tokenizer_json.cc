// Reads Hugging Face's tokenizer.json, with the files beside it (tokenizer_config.h).
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
#include "text/tokenizer_config.h"
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

// One more than the largest id in use, as the `tokenizers` library counts.
int32_t next_free_id(const TokenizerParts& parts) {
  const std::vector<std::string>& tokens = vocabulary_of(parts.model).tokens();
  auto next = static_cast<int32_t>(std::count_if(tokens.begin(), tokens.end(),
                                                 [](const auto& token) { return !token.empty(); }));
  for (const AddedToken& token : parts.added_tokens) next = std::max(next, token.id + 1);
  return next;
}

// An added token keeps its id and takes the flags; a token of the vocabulary becomes an added one.
int32_t add_token(AddedToken token, TokenizerParts& parts) {
  for (AddedToken& known : parts.added_tokens) {
    if (known.content != token.content) continue;
    token.id = known.id;
    known = std::move(token);
    return known.id;
  }
  token.id = vocabulary_of(parts.model).id_of(token.content).value_or(next_free_id(parts));
  parts.added_tokens.push_back(std::move(token));
  return parts.added_tokens.back().id;
}

void add_listed_tokens(const TokenizerConfig& config, TokenizerParts& parts) {
  for (AddedToken token : config.listed) {
    const auto same = std::find(parts.added_tokens.begin(), parts.added_tokens.end(), token);
    if (same != parts.added_tokens.end()) continue;
    token.special = token.special || std::any_of(config.special.begin(), config.special.end(),
                                                 [&](const auto& named) {
                                                   return named.token.content == token.content;
                                                 });
    const int32_t said = token.id;
    const std::string content = token.content;
    const int32_t id = add_token(std::move(token), parts);
    if (id == said) continue;
    throw Error(kCode, parts.where + ": added token \"" + content + "\" has the id " +
                           std::to_string(said) + " in the files beside it, but " +
                           std::to_string(id) + " here (in tokenizer.json, or the next free one)");
  }
}

void add_special_tokens(const TokenizerConfig& config, TokenizerParts& parts) {
  for (const NamedToken& named : config.special) {
    const bool known =
        std::any_of(parts.added_tokens.begin(), parts.added_tokens.end(),
                    [&](const AddedToken& token) { return token.content == named.token.content; });
    if (!known) add_token(named.token, parts);
  }
}

std::optional<int32_t> id_of_named(const TokenizerConfig& config, const char* key,
                                   const TokenizerParts& parts) {
  const NamedToken* named = config.named(key);
  if (!named) return std::nullopt;
  const auto it =
      std::find_if(parts.added_tokens.begin(), parts.added_tokens.end(),
                   [&](const AddedToken& token) { return token.content == named->token.content; });
  ISOBIT_REQUIRE(it != parts.added_tokens.end());
  return it->id;
}

std::string origin_of(const TokenizerConfig& config, const char* key) {
  const NamedToken* named = config.named(key);
  return named ? named->from : "";
}

void apply_config(const TokenizerConfig& config, TokenizerParts& parts) {
  add_listed_tokens(config, parts);
  add_special_tokens(config, parts);
  check_added_tokens(parts.added_tokens, parts.where);
  parts.bos_id = id_of_named(config, "bos_token", parts);
  parts.eos_id = id_of_named(config, "eos_token", parts);
  parts.pad_id = id_of_named(config, "pad_token", parts);
  parts.unknown_id = id_of_named(config, "unk_token", parts);
  parts.bos_from = origin_of(config, "bos_token");
  parts.eos_from = origin_of(config, "eos_token");
}

// Where tokenizer_config.json and the post-processor say different things, the latter decides.
void note_contradictions(const TokenizerConfig& config, TokenizerParts& parts) {
  const auto note = [&](const char* key, std::optional<bool> said, bool adds) {
    if (!said || *said == adds) return;
    parts.notes.push_back(
        "tokenizer_config.json says \"" + std::string(key) + "\": " + (*said ? "true" : "false") +
        ", but the post-processor in tokenizer.json decides, and " +
        (adds ? "adds one" : "adds none") +
        "; transformers 4 followed the former for LlamaTokenizerFast and its kin");
  };
  const auto is = [](const std::vector<int32_t>& ids, std::optional<int32_t> id) {
    return id && std::find(ids.begin(), ids.end(), *id) != ids.end();
  };
  note("add_bos_token", config.add_bos, is(parts.prefix_ids, parts.bos_id));
  note("add_eos_token", config.add_eos, is(parts.suffix_ids, parts.eos_id));
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
                              const TokenizerSideFiles& side_files) {
  const Json file = parse_file(tokenizer_json, where);
  const JsonFields top(file, where, kCode);
  top.allow_only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                  "post_processor", "decoder", "model"});
  const auto member = [&](const char* key) { return top.has(key) ? top.at(key) : Json(); };
  std::vector<AddedToken> added;
  read_added_tokens(top, added);
  check_added_tokens(added, where);
  const TokenizerConfig config = read_tokenizer_config(side_files, added, where);

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
                       .added_tokens = std::move(added)};
  check_against_vocabulary(parts.added_tokens, vocabulary_of(parts.model), where);
  PostProcessor post = read_post_processor(member("post_processor"), where + ": post_processor");
  parts.prefix_ids = std::move(post.prefix_ids);
  parts.suffix_ids = std::move(post.suffix_ids);
  apply_config(config, parts);
  check_against_vocabulary(parts.added_tokens, vocabulary_of(parts.model), where);
  check_ids_exist(parts.prefix_ids, parts);
  check_ids_exist(parts.suffix_ids, parts);
  note_contradictions(config, parts);
  return Tokenizer(std::move(parts));
}

}  // namespace isobit
