#include "text/tokenizer_config.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "text/json_fields.h"
#include "text/tokenizer_parts.h"

namespace isobit {
namespace {

constexpr ErrorCode kCode = ErrorCode::environment;  // the files are part of a checkpoint
constexpr std::array<const char*, 7> kNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};

Json parse_side_file(const std::optional<std::string>& text, const std::string& where) {
  if (!text) return Json::object();
  try {
    return parse_json(*text, where);
  } catch (const Error& error) {
    throw Error(kCode, error.message(), error.hint());
  }
}

int64_t listed_id(const JsonFields& list, const std::string& key) {
  const bool is_number =
      !key.empty() && key.size() <= 9 && key.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) list.fail("\"" + key + "\": expected a token id");
  return std::stoll(key);
}

std::vector<AddedToken> read_decoder_list(const JsonFields& config) {
  const JsonFields list = config.object("added_tokens_decoder");
  std::map<int64_t, AddedToken> tokens;
  for (auto it = list.json().begin(); it != list.json().end(); ++it) {
    const int64_t id = listed_id(list, it.key());
    tokens[id] = read_added_token(JsonFields(*it, list.where() + ": " + it.key(), kCode), id);
  }
  std::vector<AddedToken> out;
  for (auto& [id, token] : tokens) out.push_back(std::move(token));
  return out;
}

// {"<tool>": 32000, ...}: without flags; special when the configuration names it. tokenizer.json's
// own entry for an id wins.
std::vector<AddedToken> read_added_tokens_file(const JsonFields& file,
                                               const std::vector<NamedToken>& special,
                                               const std::vector<AddedToken>& own_tokens) {
  std::set<std::string_view> special_texts;
  for (const NamedToken& named : special) special_texts.insert(named.token.content);
  std::set<int64_t> own_ids;
  for (const AddedToken& own : own_tokens) own_ids.insert(own.id);
  std::map<int64_t, AddedToken> tokens;
  for (auto it = file.json().begin(); it != file.json().end(); ++it) {
    const int64_t id = file.integer_of(it.key(), *it, 0, kMaxTokenId);
    const bool is_special = special_texts.contains(it.key());
    if (own_ids.contains(id)) continue;
    tokens[id] = {.id = static_cast<int32_t>(id),
                  .content = it.key(),
                  .normalized = !is_special,
                  .special = is_special};
  }
  std::vector<AddedToken> out;
  for (auto& [id, token] : tokens) out.push_back(std::move(token));
  return out;
}

// "<s>" or {"content": "<s>", ...}.
AddedToken read_special(const JsonFields& fields, const Json& value, const std::string& key) {
  if (value.is_string()) return {.content = value.get<std::string>(), .special = true};
  if (!value.is_object()) fields.fail_at(key.c_str(), "a token, or an object with \"content\"");
  AddedToken token = read_added_token(JsonFields(value, fields.where() + ": " + key, kCode), 0);
  token.special = true;
  return token;
}

class SpecialTokens {
 public:
  void read(const JsonFields& fields, const std::string& from) {
    for (const char* key : kNames)
      if (fields.has(key)) set(key, read_special(fields, fields.at(key), key), from);
    for (auto it = fields.json().begin(); it != fields.json().end(); ++it) {
      const bool is_known = std::find(kNames.begin(), kNames.end(), it.key()) != kNames.end();
      if (!is_known && it.key().ends_with("_token") && it->is_string())
        set(it.key(), read_special(fields, *it, it.key()), from);
    }
    // The older name counts where the newer one is absent or empty.
    const bool newer =
        fields.has("extra_special_tokens") && !fields.at("extra_special_tokens").empty();
    const char* key = newer ? "extra_special_tokens" : "additional_special_tokens";
    if (fields.has(key)) read_additional(fields, key, from);
  }

  std::vector<NamedToken> take() {
    std::vector<NamedToken> out;
    for (const char* key : kNames)
      for (NamedToken& token : tokens_)
        if (token.key == key) out.push_back(token);
    for (NamedToken& token : tokens_)
      if (std::find(kNames.begin(), kNames.end(), token.key) == kNames.end()) out.push_back(token);
    return out;
  }

 private:
  void set(const std::string& key, AddedToken token, const std::string& from) {
    for (NamedToken& named : tokens_) {
      if (named.key != key) continue;
      named = {key, std::move(token), from};
      return;
    }
    tokens_.push_back({key, std::move(token), from});
  }
  void read_additional(const JsonFields& fields, const char* key, const std::string& from) {
    const Json& value = fields.at(key);
    if (value.is_object()) {
      for (auto it = value.begin(); it != value.end(); ++it)
        set(it.key(), read_special(fields, *it, key), from);
      return;
    }
    if (!value.is_array()) fields.fail_at(key, "an array of tokens");
    for (const Json& entry : value)
      tokens_.push_back({key, read_special(fields, entry, key), from});
  }

  std::vector<NamedToken> tokens_;
};

std::optional<bool> read_flag(const JsonFields& config, const char* key) {
  if (!config.has(key)) return std::nullopt;
  return config.boolean(key);
}

void refuse_changed_meaning(const JsonFields& config) {
  for (const char* key : {"split_special_tokens", "fix_mistral_regex"}) {
    if (config.has(key) && config.boolean(key))
      config.fail("\"" + std::string(key) + "\" is true, which changes ids and is not supported");
  }
}

}  // namespace

const NamedToken* TokenizerConfig::named(std::string_view key) const {
  const auto it = std::find_if(special.begin(), special.end(),
                               [&](const NamedToken& token) { return token.key == key; });
  return it == special.end() ? nullptr : &*it;
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

TokenizerConfig read_tokenizer_config(const TokenizerSideFiles& files,
                                      const std::vector<AddedToken>& own_tokens,
                                      const std::string& where) {
  const auto named = [&](const char* file) { return where + " (" + file + ")"; };
  const Json config_json = parse_side_file(files.config, named("tokenizer_config.json"));
  const JsonFields config(config_json, named("tokenizer_config.json"), kCode);
  refuse_changed_meaning(config);
  TokenizerConfig out{.listed = {},
                      .special = {},
                      .add_bos = read_flag(config, "add_bos_token"),
                      .add_eos = read_flag(config, "add_eos_token"),
                      .tokenizer_class = config.string_or("tokenizer_class", "")};
  SpecialTokens special;
  special.read(config, "tokenizer_config.json");
  if (config.has("added_tokens_decoder")) {
    out.listed = read_decoder_list(config);
    out.special = special.take();
    return out;
  }
  const Json map_json = parse_side_file(files.special_tokens_map, named("special_tokens_map.json"));
  special.read(JsonFields(map_json, named("special_tokens_map.json"), kCode),
               "special_tokens_map.json");
  out.special = special.take();
  const Json added_json = parse_side_file(files.added_tokens, named("added_tokens.json"));
  out.listed = read_added_tokens_file(JsonFields(added_json, named("added_tokens.json"), kCode),
                                      out.special, own_tokens);
  return out;
}

}  // namespace isobit
