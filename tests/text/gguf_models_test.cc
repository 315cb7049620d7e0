// GGUF vocabularies other than byte-level BPE: SentencePiece BPE, BPE over characters, WordPiece
// and Unigram, small enough to follow by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "text/byte_level.h"
#include "text/tokenizer.h"
#include "text/vocabulary.h"

using namespace isobit;

namespace {

using Ids = std::vector<int32_t>;

struct Entry {
  const char* text;
  float score;
  int32_t type = 1;
};

void add(GgufTokenizerParts& parts, const Entry& entry) {
  parts.tokens.emplace_back(entry.text);
  parts.scores.push_back(entry.score);
  parts.token_types.push_back(entry.type);
}

// <unk> 0, <s> 1, </s> 2, the 256 bytes from 3, then what is given, from 259.
GgufTokenizerParts sentence_piece(std::initializer_list<Entry> entries) {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "llama";
  add(parts, {"<unk>", 0, 2});
  add(parts, {"<s>", 0, 3});
  add(parts, {"</s>", 0, 3});
  for (int byte = 0; byte < 256; ++byte)
    add(parts, {byte_token(static_cast<uint8_t>(byte)).c_str(), 0, 6});
  for (const Entry& entry : entries) add(parts, entry);
  return parts;
}

GgufTokenizerParts river() {
  return sentence_piece({{"\u2581", -1},       // 259
                         {"r", -2},            // 260
                         {"i", -3},            // 261
                         {"v", -4},            // 262
                         {"e", -5},            // 263
                         {"er", -6},           // 264
                         {"iv", -7},           // 265
                         {"ri", -8},           // 266
                         {"iver", -9},         // 267
                         {"\u2581r", -10},     // 268
                         {"\u2581river", -5},  // 269
                         {"<tool>", 0, 4}});   // 270
}

Ids encode(const GgufTokenizerParts& parts, std::string_view text,
           AddSpecial add_special = AddSpecial::kNo) {
  return make_gguf_tokenizer(parts).encode(text, add_special);
}

std::string refusal(const GgufTokenizerParts& parts) {
  try {
    make_gguf_tokenizer(parts);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, then words and parts of words.
GgufTokenizerParts word_piece() {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "bert";
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) add(parts, {special, 0, 3});
  for (const char* token : {"\u2581river", "s", "\u2581na", "ive", "\u2581.", "\u2581\u4ECA"})
    add(parts, {token, 0});
  parts.scores.clear();
  parts.pad_id = 0;
  parts.unknown_id = 1;
  parts.cls_id = 2;
  parts.separator_id = 3;
  return parts;
}

GgufTokenizerParts unigram() {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "t5";
  for (const Entry& entry :
       {Entry{"<pad>", 0, 3}, Entry{"</s>", 0, 3}, Entry{"<unk>", 0, 2}, Entry{"\u2581", -2},
        Entry{"a", -3}, Entry{"b", -3}, Entry{"ab", -4}, Entry{"\u2581ab", -7}, Entry{"bb", -7}})
    add(parts, entry);
  parts.add_space_prefix = true;
  parts.remove_extra_whitespaces = true;
  return parts;
}

}  // namespace

TEST_CASE("SentencePiece BPE merges by score, the leftmost first, after a space in front") {
  // "\u2581river": "er" is the best pair, then "iv", "iver", "\u2581r"; "\u2581river" needs both.
  CHECK(encode(river(), "river") == Ids{269});
  CHECK(encode(river(), " river") == Ids{259, 269});
  CHECK(encode(river(), "ririri") == Ids{259, 266, 266, 266});
  GgufTokenizerParts bare = river();
  bare.add_space_prefix = false;
  CHECK(encode(bare, "river") == Ids{260, 267});
  CHECK(encode(river(), "").empty());
}

TEST_CASE("a character without a token is its bytes, or unknown where a byte is missing") {
  CHECK(encode(river(), "\u00E9") == Ids{259, 3 + 0xC3, 3 + 0xA9});
  GgufTokenizerParts parts = river();
  parts.tokens[3 + 0xA9] = "<0xZZ>";
  parts.token_types[3 + 0xA9] = 1;
  CHECK(encode(parts, "\u00E9\u00E9r") == Ids{259, 0, 260});
}

TEST_CASE("every stretch between special tokens is given its space, and BOS is the default") {
  CHECK(encode(river(), "river<s>river") == Ids{269, 1, 269});
  CHECK(encode(river(), "r<tool>r", AddSpecial::kYes) == Ids{1, 268, 270, 268});
  GgufTokenizerParts parts = river();
  parts.add_bos = false;
  parts.add_eos = true;
  CHECK(encode(parts, "river", AddSpecial::kYes) == Ids{269, 2});
}

TEST_CASE("decoding takes off the space that encoding put in front") {
  const Tokenizer tokenizer = make_gguf_tokenizer(river());
  for (const char* text : {"river", " river", "  river river", "\u00E9\n", "r<tool>"}) {
    CAPTURE(text);
    CHECK(tokenizer.decode(tokenizer.encode(text, AddSpecial::kNo), SkipSpecial::kNo) ==
          (std::string(text) == "r<tool>" ? "r<tool>" : text));
    CHECK(tokenizer.round_trips(text));
  }
  CHECK(tokenizer.token_bytes(269) == " river");
  CHECK(tokenizer.token_bytes(3 + 0x0A) == "\n");
}

TEST_CASE("Phi-3's special tokens take the white space after them along, by its name") {
  GgufTokenizerParts parts = river();
  CHECK(encode(parts, "</s> r") == Ids{2, 259, 268});
  parts.general_name = "Phi-3-mini";
  CHECK(encode(parts, "</s> r") == Ids{2, 268});
  CHECK(encode(parts, "<s> r") == Ids{1, 259, 268});
}

TEST_CASE("a megabyte of one character is merged in one pass, without recursion") {
  GgufTokenizerParts parts = river();
  for (const char* text : {"rr", "rrrr", "rrrrrrrr"}) add(parts, {text, -1});
  const Tokenizer tokenizer = make_gguf_tokenizer(parts);
  const std::string text(1 << 20, 'r');
  const Ids ids = tokenizer.encode(text, AddSpecial::kNo);
  CHECK(ids.size() < (1 << 20) / 7);
  CHECK(tokenizer.decode(ids, SkipSpecial::kNo) == text);
}

TEST_CASE("BPE over characters falls back to bytes and sees spaces as U+2581") {
  GgufTokenizerParts parts = river();
  parts.model = "gemma4";
  parts.merges = {"e r", "i v", "iv er", "\u2581 r", "\u2581r iver"};
  CHECK(encode(parts, "river") == Ids{260, 267});
  CHECK(encode(parts, " river") == Ids{269});
  CHECK(encode(parts, " \u00E9") == Ids{259, 3 + 0xC3, 3 + 0xA9});
  CHECK(make_gguf_tokenizer(parts).round_trips(" river\n\u00E9 river"));
}

TEST_CASE("WordPiece takes the longest parts of a word, folded, between CLS and SEP") {
  CHECK(encode(word_piece(), "River rivers. Na\u00EFve", AddSpecial::kYes) ==
        Ids{2, 4, 4, 5, 8, 6, 7, 3});
  CHECK(encode(word_piece(), "riverx river") == Ids{1, 4});
  CHECK(encode(word_piece(), "\u4ECAriver[SEP]") == Ids{9, 4, 3});
  CHECK(encode(word_piece(), std::string(101, 's')) == Ids{1});
  GgufTokenizerParts cased = word_piece();
  cased.lowercase = false;
  CHECK(encode(cased, "River na\u00EFve") == Ids{1, 1});
  cased.strip_accents = true;
  CHECK(encode(cased, "na\u00EFve") == Ids{6, 7});
  const Tokenizer tokenizer = make_gguf_tokenizer(word_piece());
  CHECK(tokenizer.decode(Ids{4, 5, 8, 6, 7}, SkipSpecial::kNo) == "rivers. naive");
}

TEST_CASE("Unigram takes the cut with the highest sum of scores") {
  // "\u2581ab" alone is -7; "\u2581" and "ab" are -6; "\u2581", "a", "b" are -8.
  CHECK(encode(unigram(), "ab") == Ids{3, 6});
  CHECK(encode(unigram(), "bb") == Ids{3, 5, 5});  // -8, against -9 for "\u2581", "bb"
  CHECK(encode(unigram(), "  a   b ") == Ids{3, 4, 3, 5});
  CHECK(encode(unigram(), "xyza", AddSpecial::kYes) == Ids{3, 2, 4, 1});
  GgufTokenizerParts spaced = unigram();
  spaced.remove_extra_whitespaces = false;
  CHECK(encode(spaced, " a  b") == Ids{3, 3, 4, 3, 3, 5});
}

TEST_CASE("Falcon's last stages see the byte alphabet") {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "gpt2";
  parts.pre = "falcon";
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(to_byte_level(std::string(1, static_cast<char>(byte))));
  const auto joined = [](const char* text) { return to_byte_level(text); };
  parts.tokens.push_back(joined("\u00B2"));  // the bytes C2 B2; B2 is a digit in the alphabet
  parts.tokens.push_back("12");
  parts.tokens.push_back("34");
  parts.merges = {joined("\u00B2").substr(0, 2) + " " + joined("\u00B2").substr(2), "1 2", "3 4"};
  CHECK(encode(parts, "\u00B2") == Ids{0xC2, 0xB2});
  CHECK(encode(parts, "1234") == Ids{257, '3', '4'});
  parts.pre = "gpt-2";
  CHECK(encode(parts, "\u00B2") == Ids{256});
  CHECK(encode(parts, "1234") == Ids{257, 258});
}

TEST_CASE("presets that group digits from the right do so in one pass") {
  GgufTokenizerParts parts;
  parts.where = "small.gguf";
  parts.model = "gpt2";
  for (int byte = 0; byte < 256; ++byte)
    parts.tokens.push_back(to_byte_level(std::string(1, static_cast<char>(byte))));
  parts.tokens.push_back("12");
  parts.tokens.push_back("23");
  parts.merges = {"1 2", "2 3"};
  const auto ids_of = [&](const char* pre, std::string_view text) {
    parts.pre = pre;
    return encode(parts, text);
  };
  CHECK(ids_of("afmoe", "0123") == Ids{'0', 256, '3'});
  CHECK(ids_of("afmoe", "1231") == Ids{'1', 257, '1'});
  CHECK(ids_of("tiny_aya", "1231") == Ids{'1', 257, '1'});
  CHECK(ids_of("tiny_aya", "1231x") == Ids{256, '3', '1', 'x'});  // a word goes on after the digits
  CHECK(ids_of("superbpe", "1231") == Ids{'1', 257, '1'});
  const std::string digits(1 << 20, '7');
  for (const char* pre : {"afmoe", "tiny_aya", "superbpe"})
    CHECK(ids_of(pre, digits).size() == digits.size());
}

TEST_CASE("vocabularies that contradict their kind are refused") {
  const auto changed = [](GgufTokenizerParts parts, auto change) {
    change(parts);
    return refusal(parts);
  };
  using Parts = GgufTokenizerParts;
  CHECK(contains(changed(river(), [](Parts& p) { p.scores.clear(); }), "scores is missing"));
  CHECK(contains(changed(river(), [](Parts& p) { p.scores.pop_back(); }), "270 entries for 271"));
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
    CHECK(contains(changed(river(), [&](Parts& p) { p.scores[260] = bad; }), "finite"));
  CHECK(contains(changed(river(), [](Parts& p) { p.tokens[260] = "i"; }), "both spelled"));
  CHECK(contains(changed(river(),
                         [](Parts& p) {
                           p.tokens.resize(1);
                           p.scores.resize(1);
                           p.token_types.resize(1);
                         }),
                 "bos_token_id is 1"));
  CHECK(contains(changed(word_piece(), [](Parts& p) { p.unknown_id.reset(); }),
                 "unknown_token_id is 100"));
  CHECK(
      contains(changed(word_piece(), [](Parts& p) { p.separator_id = 99; }), "eos_token_id is 99"));
  CHECK(contains(changed(unigram(), [](Parts& p) { p.precompiled_charsmap = "abc"; }), "charsmap"));
  CHECK(contains(changed(unigram(), [](Parts& p) { p.token_types.assign(9, 3); }),
                 "no ordinary tokens"));
  CHECK(contains(changed(river(), [](Parts& p) { p.model = "gemma4"; }), "merges is missing"));
}

TEST_CASE("the digest tells kinds and options apart") {
  const auto digest = [](const GgufTokenizerParts& parts) {
    return make_gguf_tokenizer(parts).digest();
  };
  GgufTokenizerParts other = river();
  other.add_space_prefix = false;
  CHECK(digest(other) != digest(river()));
  other = river();
  other.scores[264] = -6.5F;
  CHECK(digest(other) != digest(river()));
  other = word_piece();
  other.strip_accents = false;
  CHECK(digest(other) != digest(word_piece()));
  other = unigram();
  other.remove_extra_whitespaces = false;
  CHECK(digest(other) != digest(unigram()));
}
