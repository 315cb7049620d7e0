#include "text/bpe.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/unicode.h"

namespace isobit {
namespace {

constexpr uint64_t kNoPair = ~uint64_t{0};
constexpr int32_t kNoToken = -1;
constexpr int32_t kEnd = -1;
constexpr size_t kMaxCachedBytes = 256;
constexpr size_t kShortPiece = 24;  // symbols up to which a scan for the best pair beats a heap

uint64_t pair_key(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  return x ^ x >> 32;
}

uint64_t hash_bytes(std::string_view text) {
  uint64_t h = text.size() * 0x9E3779B97F4A7C15u;
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    h = mix(h ^ word);
  }
  uint64_t tail = 0;
  std::memcpy(&tail, text.data() + at, text.size() - at);
  return mix(h ^ tail);
}

// Least rank first, then leftmost: the order of std::push_heap is the greatest first.
bool comes_later(const BpeScratch::Candidate& a, const BpeScratch::Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
}

void link_symbols(BpeScratch& scratch) {
  scratch.symbols.clear();
  for (const int32_t id : scratch.start_ids) {
    const auto index = static_cast<int32_t>(scratch.symbols.size());
    scratch.symbols.push_back({.id = id, .previous = index - 1, .next = index + 1, .alive = true});
  }
  if (!scratch.symbols.empty()) scratch.symbols.back().next = kEnd;
}

}  // namespace

BpeModel::BpeModel(std::vector<std::string> vocabulary,
                   const std::vector<std::pair<std::string, std::string>>& merges,
                   const BpeOptions& options, const std::string& where)
    : vocabulary_(std::move(vocabulary), where), options_(options) {
  ISOBIT_REQUIRE(options.alphabet == BpeAlphabet::kCharacters ||
                 (!options.byte_fallback && options.continuing_prefix.empty() &&
                  options.end_of_word_suffix.empty()));
  if (options.alphabet == BpeAlphabet::kBytes) index_bytes();
  if (options.byte_fallback) byte_tokens_ = ByteTokens(vocabulary_);
  if (options.unknown_token) {
    unknown_id_ = vocabulary_.id_of(*options.unknown_token);
    if (!unknown_id_) {
      throw Error(ErrorCode::environment, where + ": the unknown token \"" +
                                              *options.unknown_token +
                                              "\" is not in the vocabulary");
    }
  }
  index_merges(merges, where);
}

void BpeModel::index_bytes() {
  for (int byte = 0; byte < 256; ++byte) {
    std::string spelling;
    append_utf8(spelling, byte_level_character(static_cast<uint8_t>(byte)));
    byte_ids_[byte] = vocabulary_.id_of(spelling).value_or(kNoToken);
  }
  if (!options_.ignore_merges) return;
  const std::vector<std::string>& tokens = vocabulary_.tokens();
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (const auto bytes = from_byte_level(tokens[id]); bytes && !bytes->empty()) {
      ids_of_bytes_.emplace(*bytes, static_cast<int32_t>(id));
    }
  }
}

void BpeModel::index_merges(const std::vector<std::pair<std::string, std::string>>& merges,
                            const std::string& where) {
  size_t n_slots = 16;
  while (n_slots < merges.size() * 2) n_slots *= 2;
  rules_.assign(n_slots, PairRule{kNoPair, 0, 0});
  merges_.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string& left = merges[rank].first;
    const std::string& right = merges[rank].second;
    const auto require = [&](const std::string& token) {
      const auto id = vocabulary_.id_of(token);
      if (id) return *id;
      throw Error(ErrorCode::environment, where + ": merge " + std::to_string(rank) + " (\"" +
                                              left + "\" \"" + right + "\") needs the token \"" +
                                              token + "\", which is not in the vocabulary");
    };
    const BpeMerge merge{require(left), require(right)};
    const std::string& prefix = options_.continuing_prefix;
    const size_t skipped = !prefix.empty() && right.starts_with(prefix) ? prefix.size() : 0;
    const int32_t merged_id = require(left + right.substr(skipped));
    const uint64_t key = pair_key(merge.left, merge.right);
    size_t at = mix(key) & (n_slots - 1);
    while (rules_[at].key != kNoPair && rules_[at].key != key) at = (at + 1) & (n_slots - 1);
    if (rules_[at].key == key) {
      throw Error(ErrorCode::environment, where + ": merge " + std::to_string(rank) + " (\"" +
                                              left + "\" \"" + right + "\") repeats merge " +
                                              std::to_string(rules_[at].rank));
    }
    rules_[at] = {key, static_cast<uint32_t>(rank), merged_id};
    merges_.push_back(merge);
  }
}

const BpeModel::PairRule* BpeModel::find_rule(int32_t left, int32_t right) const {
  const uint64_t key = pair_key(left, right);
  const size_t mask = rules_.size() - 1;
  for (size_t at = mix(key) & mask;; at = (at + 1) & mask) {
    if (rules_[at].key == key) return &rules_[at];
    if (rules_[at].key == kNoPair) return nullptr;
  }
}

void BpeModel::encode(std::string_view piece, BpeScratch& scratch,
                      std::vector<int32_t>& ids) const {
  if (piece.empty()) return;
  if (piece.size() > kMaxCachedBytes) return encode_uncached(piece, scratch, ids);
  const uint64_t hash = hash_bytes(piece);
  if (const auto known = scratch.cache.find(piece, hash)) {
    ids.insert(ids.end(), known->begin, known->begin + known->size);
    return;
  }
  const size_t start = ids.size();
  encode_uncached(piece, scratch, ids);
  scratch.cache.insert(piece, hash, ids.data() + start, ids.size() - start);
}

void BpeModel::encode_uncached(std::string_view piece, BpeScratch& scratch,
                               std::vector<int32_t>& ids) const {
  if (options_.ignore_merges && encode_whole(piece, ids)) return;
  if (options_.alphabet == BpeAlphabet::kBytes) {
    start_bytes(piece, scratch);
  } else {
    start_characters(piece, scratch);
  }
  if (scratch.symbols.empty()) return;
  if (scratch.symbols.size() <= kShortPiece) {
    merge_short(scratch);
    for (const auto& symbol : scratch.symbols) ids.push_back(symbol.id);
  } else {
    merge_long(scratch);
    // Symbol 0 is never the right part of a merge, so it begins the list.
    for (int32_t i = 0; i != kEnd; i = scratch.symbols[static_cast<size_t>(i)].next) {
      ids.push_back(scratch.symbols[static_cast<size_t>(i)].id);
    }
  }
}

bool BpeModel::encode_whole(std::string_view piece, std::vector<int32_t>& ids) const {
  std::optional<int32_t> id;
  if (options_.alphabet == BpeAlphabet::kCharacters) {
    id = vocabulary_.id_of(piece);
  } else if (const auto it = ids_of_bytes_.find(std::string(piece)); it != ids_of_bytes_.end()) {
    id = it->second;
  }
  if (id) ids.push_back(*id);
  return id.has_value();
}

void BpeModel::start_bytes(std::string_view piece, BpeScratch& scratch) const {
  scratch.start_ids.clear();
  bool after_unknown = false;
  for (const char c : piece) {
    int32_t id = byte_ids_[static_cast<uint8_t>(c)];
    const bool unknown = id == kNoToken;
    if (unknown) {
      if (!unknown_id_ || (after_unknown && options_.fuse_unknown)) continue;
      id = *unknown_id_;
    }
    after_unknown = unknown;
    scratch.start_ids.push_back(id);
  }
  link_symbols(scratch);
}

// An unknown token is held back until the next character that has a token, so that a run can be
// one; bytes that stand for a character do not end the run, and go before it.
void BpeModel::start_characters(std::string_view piece, BpeScratch& scratch) const {
  scratch.start_ids.clear();
  bool held = false;
  for (size_t at = 0; at < piece.size();) {
    const size_t n_bytes = code_point_at(piece, at).n_bytes;
    std::string_view character = piece.substr(at, n_bytes);
    if (!options_.continuing_prefix.empty() || !options_.end_of_word_suffix.empty()) {
      scratch.spelling = at > 0 ? options_.continuing_prefix : "";
      scratch.spelling += character;
      if (at + n_bytes == piece.size()) scratch.spelling += options_.end_of_word_suffix;
      character = scratch.spelling;
    }
    at += n_bytes;
    if (const auto id = vocabulary_.id_of(character)) {
      if (held) scratch.start_ids.push_back(*unknown_id_);
      held = false;
      scratch.start_ids.push_back(*id);
    } else if (options_.byte_fallback && byte_tokens_.append(character, scratch.start_ids)) {
      continue;
    } else if (unknown_id_) {
      if (held && !options_.fuse_unknown) scratch.start_ids.push_back(*unknown_id_);
      held = true;
    }
  }
  if (held) scratch.start_ids.push_back(*unknown_id_);
  link_symbols(scratch);
}

void BpeModel::merge_short(BpeScratch& scratch) const {
  const PairRule* rules[kShortPiece];  // rules[i] merges symbols i and i + 1, or null
  auto& symbols = scratch.symbols;
  size_t n = symbols.size();
  const auto rule_at = [&](size_t i) { return find_rule(symbols[i].id, symbols[i + 1].id); };
  for (size_t i = 0; i + 1 < n; ++i) rules[i] = rule_at(i);
  while (n > 1) {
    size_t best = n;
    for (size_t i = 0; i + 1 < n; ++i) {
      if (rules[i] && (best == n || rules[i]->rank < rules[best]->rank)) best = i;
    }
    if (best == n) break;
    symbols[best].id = rules[best]->merged_id;
    for (size_t i = best + 1; i + 1 < n; ++i) {
      symbols[i] = symbols[i + 1];
      rules[i - 1] = rules[i];  // rules[best] is set anew below
    }
    --n;
    if (best + 1 < n) rules[best] = rule_at(best);
    if (best > 0) rules[best - 1] = rule_at(best - 1);
  }
  symbols.resize(n);
}

void BpeModel::merge_long(BpeScratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  heap.clear();
  const auto at = [&](int32_t i) -> BpeScratch::Symbol& { return symbols[static_cast<size_t>(i)]; };
  const auto candidate = [&](int32_t left) {
    if (left == kEnd || at(left).next == kEnd) return false;
    const PairRule* rule = find_rule(at(left).id, at(at(left).next).id);
    if (rule) heap.push_back({.rank = rule->rank, .left = left, .merged_id = rule->merged_id});
    return rule != nullptr;
  };
  for (size_t i = 0; i < symbols.size(); ++i) candidate(static_cast<int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const BpeScratch::Candidate best = heap.back();
    heap.pop_back();
    auto& left = at(best.left);
    if (!left.alive || left.next == kEnd) continue;
    auto& right = at(left.next);
    // One of the two has merged with another since: the pair is no longer the one that was ranked.
    const PairRule* rule = find_rule(left.id, right.id);
    if (!rule || rule->rank != best.rank) continue;
    left.id = best.merged_id;
    right.alive = false;
    left.next = right.next;
    if (right.next != kEnd) at(right.next).previous = best.left;
    if (candidate(best.left)) std::push_heap(heap.begin(), heap.end(), comes_later);
    if (candidate(left.previous)) std::push_heap(heap.begin(), heap.end(), comes_later);
  }
}

}  // namespace isobit
