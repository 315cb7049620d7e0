// Tokenizers against what Hugging Face's library gave for the same files and strings
// (scripts/oracle/tokenizer_oracle.py).
#include "text/tokenizer.h"

#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

using namespace isobit;

namespace {

std::string fixture(const std::string& name) {
  return read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/" + name);
}

const Json& tiny_json() {
  static const Json json = parse_json(fixture("tiny_tokenizer.json"), "tiny");
  return json;
}

// The tiny tokenizer with members replaced; those of "model" one level down.
Json patched(const Json& patch) {
  Json json = tiny_json();
  for (auto it = patch.begin(); it != patch.end(); ++it) {
    if (it.key() == "model") {
      for (auto member = it->begin(); member != it->end(); ++member)
        json["model"][member.key()] = *member;
    } else {
      json[it.key()] = *it;
    }
  }
  return json;
}

Tokenizer tokenizer_with(const Json& patch) {
  return load_tokenizer_json(patched(patch).dump(), "patched");
}
Tokenizer tiny() {
  return tokenizer_with(Json::object());
}

std::string refusal(const Json& patch) {
  try {
    tokenizer_with(patch);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    return error.message();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("ids are those of Hugging Face under every configuration") {
  const Json variants = parse_json(fixture("tokenizer_variants.json"), "variants");
  REQUIRE(variants.size() > 30);
  std::map<std::string, Json> first;  // what a text that a variant does not list must give
  size_t n_checked = 0;
  for (const Json& variant : variants) {
    const std::string name = variant.at("name");
    CAPTURE(name);
    const Tokenizer tokenizer = tokenizer_with(variant.at("patch"));
    std::map<std::string, Json> cases = first;
    for (const Json& entry : variant.at("cases")) cases[entry[0].get<std::string>()] = entry;
    if (first.empty()) first = cases;
    for (const auto& [text, entry] : cases) {
      CAPTURE(text);
      CHECK(tokenizer.encode(text, AddSpecial::kNo) == entry[1].get<std::vector<int32_t>>());
      CHECK(tokenizer.encode(text, AddSpecial::kYes) ==
            entry[entry.size() - 1].get<std::vector<int32_t>>());
      ++n_checked;
    }
  }
  CHECK(n_checked > 2000);
}

TEST_CASE("decoding gives back the bytes of any text when the alphabet is whole") {
  const Tokenizer tokenizer = tiny();
  std::string text;
  for (const char* part :
       {"the river ", "caf\xC3\xA9 \xF0\x9F\x99\x82", "\n\t\r\n", "<|im_end|>", "\x01\x7F"})
    text += part;
  text += '\0';
  const auto ids = tokenizer.encode(text, AddSpecial::kNo);
  CHECK(tokenizer.decode(ids, SkipSpecial::kNo) == text);
  CHECK(tokenizer.round_trips(text));
  const std::string without =
      "the river caf\xC3\xA9 \xF0\x9F\x99\x82\n\t\r\n\x01\x7F" + std::string(1, '\0');
  CHECK(tokenizer.decode(ids, SkipSpecial::kYes) == without);
  std::string joined;
  for (const int32_t id : ids) joined += tokenizer.token_bytes(id);
  CHECK(joined == without);
}

TEST_CASE("special tokens are found by spelling and contribute no text") {
  const Tokenizer tokenizer = tiny();
  const auto id = tokenizer.id_of("<|im_end|>");
  REQUIRE(id);
  CHECK(tokenizer.is_special(*id));
  CHECK(tokenizer.token_bytes(*id).empty());
  CHECK(tokenizer.token_text(*id) == "<|im_end|>");
  CHECK(tokenizer.encode("<|im_end|>", AddSpecial::kNo) == std::vector<int32_t>{*id});
  CHECK_FALSE(tokenizer.id_of("no such token"));
  CHECK_FALSE(tokenizer.is_special(-1));
  CHECK_FALSE(tokenizer.is_special(1 << 30));
}

TEST_CASE("ids outside the vocabulary are refused") {
  const Tokenizer tokenizer = tiny();
  for (const int32_t id : {-1, tokenizer.vocab_size(), INT32_MAX, INT32_MIN}) {
    CHECK_THROWS_WITH_AS(tokenizer.decode(std::vector{id}, SkipSpecial::kNo),
                         doctest::Contains("outside the vocabulary"), Error);
    CHECK_THROWS_AS(tokenizer.token_bytes(id), Error);
    CHECK_THROWS_AS(tokenizer.token_text(id), Error);
  }
}

TEST_CASE("text that is not UTF-8 is refused with the byte's place") {
  const Tokenizer tokenizer = tiny();
  const std::pair<std::string, std::string> cases[] = {
      {"abc\xFF", "byte 3 (0xff)"},          {"\xC3", "byte 0 (0xc3)"},
      {"ab\xC0\x80", "byte 2 (0xc0)"},       {"x\xED\xA0\x80", "byte 1 (0xed)"},
      {"\xF4\x90\x80\x80", "byte 0 (0xf4)"}, {"12345678\xE2\x82", "byte 8 (0xe2)"},
  };
  for (const auto& [text, place] : cases) {
    try {
      tokenizer.encode(text, AddSpecial::kNo);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::usage);
      CHECK_MESSAGE(contains(error.message(), place), error.message());
    }
  }
}

TEST_CASE("a megabyte of one letter takes no recursion and little time") {
  const Tokenizer tokenizer = tiny();
  for (const char* unit : {"a", " ", "\n", "the", "\xC3\xA9", "'", "1"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    const auto ids = tokenizer.encode(text, AddSpecial::kNo);
    CHECK(tokenizer.decode(ids, SkipSpecial::kNo) == text);
  }
}

TEST_CASE("long pieces merge as short ones do") {
  // The same words in a piece of many symbols (a heap) and in pieces of few (a scan): a
  // pattern-free tokenizer sees one piece, and a boundary that no merge crosses keeps the halves
  // apart.
  const Tokenizer whole = tokenizer_with(
      {{"pre_tokenizer",
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}});
  const std::vector<std::string> words{"river",    "fishermen", "morning", "values",
                                       "children", "q",         "zzz",     "church"};
  std::string text;
  std::vector<int32_t> expected;
  for (size_t i = 0; i < 400; ++i) {
    const std::string word = words[i * i % words.size()] + "\x01";  // U+0001 is in no merge
    text += word;
    const auto ids = whole.encode(word, AddSpecial::kNo);
    expected.insert(expected.end(), ids.begin(), ids.end());
  }
  CHECK(whole.encode(text, AddSpecial::kNo) == expected);
}

TEST_CASE("one tokenizer serves several threads") {
  const Tokenizer tokenizer = tiny();
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "the river is " + std::to_string(i * 7919) + " metres wide, and it's cold.\n";
  const auto expected = tokenizer.encode(text, AddSpecial::kNo);
  std::vector<std::vector<int32_t>> got(4);
  std::vector<std::thread> threads;
  for (auto& ids : got)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) ids = tokenizer.encode(text, AddSpecial::kNo);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& ids : got) CHECK(ids == expected);
}

TEST_CASE("a cache that overflows changes no ids") {
  const Tokenizer tokenizer = tiny();
  std::string text;
  for (int i = 0; i < 120'000; ++i) text += " w" + std::to_string(i) + "x";
  const auto first = tokenizer.encode(text, AddSpecial::kNo);
  CHECK(tokenizer.encode(text, AddSpecial::kNo) == first);
  CHECK(tokenizer.decode(first, SkipSpecial::kNo) == text);
}

TEST_CASE("the digest sees what changes ids and nothing else") {
  const std::string base = tiny().digest();
  CHECK(load_tokenizer_json(tiny_json().dump(2), "indented").digest() == base);
  Json reordered = Json::object();
  std::vector<std::string> keys;
  for (auto it = tiny_json().begin(); it != tiny_json().end(); ++it) keys.push_back(it.key());
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) reordered[*key] = tiny_json().at(*key);
  CHECK(load_tokenizer_json(reordered.dump(), "reordered").digest() == base);

  std::map<std::string, std::string> seen{{base, "base"}};
  const Json variants = parse_json(fixture("tokenizer_variants.json"), "variants");
  for (const Json& variant : variants) {
    const std::string name = variant.at("name");
    if (name == "gpt2" || name == "template in a sequence" || name == "nfc in a sequence") continue;
    const auto [it, is_new] = seen.emplace(tokenizer_with(variant.at("patch")).digest(), name);
    CHECK_MESSAGE(is_new, name << " has the digest of " << it->second);
  }
  Json merges = tiny_json().at("model").at("merges");
  std::swap(merges[5], merges[6]);
  CHECK(tokenizer_with({{"model", {{"merges", merges}}}}).digest() != base);
}

TEST_CASE("merges may be strings or pairs") {
  Json strings = Json::array();
  for (const Json& pair : tiny_json().at("model").at("merges")) {
    strings.push_back(pair[0].get<std::string>() + " " + pair[1].get<std::string>());
  }
  CHECK(tokenizer_with({{"model", {{"merges", strings}}}}).digest() == tiny().digest());
  strings[0] = strings[0].get<std::string>() + "\n";
  CHECK(tokenizer_with({{"model", {{"merges", strings}}}}).digest() == tiny().digest());
  for (const char* bad : {"", "a", "a b c", " b", "a ", "a  b"}) {
    strings[0] = bad;
    CHECK(contains(refusal({{"model", {{"merges", strings}}}}), "merges[0]"));
  }
}

TEST_CASE("what would change ids and is not known is refused by name") {
  CHECK(contains(refusal({{"normalizer", {{"type", "ByteLevel"}}}}), "\"ByteLevel\""));
  CHECK(contains(
      refusal({{"normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "NFQ"}}}}}}}),
      "\"NFQ\""));
  CHECK(contains(refusal({{"pre_tokenizer", {{"type", "UnicodeScripts"}}}}), "\"UnicodeScripts\""));
  CHECK(
      contains(refusal({{"pre_tokenizer",
                         {{"type", "Sequence"},
                          {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "ByteLevel"}}}}}}}),
               "twice"));
  CHECK(contains(refusal({{"pre_tokenizer", {{"type", "ByteLevel"}, {"new_option", 1}}}}),
                 "\"new_option\""));
  CHECK(contains(refusal({{"post_processor", {{"type", "Novelty"}}}}), "\"Novelty\""));
  CHECK(contains(refusal({{"decoder", {{"type", "CTC"}}}}), "\"CTC\""));
  CHECK(contains(refusal({{"model", {{"type", "Novelty"}}}}), "\"Novelty\""));
  CHECK(contains(refusal({{"model", {{"type", "Unigram"}}}}), "after ByteLevel"));
  CHECK(contains(refusal({{"model", {{"dropout", 0.1}}}}), "dropout"));
  CHECK(contains(refusal({{"model", {{"end_of_word_suffix", "</w>"}}}}), "end_of_word_suffix"));
  CHECK(contains(refusal({{"model", {{"continuing_subword_prefix", "##"}}}}),
                 "continuing_subword_prefix"));
  CHECK(contains(refusal({{"model", {{"byte_fallback", true}}}}), "byte_fallback"));
  CHECK(contains(refusal({{"model", {{"unk_token", "<none>"}}}}), "unk_token"));
  CHECK(contains(refusal({{"model", {{"surprise", 1}}}}), "\"surprise\""));
  CHECK(contains(refusal({{"novelty", 1}}), "\"novelty\""));
}

TEST_CASE("hostile vocabularies are refused") {
  const auto vocab_refusal = [](const char* token, const Json& id) {
    Json vocab = tiny_json().at("model").at("vocab");
    vocab[token] = id;
    return refusal({{"model", {{"vocab", vocab}}}});
  };
  CHECK(contains(vocab_refusal("new", 7), "id 7"));
  CHECK(contains(vocab_refusal("new", -1), "-1"));
  CHECK(contains(vocab_refusal("new", 2147483647), "out of range"));
  CHECK(contains(vocab_refusal("new", 18446744073709551615u), "out of range"));
  CHECK(contains(vocab_refusal("new", 1.5), "1.5"));
  CHECK(contains(vocab_refusal("new", "5"), "\"5\""));
  CHECK(contains(vocab_refusal("", 5000), "empty string"));
  CHECK(contains(refusal({{"model", {{"vocab", Json::object()}}}}), "empty"));
  CHECK(contains(refusal({{"model", {{"vocab", 3}}}}), "an object"));

  Json merges = tiny_json().at("model").at("merges");
  merges.push_back(merges[0]);
  CHECK(contains(refusal({{"model", {{"merges", merges}}}}), "repeats merge 0"));
  merges.back() = Json::array({"zz", "zz"});
  CHECK(contains(refusal({{"model", {{"merges", merges}}}}), "not in the vocabulary"));

  const auto added_refusal = [](const Json& token) {
    Json added = tiny_json().at("added_tokens");
    added.push_back(token);
    return refusal({{"added_tokens", added}});
  };
  CHECK(contains(added_refusal({{"id", 2}, {"content", "<again>"}}), "twice"));
  CHECK(contains(added_refusal({{"id", 5}, {"content", "<taken>"}}), "<taken>"));
  CHECK(contains(added_refusal({{"id", 16777215}, {"content", "<far>"}}), "out of range"));
  CHECK(contains(added_refusal({{"id", -4}, {"content", "<minus>"}}), "-4"));
  CHECK(contains(added_refusal({{"id", 441}, {"content", ""}}), "no content"));
  CHECK(contains(added_refusal({{"id", 441}, {"content", std::string(5000, 'x')}}), "5000 bytes"));
  CHECK(contains(added_refusal({{"id", 441}, {"content", "<|im_end|>"}}), "<|im_end|>"));
  CHECK(contains(added_refusal({{"content", "<noid>"}}), "\"id\""));
}

TEST_CASE("a template that adds unknown tokens or loses the text is refused") {
  const auto processor = [](const Json& single, const Json& ids) {
    return Json{
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", Json::array()},
          {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", ids}, {"tokens", {"<s>"}}}}}}}}};
  };
  const Json special{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const Json text{{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json second{{"Sequence", {{"id", "B"}, {"type_id", 0}}}};
  CHECK(refusal(processor(Json::array({special, text}), {1})) == "accepted");
  CHECK(contains(refusal(processor(Json::array({special, text}), {99999})), "99999"));
  CHECK(contains(refusal(processor(Json::array({special, text}), {-1})), "-1"));
  CHECK(contains(refusal(processor(Json::array({special}), {1})), "leaves the text out"));
  CHECK(contains(refusal(processor(Json::array({text, text}), {1})), "exactly once"));
  CHECK(contains(refusal(processor(Json::array({second}), {1})), "exactly once"));
}

TEST_CASE("truncated and flipped tokenizer files never crash") {
  // A file small enough to try every byte.
  Json small = tiny_json();
  Json vocab = Json::object();
  for (const char* token : {"a", "b", "c", "ab", "abc"}) vocab[token] = vocab.size();
  small["model"]["vocab"] = vocab;
  small["model"]["merges"] = Json::array({Json::array({"a", "b"}), Json::array({"ab", "c"})});
  small["added_tokens"] = Json::array({Json{{"id", 5}, {"content", "<x>"}, {"special", true}}});
  const std::string text = small.dump();
  REQUIRE(load_tokenizer_json(text, "small").vocab_size() == 6);
  const auto attempt = [](const std::string& file) {
    try {
      const Tokenizer tokenizer = load_tokenizer_json(file, "small");
      tokenizer.encode("abc<x>abab", AddSpecial::kYes);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::environment);
    }
  };
  for (size_t n = 0; n < text.size(); ++n) {
    CHECK_THROWS_AS(load_tokenizer_json(text.substr(0, n), "small"), Error);
  }
  for (size_t at = 0; at < text.size(); ++at) {
    for (const int flip : {0x01, 0x04, 0x20, 0x80}) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ flip);
      attempt(flipped);
    }
  }
}
