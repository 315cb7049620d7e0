#include "app/step_words.h"

#include <map>

#include <fmt/format.h>

namespace isobit::app {
namespace {

bool on(const Json& step, const char* key) {
  return step.value(key, false);
}
std::string text(const Json& step, const char* key) {
  return step.value(key, "");
}

std::string pattern_words(const Json& step) {
  return step.contains("regex") ? fmt::format("the regular expression {}", text(step, "regex"))
                                : fmt::format("\"{}\"", text(step, "string"));
}

std::string behaviour_words(const Json& step) {
  static const std::map<std::string, const char*> kWords = {
      {"Removed", "which is left out"},
      {"Isolated", "each match a piece"},
      {"MergedWithPrevious", "a match joining the piece before it"},
      {"MergedWithNext", "a match joining the piece after it"},
      {"Contiguous", "neighbouring matches one piece"}};
  const auto it = kWords.find(text(step, "behavior"));
  return it == kWords.end() ? "" : std::string(", ") + it->second;
}

std::string split_words(const Json& step) {
  return fmt::format("cut {} {}{}", on(step, "invert") ? "at what is not" : "at",
                     pattern_words(step), behaviour_words(step));
}

std::string byte_level_words(const Json& step) {
  std::string out = "bytes, each a character of the byte alphabet";
  if (on(step, "add_prefix_space")) out += ", a space put in front";
  if (on(step, "use_regex")) out += ", after GPT-2's pattern has cut the text";
  return out;
}

std::string bert_words(const Json& step) {
  std::string out = "BERT's";
  if (on(step, "clean_text")) out += ": control characters out";
  if (on(step, "handle_chinese_chars")) out += ", spaces around CJK";
  if (on(step, "strip_accents")) out += ", accents out";
  if (on(step, "lowercase")) out += ", lower case";
  return out;
}

std::string metaspace_words(const Json& step) {
  std::string out = fmt::format("{} for a space", text(step, "replacement"));
  if (step.contains("prepend_scheme"))
    out += fmt::format(", put in front: {}", text(step, "prepend_scheme"));
  if (on(step, "split")) out += ", each beginning a piece";
  return out;
}

using Words = std::string (*)(const Json&);
const std::map<std::string, Words>& sentences() {
  static const std::map<std::string, Words> kSentences = {
      {"Split", split_words},
      {"ByteLevel", byte_level_words},
      {"BertNormalizer", bert_words},
      {"Metaspace", metaspace_words},
      {"Digits",
       [](const Json& s) {
         return std::string(on(s, "individual_digits") ? "each digit a piece"
                                                       : "runs of digits apart");
       }},
      {"DigitGroups",
       [](const Json& s) { return "digits in threes from the right: " + text(s, "groups"); }},
      {"Punctuation", [](const Json& s) { return "cut at punctuation" + behaviour_words(s); }},
      {"WhitespaceSplit",
       [](const Json&) { return std::string("cut at white space, which is left out"); }},
      {"Whitespace",
       [](const Json&) {
         return std::string(
             "runs of letters and digits, runs of other signs; white space left out");
       }},
      {"Replace",
       [](const Json& s) {
         return fmt::format("\"{}\" for {}", text(s, "content"), pattern_words(s));
       }},
      {"Prepend",
       [](const Json& s) { return fmt::format("\"{}\" put in front", text(s, "prepend")); }},
      {"NFC", [](const Json&) { return std::string("composed characters (NFC)"); }},
      {"NFD", [](const Json&) { return std::string("decomposed characters (NFD)"); }},
      {"NFKC", [](const Json&) { return std::string("compatible, composed characters (NFKC)"); }},
      {"NFKD", [](const Json&) { return std::string("compatible, decomposed characters (NFKD)"); }},
      {"Lowercase", [](const Json&) { return std::string("lower case"); }},
      {"StripAccents", [](const Json&) { return std::string("accents out"); }},
      {"ByteFallback",
       [](const Json&) { return std::string("\"<0x0A>\" and its like are bytes"); }},
  };
  return kSentences;
}

}  // namespace

std::string step_in_words(const Json& step) {
  const auto it = sentences().find(text(step, "type"));
  return it == sentences().end() ? step.dump() : it->second(step);
}

}  // namespace isobit::app
