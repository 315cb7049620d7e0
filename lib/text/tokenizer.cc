#include "text/tokenizer.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/digest.h"
#include "base/error.h"
#include "text/tokenizer_parts.h"
#include "text/unicode.h"

namespace isobit {
namespace {

struct EncodeScratch {
  PreTokenizerScratch pre_tokenizer;
  ModelScratch model;
};

// Scratches are large (their cache) and calls are frequent: each thread borrows one for the length
// of a call.
class ScratchPool {
 public:
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Lease() { pool_.give_back(std::move(scratch_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    EncodeScratch& operator*() const { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<EncodeScratch> scratch_;
  };

 private:
  std::unique_ptr<EncodeScratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<EncodeScratch>();
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<EncodeScratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeScratch>> free_;
};

AddedTokenMatcher matcher_for(const TokenizerParts& parts, bool normalized) {
  std::vector<const AddedToken*> tokens;
  std::vector<std::string> contents;
  RegexScratch regex;
  for (const AddedToken& token : parts.added_tokens) {
    if (token.normalized != normalized) continue;
    tokens.push_back(&token);
    contents.push_back(normalized ? parts.normalizer.apply(token.content, regex) : token.content);
  }
  return AddedTokenMatcher(std::move(tokens), contents);
}

// The vocabulary without the added tokens that are always found before it is used: a GGUF lists
// them in it, most tokenizer.json files do not, and the ids are the same.
std::vector<std::string_view> merge_vocabulary(const TokenizerParts& parts) {
  const std::vector<std::string>& all = vocabulary_of(parts.model).tokens();
  std::vector<std::string_view> tokens(all.begin(), all.end());
  for (const AddedToken& token : parts.added_tokens) {
    const auto id = static_cast<size_t>(token.id);
    if (id < tokens.size() && tokens[id] == token.content && !token.single_word) tokens[id] = {};
  }
  while (!tokens.empty() && tokens.back().empty()) tokens.pop_back();
  return tokens;
}

// Fields are framed by their lengths, lists by their sizes, so that no two tokenizers share an
// encoding.
std::string digest_of(const TokenizerParts& parts) {
  Sha256 sha;
  const auto number = [&](int64_t value) { sha.update_framed(std::to_string(value)); };
  sha.update_framed("isobit tokenizer 2");
  sha.update_framed(canonical_json(parts.normalizer.description()));
  sha.update_framed(canonical_json(parts.pre_tokenizer.description()));
  sha.update_framed(canonical_json(parts.decoder.description()));
  hash_model(parts.model, sha);
  const auto vocabulary = merge_vocabulary(parts);
  number(static_cast<int64_t>(vocabulary.size()));
  for (const std::string_view token : vocabulary) sha.update_framed(token);
  number(static_cast<int64_t>(parts.added_tokens.size()));
  for (const AddedToken& token : parts.added_tokens) {
    number(token.id);
    sha.update_framed(token.content);
    for (const bool flag :
         {token.single_word, token.lstrip, token.rstrip, token.normalized, token.special})
      number(flag);
  }
  for (const auto* ids : {&parts.prefix_ids, &parts.suffix_ids}) {
    number(static_cast<int64_t>(ids->size()));
    for (const int32_t id : *ids) number(id);
  }
  return hex(sha.finish());
}

}  // namespace

struct Tokenizer::State {
  explicit State(TokenizerParts from) : parts(std::move(from)) {
    raw_matcher = matcher_for(parts, false);
    normalized_matcher = matcher_for(parts, true);
    fill_texts();
    digest = digest_of(parts);
  }

  void fill_texts() {
    texts = vocabulary_of(parts.model).tokens();
    if (!parts.added_tokens.empty()) {
      texts.resize(std::max(texts.size(), static_cast<size_t>(parts.added_tokens.back().id) + 1));
    }
    special.assign(texts.size(), false);
    bytes.resize(texts.size());
    for (size_t id = 0; id < texts.size(); ++id)
      bytes[id] = parts.decoder.token_bytes(texts[id], TokenPlace::kLater);
    for (const AddedToken& token : parts.added_tokens) {
      const auto id = static_cast<size_t>(token.id);
      texts[id] = token.content;
      bytes[id] = added_token_bytes(token.content, TokenPlace::kLater);
      special[id] = token.special;
      added_ids.emplace(token.content, token.id);
    }
    while (!texts.empty() && texts.back().empty()) texts.pop_back();
  }

  // The content of an added token is not spelled in the byte alphabet.
  std::string added_token_bytes(const std::string& content, TokenPlace place) const {
    return parts.decoder.is_byte_level() ? content : parts.decoder.token_bytes(content, place);
  }
  std::string first_token_bytes(size_t id) const {
    const bool added = added_ids.contains(texts[id]);
    return added ? added_token_bytes(texts[id], TokenPlace::kFirst)
                 : parts.decoder.token_bytes(texts[id], TokenPlace::kFirst);
  }

  size_t checked(int32_t id) const {
    if (id >= 0 && static_cast<size_t>(id) < texts.size()) return static_cast<size_t>(id);
    throw Error(ErrorCode::usage, parts.where + ": token id " + std::to_string(id) +
                                      " is outside the vocabulary of " +
                                      std::to_string(texts.size()) + " tokens");
  }

  void encode_ordinary(std::string_view text, TextPlace place, EncodeScratch& scratch,
                       std::vector<int32_t>& ids) const {
    for (const std::string_view piece :
         parts.pre_tokenizer.split(text, place, scratch.pre_tokenizer)) {
      encode_piece(parts.model, piece, scratch.model, ids);
    }
  }

  void encode_raw(std::string_view text, TextPlace place, EncodeScratch& scratch,
                  std::vector<int32_t>& ids) const {
    std::string normalized;
    if (!parts.normalizer.empty())
      text = normalized = parts.normalizer.apply(text, scratch.pre_tokenizer.regex);
    std::vector<TextSegment> segments;
    normalized_matcher.split(text, segments);
    for (const TextSegment& segment : segments) {
      if (segment.token) {
        ids.push_back(segment.token->id);
      } else {
        encode_ordinary(segment.text, place, scratch, ids);
      }
      place = TextPlace::kLater;
    }
  }

  TokenizerParts parts;
  AddedTokenMatcher raw_matcher;  // both view parts.added_tokens
  AddedTokenMatcher normalized_matcher;
  std::vector<std::string> texts;
  std::vector<std::string> bytes;
  std::vector<bool> special;
  std::unordered_map<std::string, int32_t> added_ids;
  std::string digest;
  mutable ScratchPool scratches;
};

Tokenizer::Tokenizer(TokenizerParts parts) : state_(std::make_unique<State>(std::move(parts))) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

std::vector<int32_t> Tokenizer::encode(std::string_view text, AddSpecial add_special) const {
  require_utf8(text, "text to encode");
  const ScratchPool::Lease scratch(state_->scratches);
  std::vector<int32_t> ids;
  if (add_special == AddSpecial::kYes) ids = state_->parts.prefix_ids;
  std::vector<TextSegment> segments;
  state_->raw_matcher.split(text, segments);
  TextPlace place = TextPlace::kStart;
  for (const TextSegment& segment : segments) {
    if (segment.token) {
      ids.push_back(segment.token->id);
    } else {
      state_->encode_raw(segment.text, place, *scratch, ids);
    }
    place = TextPlace::kLater;
  }
  if (add_special == AddSpecial::kYes) {
    ids.insert(ids.end(), state_->parts.suffix_ids.begin(), state_->parts.suffix_ids.end());
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, SkipSpecial skip_special) const {
  std::string out;
  bool is_first = true;
  for (const int32_t id : ids) {
    const size_t at = state_->checked(id);
    if (skip_special == SkipSpecial::kYes && state_->special[at]) continue;
    out += is_first ? state_->first_token_bytes(at) : state_->bytes[at];
    is_first = false;
  }
  return state_->parts.decoder.finish(std::move(out));
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  const size_t at = state_->checked(id);
  return state_->special[at] ? std::string_view() : std::string_view(state_->bytes[at]);
}

std::string_view Tokenizer::token_text(int32_t id) const {
  return state_->texts[state_->checked(id)];
}

bool Tokenizer::is_special(int32_t id) const {
  return id >= 0 && static_cast<size_t>(id) < state_->texts.size() &&
         state_->special[static_cast<size_t>(id)];
}

int32_t Tokenizer::vocab_size() const {
  return static_cast<int32_t>(state_->texts.size());
}

std::optional<int32_t> Tokenizer::id_of(std::string_view token_text) const {
  const auto it = state_->added_ids.find(std::string(token_text));
  return it != state_->added_ids.end() ? std::optional(it->second)
                                       : vocabulary_of(state_->parts.model).id_of(token_text);
}

std::optional<int32_t> Tokenizer::bos_id() const {
  return state_->parts.bos_id;
}
std::optional<int32_t> Tokenizer::eos_id() const {
  return state_->parts.eos_id;
}
std::optional<int32_t> Tokenizer::pad_id() const {
  return state_->parts.pad_id;
}
std::optional<int32_t> Tokenizer::unknown_id() const {
  return state_->parts.unknown_id;
}
const std::vector<int32_t>& Tokenizer::prefix_ids() const {
  return state_->parts.prefix_ids;
}
const std::vector<int32_t>& Tokenizer::suffix_ids() const {
  return state_->parts.suffix_ids;
}
std::string_view Tokenizer::bos_token() const {
  return bos_id() ? token_text(*bos_id()) : std::string_view();
}
std::string_view Tokenizer::eos_token() const {
  return eos_id() ? token_text(*eos_id()) : std::string_view();
}

bool Tokenizer::round_trips(std::string_view text) const {
  return decode(encode(text, AddSpecial::kNo), SkipSpecial::kNo) == text;
}

const std::string& Tokenizer::digest() const {
  return state_->digest;
}

const std::vector<AddedToken>& Tokenizer::added_tokens() const {
  return state_->parts.added_tokens;
}
const std::string& Tokenizer::bos_from() const {
  return state_->parts.bos_from;
}
const std::string& Tokenizer::eos_from() const {
  return state_->parts.eos_from;
}
const std::vector<std::string>& Tokenizer::notes() const {
  return state_->parts.notes;
}
const char* Tokenizer::model_kind() const {
  return kind_of(state_->parts.model);
}
size_t Tokenizer::n_merges() const {
  return n_merges_of(state_->parts.model);
}
Tokenizer::Steps Tokenizer::steps() const {
  return {.normalizer = state_->parts.normalizer.description(),
          .pre_tokenizer = state_->parts.pre_tokenizer.description(),
          .decoder = state_->parts.decoder.description()};
}

}  // namespace isobit
