#include "text/normalizer.h"

#include "base/digest.h"
#include "base/error.h"

namespace isobit {
namespace {

constexpr std::string_view kLowerOneEighthBlock = "\u2581";  // SentencePiece's visible space
constexpr size_t kLongGraphemeBytes = 6;

template <typename Change>
std::string map_characters(std::string_view text, const Change& change) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    change(c.value, out);
    at += c.n_bytes;
  }
  return out;
}

std::string without_accents(std::string_view text) {
  return map_characters(text, [](uint32_t c, std::string& out) {
    if (!is_mark(c)) append_utf8(out, c);
  });
}

std::string lowered(std::string_view text) {
  return map_characters(text, [](uint32_t c, std::string& out) { append_lowercase(out, c); });
}

std::string_view stripped(std::string_view text, const StripStep& step) {
  size_t begin = 0;
  size_t end = text.size();
  while (step.left && begin < end) {
    const CodePoint c = code_point_at(text, begin);
    if (!is_white_space(c.value)) break;
    begin += c.n_bytes;
  }
  while (step.right && end > begin) {
    const CodePoint c = code_point_before(text, end);
    if (!is_white_space(c.value)) break;
    end -= c.n_bytes;
  }
  return text.substr(begin, end - begin);
}

// A few steps that each write ten characters for one would fill any memory.
constexpr size_t kMostNormalizedBytes = size_t{1} << 30;

std::string replaced(std::string_view text, const ReplaceStep& step, RegexScratch& scratch) {
  std::string out;
  size_t done = 0;
  // Real vocabularies write a handful of bytes for one.
  const size_t most = std::min(kMostNormalizedBytes, 64 * text.size() + (size_t{1} << 20));
  const auto replace = [&](size_t begin, size_t end) {
    if (out.size() > most) {
      throw Error(ErrorCode::environment, "the normalizer's replacement of '" + step.pattern +
                                              "' makes a text of " + std::to_string(text.size()) +
                                              " bytes grow past " + std::to_string(most));
    }
    out += text.substr(done, begin - done);
    out += step.content;
    done = end;
  };
  if (!step.regex) {
    for (size_t at = text.find(step.pattern); at != std::string_view::npos;
         at = text.find(step.pattern, done)) {
      replace(at, at + step.pattern.size());
    }
  } else {
    const Regex& regex = step.regex->for_text(text);
    while (done < text.size()) {
      const auto match = regex.find(text, done, scratch);
      if (!match) break;
      if (match->begin == match->end) {
        throw Error(ErrorCode::environment, "the normalizer's regular expression '" + step.pattern +
                                                "' matched an empty text, which isobit refuses");
      }
      replace(match->begin, match->end);
    }
  }
  out += text.substr(done);
  return out;
}

// Blocks that BERT's normalizer sets apart. U+2B820 to U+2B91F are left out, as they are there.
bool is_chinese_character(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void append_clean(std::string& out, uint32_t c) {
  const bool breaks = c == '\t' || c == '\n' || c == '\r';
  if (c == 0 || c == 0xFFFD || (!breaks && is_control_or_other(c))) return;
  append_utf8(out, breaks || is_white_space(c) ? uint32_t{' '} : c);
}

std::string bert_normalised(std::string text, const BertStep& step) {
  if (step.clean_text)
    text = map_characters(text, [](uint32_t c, std::string& out) { append_clean(out, c); });
  if (step.handle_chinese_chars) {
    text = map_characters(text, [](uint32_t c, std::string& out) {
      const bool apart = is_chinese_character(c);
      if (apart) out += ' ';
      append_utf8(out, c);
      if (apart) out += ' ';
    });
  }
  if (step.strip_accents) {
    text =
        map_characters(to_unicode_form(text, UnicodeForm::kNfd), [](uint32_t c, std::string& out) {
          if (!is_nonspacing_mark(c)) append_utf8(out, c);
        });
  }
  return step.lowercase ? lowered(text) : text;
}

void append_nmt(std::string& out, uint32_t c) {
  const bool dropped = (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) ||
                       c == 0x7F || c == 0x8F || c == 0x9F;
  if (dropped) return;
  const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                     (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xFEFF || c == 0xFFFD;
  append_utf8(out, space ? uint32_t{' '} : c);
}

void append_mapped_grapheme(std::string& out, std::string_view grapheme, const Charsmap& map) {
  if (grapheme.size() < kLongGraphemeBytes) {
    if (const auto match = map.shortest_prefix(grapheme)) {
      out += match->replacement;
      return;
    }
  }
  for (size_t at = 0; at < grapheme.size();) {
    const std::string_view character = grapheme.substr(at, code_point_at(grapheme, at).n_bytes);
    const auto match = map.shortest_prefix(character);
    out += match ? match->replacement : character;
    at += character.size();
  }
}

std::string charsmap_applied(std::string_view text, const CharsmapStep& step) {
  std::string out;
  out.reserve(text.size());
  if (step.by_grapheme) {
    for_each_grapheme(
        text, [&](std::string_view grapheme) { append_mapped_grapheme(out, grapheme, *step.map); });
    return out;
  }
  for (size_t at = 0; at < text.size();) {
    if (const auto match = step.map->longest_prefix(text.substr(at))) {
      out += match->replacement;
      at += match->n_bytes;
    } else {
      const size_t n_bytes = code_point_at(text, at).n_bytes;
      out += text.substr(at, n_bytes);
      at += n_bytes;
    }
  }
  return out;
}

std::string with_visible_spaces(std::string_view text, const SentencePieceSpacesStep& step) {
  std::string out;
  bool prepended = false;
  bool in_word = false;
  for (const char c : text) {
    if (c == ' ') {
      in_word = false;
      if (!step.merge) out += kLowerOneEighthBlock;
      continue;
    }
    if (!in_word && ((step.prepend && !prepended) || step.merge)) {
      out += kLowerOneEighthBlock;
      prepended = true;
    }
    in_word = true;
    out += c;
  }
  return out;
}

struct StepRunner {
  std::string text;
  RegexScratch& scratch;

  std::string operator()(const UnicodeFormStep& s) { return to_unicode_form(text, s.form); }
  std::string operator()(const LowercaseStep&) { return lowered(text); }
  std::string operator()(const StripAccentsStep&) { return without_accents(text); }
  std::string operator()(const StripStep& s) { return std::string(stripped(text, s)); }
  std::string operator()(const ReplaceStep& s) { return replaced(text, s, scratch); }
  std::string operator()(const PrependStep& s) { return text.empty() ? text : s.text + text; }
  std::string operator()(const BertStep& s) { return bert_normalised(std::move(text), s); }
  std::string operator()(const NmtStep&) {
    return map_characters(text, [](uint32_t c, std::string& out) { append_nmt(out, c); });
  }
  std::string operator()(const CharsmapStep& s) { return charsmap_applied(text, s); }
  std::string operator()(const SentencePieceSpacesStep& s) { return with_visible_spaces(text, s); }
};

const char* name(UnicodeForm form) {
  switch (form) {
    case UnicodeForm::kNfc:
      return "NFC";
    case UnicodeForm::kNfd:
      return "NFD";
    case UnicodeForm::kNfkc:
      return "NFKC";
    case UnicodeForm::kNfkd:
      return "NFKD";
  }
  return "";
}

struct StepDescriber {
  Json operator()(const UnicodeFormStep& s) const { return {{"type", name(s.form)}}; }
  Json operator()(const LowercaseStep&) const { return {{"type", "Lowercase"}}; }
  Json operator()(const StripAccentsStep&) const { return {{"type", "StripAccents"}}; }
  Json operator()(const StripStep& s) const {
    return {{"type", "Strip"}, {"strip_left", s.left}, {"strip_right", s.right}};
  }
  Json operator()(const ReplaceStep& s) const {
    return {{"type", "Replace"}, {s.regex ? "regex" : "string", s.pattern}, {"content", s.content}};
  }
  Json operator()(const PrependStep& s) const { return {{"type", "Prepend"}, {"prepend", s.text}}; }
  Json operator()(const BertStep& s) const {
    return {{"type", "BertNormalizer"},
            {"clean_text", s.clean_text},
            {"handle_chinese_chars", s.handle_chinese_chars},
            {"strip_accents", s.strip_accents},
            {"lowercase", s.lowercase}};
  }
  Json operator()(const NmtStep&) const { return {{"type", "Nmt"}}; }
  Json operator()(const CharsmapStep& s) const {
    return {{"type", "Precompiled"},
            {"sha256", sha256_hex(s.map->blob())},
            {"by_grapheme", s.by_grapheme}};
  }
  Json operator()(const SentencePieceSpacesStep& s) const {
    return {{"type", "SentencePieceSpaces"}, {"prepend", s.prepend}, {"merge", s.merge}};
  }
};

}  // namespace

ReplaceStep replace_literal(const std::string& literal, const std::string& content) {
  return {.pattern = literal, .regex = std::nullopt, .content = content};
}

ReplaceStep replace_regex(const std::string& pattern, const std::string& content,
                          const std::string& where) {
  return {.pattern = pattern, .regex = OnigurumaRegex(pattern, where), .content = content};
}

std::string Normalizer::apply(std::string_view text, RegexScratch& scratch) const {
  std::string result(text);
  for (const NormalizerStep& step : steps_)
    result = std::visit(StepRunner{.text = std::move(result), .scratch = scratch}, step);
  return result;
}

Json Normalizer::description() const {
  Json steps = Json::array();
  for (const NormalizerStep& step : steps_) steps.push_back(std::visit(StepDescriber{}, step));
  return steps;
}

}  // namespace isobit
