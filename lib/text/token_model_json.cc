// Reads the model of a tokenizer.json. Options that would change ids and are not understood are
// refused by name.
#include "text/token_model_json.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "text/json_fields.h"
#include "text/tokenizer_parts.h"

namespace isobit {
namespace {

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

// Refused where pieces are bytes, which the library would spell in its byte alphabet first.
void refuse_with_bytes(const JsonFields& model) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.string_or(key, "").empty())
      model.fail("\"" + std::string(key) + "\" is not supported with byte-level BPE");
  }
  if (model.boolean_or("byte_fallback", false))
    model.fail("\"byte_fallback\" is not supported with byte-level BPE");
}

BpeModel read_bpe(const JsonFields& model, BpeAlphabet alphabet) {
  model.allow_only({"type", "dropout", "unk_token", "continuing_subword_prefix",
                    "end_of_word_suffix", "fuse_unk", "byte_fallback", "ignore_merges", "vocab",
                    "merges"});
  if (model.has("dropout") && model.real("dropout") != 0) {
    model.fail("\"dropout\" is " + model.at("dropout").dump() +
               ": the same text would get different ids each time");
  }
  if (alphabet == BpeAlphabet::kBytes) refuse_with_bytes(model);
  std::vector<std::string> vocabulary = read_vocabulary(model);
  std::vector<std::pair<std::string, std::string>> merges;
  for (const Json& entry : model.array("merges"))
    merges.push_back(read_merge(entry, merges.size(), model));
  BpeOptions options{.alphabet = alphabet,
                     .ignore_merges = model.boolean_or("ignore_merges", false),
                     .fuse_unknown = model.boolean_or("fuse_unk", false),
                     .byte_fallback = model.boolean_or("byte_fallback", false),
                     .continuing_prefix = model.string_or("continuing_subword_prefix", ""),
                     .end_of_word_suffix = model.string_or("end_of_word_suffix", "")};
  if (model.has("unk_token")) {
    options.unknown_token = model.string("unk_token");
    if (std::find(vocabulary.begin(), vocabulary.end(), *options.unknown_token) == vocabulary.end())
      model.fail_at("unk_token", "a token of the vocabulary");
  }
  return BpeModel(std::move(vocabulary), merges, options, model.where());
}

std::optional<int32_t> find_token(const std::vector<std::string>& vocabulary,
                                  const std::string& token) {
  const auto it = std::find(vocabulary.begin(), vocabulary.end(), token);
  if (it == vocabulary.end() || token.empty()) return std::nullopt;
  return static_cast<int32_t>(it - vocabulary.begin());
}

WordPieceModel read_word_piece(const JsonFields& model) {
  model.allow_only(
      {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  std::vector<std::string> vocabulary = read_vocabulary(model);
  const auto unknown_id = find_token(vocabulary, model.string_or("unk_token", "[UNK]"));
  if (!unknown_id) model.fail_at("unk_token", "a token of the vocabulary");
  WordPieceOptions options{.continuing_prefix = model.string_or("continuing_subword_prefix", "##")};
  if (model.has("max_input_chars_per_word")) {
    options.max_characters =
        static_cast<size_t>(model.integer("max_input_chars_per_word", 0, INT64_MAX));
  }
  return WordPieceModel(std::move(vocabulary), *unknown_id, options, model.where());
}

WordLevelModel read_word_level(const JsonFields& model) {
  model.allow_only({"type", "unk_token", "vocab"});
  std::vector<std::string> vocabulary = read_vocabulary(model);
  const auto unknown_id = find_token(vocabulary, model.string_or("unk_token", "<unk>"));
  return WordLevelModel(std::move(vocabulary), unknown_id, model.where());
}

UnigramModel read_unigram(const JsonFields& model) {
  model.allow_only({"type", "unk_id", "byte_fallback", "vocab"});
  std::vector<std::string> vocabulary;
  std::vector<std::optional<double>> scores;
  UnigramOptions options{.byte_fallback = model.boolean_or("byte_fallback", false),
                         .min_score = std::numeric_limits<double>::max()};
  for (const Json& entry : model.array("vocab")) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      model.fail("vocab[" + std::to_string(vocabulary.size()) +
                 "]: expected [\"token\", score], found " + describe(entry));
    }
    vocabulary.push_back(entry[0].get<std::string>());
    if (vocabulary.back().empty()) model.fail("a token is the empty string");
    scores.emplace_back(entry[1].get<double>());
    options.min_score = std::min(options.min_score, *scores.back());
  }
  if (vocabulary.empty()) model.fail("the vocabulary is empty");
  require_token_id(static_cast<int64_t>(vocabulary.size()) - 1, vocabulary.size(), model.where());
  if (model.has("unk_id")) {
    options.unknown_id = static_cast<int32_t>(
        model.integer("unk_id", 0, static_cast<int64_t>(vocabulary.size()) - 1));
  }
  return UnigramModel(std::move(vocabulary), std::move(scores), options, model.where());
}

}  // namespace

TokenModel read_token_model(const Json& value, const std::string& where,
                            const PreTokenizer& pre_tokenizer) {
  const JsonFields model(value, where, ErrorCode::environment);
  const std::string type = model.string_or("type", "BPE");  // old files hold BPE and do not say so
  if (type == "BPE") {
    return read_bpe(model,
                    pre_tokenizer.gives_bytes() ? BpeAlphabet::kBytes : BpeAlphabet::kCharacters);
  }
  if (pre_tokenizer.gives_bytes())
    model.fail("the model type \"" + type + "\" is not supported after ByteLevel (BPE is)");
  if (type == "Unigram") return read_unigram(model);
  if (type == "WordPiece") return read_word_piece(model);
  if (type == "WordLevel") return read_word_level(model);
  model.fail("the model type \"" + type +
             "\" is not supported (BPE, Unigram, WordPiece and WordLevel are)");
}

}  // namespace isobit
