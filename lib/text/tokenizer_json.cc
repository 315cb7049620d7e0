// Reads Hugging Face's tokenizer.json and tokenizer_config.json.
//
// Members that would change ids and are not understood are refused by name. `truncation` and
// `padding` are not read: they are how a file's last user batched it, and serving engines reset
// them.
#include <algorithm>

#include "base/error.h"
#include "text/json_fields.h"
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

Normalizer read_normalizer(const Json& value, const std::string& where) {
  if (value.is_null()) return Normalizer::kNone;
  const JsonFields fields(value, where + ": normalizer", kCode);
  const std::string type = fields.string("type");
  if (type == "NFC") return Normalizer::kNfc;
  if (type != "Sequence") fields.fail("the normalizer \"" + type + "\" is not supported (NFC is)");
  Normalizer result = Normalizer::kNone;
  for (const Json& inner : fields.array("normalizers")) {
    if (read_normalizer(inner, where) == Normalizer::kNfc)
      result = Normalizer::kNfc;  // NFC of NFC is NFC
  }
  return result;
}

std::vector<std::string> read_vocabulary(const JsonFields& model) {
  const JsonFields vocab = model.object("vocab");
  const size_t n_tokens = vocab.json().size();
  if (n_tokens == 0) vocab.fail("the vocabulary is empty");
  std::vector<std::string> tokens;
  for (auto it = vocab.json().begin(); it != vocab.json().end(); ++it) {
    if (!it->is_number_integer())
      vocab.fail("\"" + it.key() + "\": expected a token id, found " + describe(*it));
    if (it.key().empty()) vocab.fail("a token is the empty string");
    const bool too_large =
        it->is_number_unsigned() && it->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
    require_token_id(too_large ? INT64_MAX : it->get<int64_t>(), n_tokens, vocab.where());
    const auto id = it->get<size_t>();
    if (id >= tokens.size()) tokens.resize(id + 1);
    if (!tokens[id].empty()) {
      vocab.fail("id " + std::to_string(id) + " is given to \"" + tokens[id] + "\" and to \"" +
                 it.key() + "\"");
    }
    tokens[id] = it.key();
  }
  return tokens;
}

std::pair<std::string, std::string> read_merge(const Json& entry, size_t rank,
                                               const JsonFields& model) {
  const auto refuse = [&]() {
    model.fail("merges[" + std::to_string(rank) +
               "]: expected \"left right\" or [\"left\", \"right\"], found " + describe(entry));
  };
  if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
    return {entry[0].get<std::string>(), entry[1].get<std::string>()};
  }
  if (!entry.is_string()) refuse();
  std::string_view line = entry.get_ref<const std::string&>();
  if (line.ends_with('\n')) line.remove_suffix(1);  // some early writers kept it
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    refuse();
  }
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

void refuse_unsupported_model(const JsonFields& model) {
  model.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  if (model.has("type") && model.string("type") != "BPE") {
    model.fail("the model type \"" + model.string("type") + "\" is not supported (BPE is)");
  }
  if (model.has("dropout") && model.real("dropout") != 0) {
    model.fail("\"dropout\" is " + model.at("dropout").dump() +
               ": the same text would get different ids each time");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.string_or(key, "").empty())
      model.fail("\"" + std::string(key) + "\" is not supported");
  }
  if (model.boolean_or("byte_fallback", false))
    model.fail("\"byte_fallback\" is not supported with byte-level BPE");
}

BpeModel read_model(const JsonFields& model) {
  refuse_unsupported_model(model);
  std::vector<std::string> vocabulary = read_vocabulary(model);
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Json& entry : model.array("merges"))
    merges.push_back(read_merge(entry, merges.size(), model));
  BpeOptions options{.ignore_merges = model.boolean_or("ignore_merges", false),
                     .unknown_id = std::nullopt,
                     .fuse_unknown = model.boolean_or("fuse_unk", false)};
  if (model.has("unk_token")) {
    const auto it = std::find(vocabulary.begin(), vocabulary.end(), model.string("unk_token"));
    if (it == vocabulary.end()) model.fail_at("unk_token", "a token of the vocabulary");
    options.unknown_id = static_cast<int32_t>(it - vocabulary.begin());
  }
  return BpeModel(std::move(vocabulary), merges, options, model.where());
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
void check_against_vocabulary(const std::vector<AddedToken>& tokens, const BpeModel& bpe,
                              const std::string& where) {
  for (const AddedToken& token : tokens) {
    require_token_id(token.id, bpe.vocabulary().size() + tokens.size(), where);
    const auto model_id = bpe.id_of(token.content);
    const auto at = static_cast<size_t>(token.id);
    const bool taken = at < bpe.vocabulary().size() && !bpe.vocabulary()[at].empty();
    if ((model_id && *model_id != token.id) || (taken && bpe.vocabulary()[at] != token.content)) {
      throw Error(
          kCode,
          where + ": added token \"" + token.content + "\" has the id " + std::to_string(token.id) +
              (model_id ? ", but the vocabulary gives it " + std::to_string(*model_id)
                        : ", which the vocabulary gives to \"" + bpe.vocabulary()[at] + "\""));
    }
  }
}

// The ids that a template's special token stands for.
std::vector<int32_t> template_ids(const JsonFields& processor, const std::string& name) {
  const JsonFields entry = processor.object("special_tokens").object(name.c_str());
  std::vector<int32_t> ids;
  for (const Json& id : entry.array("ids")) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > static_cast<uint64_t>(kMaxTokenId)) {
      entry.fail("\"ids\": expected token ids, found " + describe(id));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

void read_template(const JsonFields& processor, TokenizerParts& parts) {
  processor.allow_only({"type", "single", "pair", "special_tokens"});
  bool seen_text = false;
  std::vector<int32_t> before;
  std::vector<int32_t> after;
  for (const Json& piece : processor.array("single")) {
    const JsonFields fields(piece, processor.where() + ": single", kCode);
    if (fields.has("Sequence")) {
      if (seen_text || fields.object("Sequence").string("id") != "A")
        fields.fail("expected the text \"A\" exactly once");
      seen_text = true;
    } else if (fields.has("SpecialToken")) {
      const auto ids = template_ids(processor, fields.object("SpecialToken").string("id"));
      auto& target = seen_text ? after : before;
      target.insert(target.end(), ids.begin(), ids.end());
    } else {
      fields.fail("expected \"Sequence\" or \"SpecialToken\", found " + describe(piece));
    }
  }
  if (!seen_text) processor.fail("\"single\" leaves the text out");
  // In a sequence of processors each works on what the one before made.
  parts.prefix_ids.insert(parts.prefix_ids.begin(), before.begin(), before.end());
  parts.suffix_ids.insert(parts.suffix_ids.end(), after.begin(), after.end());
}

void read_post_processor(const Json& value, const std::string& where, TokenizerParts& parts) {
  if (value.is_null()) return;
  const JsonFields fields(value, where, kCode);
  const std::string type = fields.string("type");
  if (type == "ByteLevel") return;  // moves offsets, which isobit does not report
  if (type == "TemplateProcessing") return read_template(fields, parts);
  if (type != "Sequence") {
    fields.fail("the post-processor \"" + type +
                "\" is not supported (Sequence, ByteLevel and TemplateProcessing are)");
  }
  for (const Json& inner : fields.array("processors")) read_post_processor(inner, where, parts);
}

void check_decoder(const Json& value, const std::string& where) {
  if (value.is_null()) return;
  const JsonFields fields(value, where, kCode);
  const std::string type = fields.string("type");
  if (type == "ByteLevel") return;
  if (type != "Sequence")
    fields.fail("the decoder \"" + type + "\" is not supported (ByteLevel is)");
  for (const Json& inner : fields.array("decoders")) check_decoder(inner, where);
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
  const auto id = parts.bpe.id_of(content);
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
  for (const int32_t id : ids) {
    const auto at = static_cast<size_t>(id);
    const bool in_model = at < parts.bpe.vocabulary().size() && !parts.bpe.vocabulary()[at].empty();
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
  check_decoder(member("decoder"), where + ": decoder");

  std::vector<AddedToken> added;
  read_added_tokens(top, added);
  check_added_tokens(added, where);
  read_config_added_tokens(config, added);
  check_added_tokens(added, where);

  TokenizerParts parts{
      .where = where,
      .normalizer = read_normalizer(member("normalizer"), where),
      .pre_tokenizer = read_pre_tokenizer(member("pre_tokenizer"), where + ": pre_tokenizer"),
      .bpe = read_model(top.object("model")),
      .added_tokens = std::move(added),
      .prefix_ids = {},
      .suffix_ids = {},
      .bos_id = {},
      .eos_id = {},
      .pad_id = {},
      .unknown_id = {}};
  check_against_vocabulary(parts.added_tokens, parts.bpe, where);
  read_post_processor(member("post_processor"), where + ": post_processor", parts);
  check_ids_exist(parts.prefix_ids, parts);
  check_ids_exist(parts.suffix_ids, parts);
  read_config(config, parts);
  return Tokenizer(std::move(parts));
}

}  // namespace isobit
