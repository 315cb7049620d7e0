#include "text/token_model.h"

#include <bit>

#include "base/digest.h"

namespace isobit {
namespace {

struct PieceEncoder {
  std::string_view piece;
  ModelScratch& scratch;
  std::vector<int32_t>& ids;

  void operator()(const BpeModel& m) const { m.encode(piece, scratch.bpe, ids); }
  void operator()(const SpmModel& m) const { m.encode(piece, scratch.spm, ids); }
  void operator()(const UnigramModel& m) const { m.encode(piece, scratch.unigram, ids); }
  void operator()(const WordPieceModel& m) const { m.encode(piece, scratch.word, ids); }
  void operator()(const WordLevelModel& m) const { m.encode(piece, ids); }
};

// Numbers and texts are framed by their lengths, lists by their sizes.
struct ModelHasher {
  Sha256& sha;

  void number(int64_t value) const { sha.update_framed(std::to_string(value)); }
  void score(double value) const {  // a float and its binary64 are one value
    sha.update_framed(std::to_string(std::bit_cast<uint64_t>(value == 0 ? 0.0 : value)));
  }
  void operator()(const BpeModel& m) const {
    const BpeOptions& o = m.options();
    number(o.alphabet == BpeAlphabet::kBytes);
    number(o.ignore_merges);
    number(o.unknown_token.has_value());
    sha.update_framed(o.unknown_token.value_or(""));
    number(o.unknown_token && o.fuse_unknown);
    number(o.byte_fallback);
    sha.update_framed(o.continuing_prefix);
    sha.update_framed(o.end_of_word_suffix);
    number(static_cast<int64_t>(m.merges().size()));
    for (const BpeMerge& merge : m.merges()) {
      number(merge.left);
      number(merge.right);
    }
  }
  void operator()(const SpmModel& m) const {
    number(m.unknown_id().value_or(-1));
    for (const float s : m.scores()) score(static_cast<double>(s));
  }
  void operator()(const UnigramModel& m) const {
    number(m.options().unknown_id.value_or(-1));
    number(m.options().byte_fallback);
    score(m.options().min_score);
    for (const auto& s : m.scores()) {
      number(s.has_value());
      score(s.value_or(0));
    }
  }
  void operator()(const WordPieceModel& m) const {
    number(m.unknown_id());
    sha.update_framed(m.options().continuing_prefix);
    number(static_cast<int64_t>(m.options().max_characters));
  }
  void operator()(const WordLevelModel& m) const { number(m.unknown_id().value_or(-1)); }
};

}  // namespace

const Vocabulary& vocabulary_of(const TokenModel& model) {
  return std::visit([](const auto& m) -> const Vocabulary& { return m.vocabulary(); }, model);
}

void encode_piece(const TokenModel& model, std::string_view piece, ModelScratch& scratch,
                  std::vector<int32_t>& ids) {
  std::visit(PieceEncoder{.piece = piece, .scratch = scratch, .ids = ids}, model);
}

const char* kind_of(const TokenModel& model) {
  static constexpr const char* kNames[] = {"BPE", "SentencePiece BPE", "Unigram", "WordPiece",
                                           "WordLevel"};
  return kNames[model.index()];
}

size_t n_merges_of(const TokenModel& model) {
  const auto* bpe = std::get_if<BpeModel>(&model);
  return bpe ? bpe->merges().size() : 0;
}

void hash_model(const TokenModel& model, Sha256& sha) {
  sha.update_framed(kind_of(model));
  std::visit(ModelHasher{.sha = sha}, model);
}

}  // namespace isobit
