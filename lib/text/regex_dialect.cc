#include "text/regex_dialect.h"

#include <cctype>

#include "base/error.h"
#include "text/unicode_newer.h"

namespace isobit {
namespace {

// White_Space, ready to stand inside a class.
constexpr std::string_view kSpaceSet =
    "\\x{09}-\\x{0D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}"
    "\\x{205F}\\x{3000}";
// PCRE2's \S leaves out U+180E, which is not white space since Unicode 6.3.
constexpr std::string_view kNotSpaceSet = "\\S\\x{180E}";
constexpr std::string_view kWordProperties[] = {"L", "M", "Nd", "Pc"};

class Translator {
 public:
  Translator(std::string_view pattern, const std::string& where, CharacterTables tables)
      : pattern_(pattern), where_(where), tables_(tables) {}

  std::string run() {
    while (at_ < pattern_.size()) step();
    if (in_class_) refuse("an unclosed '['");
    return std::move(out_);
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }
  bool starts_with(std::string_view text) const {
    return pattern_.substr(at_, text.size()) == text;
  }
  void copy(size_t n) {
    out_ += pattern_.substr(at_, n);
    at_ += n;
  }
  void replace(size_t n, std::string_view with) {
    out_ += with;
    at_ += n;
  }

  [[noreturn]] void refuse(const std::string& construct) const {
    throw Error(ErrorCode::environment,
                where_ + ": regular expression '" + std::string(pattern_) + "' uses " + construct +
                    " at byte " + std::to_string(at_) + ", which isobit cannot translate exactly");
  }

  void step() {
    const char c = peek();
    if (c == '\\') return escape();
    if (in_class_) return class_member();
    if (c == '[') return open_class();
    if (c == '(' && peek(1) == '?') return group();
    if (c == '{') return braces();
    copy(1);
  }

  void open_class() {
    in_class_ = true;
    copy(peek(1) == '^' ? 2 : 1);
    if (peek() == ']') refuse("a class that begins with ']'");
  }

  void class_member() {
    if (peek() == '[') refuse(peek(1) == ':' ? "a POSIX bracket" : "a class inside a class");
    if (starts_with("&&")) refuse("the class intersection '&&'");
    if (peek() == ']') in_class_ = false;
    copy(1);
  }

  void group() {
    for (const std::string_view kind : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:"}) {
      if (starts_with(kind)) return copy(kind.size());
    }
    // At the very start an isolated option covers everything in both dialects.
    if (starts_with("(?i)") && at_ == 0) return copy(4);
    refuse("the group '" + std::string(pattern_.substr(at_, 4)) + "'");
  }

  // {n}, {n,}, {n,m}. A '+' after it makes it possessive in one dialect and repeats it in the
  // other.
  void braces() {
    size_t n = 1;
    while (std::isdigit(static_cast<unsigned char>(peek(n))) || peek(n) == ',') ++n;
    if (peek(n) != '}' || !std::isdigit(static_cast<unsigned char>(peek(1))))
      refuse("a '{' that is not {n}, {n,} or {n,m}");
    if (peek(n + 1) == '+') refuse("a '+' after a counted repeat");
    copy(n + 1);
  }

  void escape() {
    const char c = peek(1);
    switch (c) {
      case 's':
        return set(kSpaceSet, /*negated=*/false);
      case 'S':
        return in_class_ ? replace(2, kNotSpaceSet) : set(kSpaceSet, /*negated=*/true);
      case 'w':
        return set(word_set(), /*negated=*/false);
      case 'W':
        if (in_class_) refuse("'\\W' inside a class");
        return set(word_set(), /*negated=*/true);
      case 'p':
      case 'P':
        return property();
      case 'u':
        return four_digit_code();
      case 'x':
        return copy(2);
      case 'b':
      case 'B':
        refuse("a word boundary");
      case 'd':
      case 'D':
      case 'n':
      case 'r':
      case 't':
      case 'f':
      case 'v':
      case 'a':
      case 'e':
      case 'A':
      case 'z':
      case 'Z':
        if (c == 'v' && !in_class_) return replace(2, "\\x{0B}");
        if (c == 'v') return replace(2, "\\x{0B}");
        return copy(2);
      default:
        if (c == '\0') refuse("a '\\' at the end");
        if (std::isalnum(static_cast<unsigned char>(c))) refuse(std::string("'\\") + c + "'");
        return copy(2);  // an escaped punctuation character; any bytes after the first of a
                         // sequence follow as literals
    }
  }

  void set(std::string_view members, bool negated) {
    if (in_class_) return replace(2, members);
    replace(2, negated ? "[^" : "[");
    out_ += members;
    out_ += ']';
  }

  std::string newer(std::string_view property) const {
    return tables_ == CharacterTables::kNewer ? newer_members(property) : "";
  }

  std::string word_set() const {
    std::string out;
    for (const std::string_view property : kWordProperties)
      out += "\\p{" + std::string(property) + "}" + newer(property);
    return out;
  }

  void property() {
    const size_t close = pattern_.find('}', at_);
    if (peek(2) != '{' || close == std::string_view::npos) refuse("a property without braces");
    std::string_view name = pattern_.substr(at_ + 3, close - at_ - 3);
    const bool caret = !name.empty() && name[0] == '^';
    if (caret) name.remove_prefix(1);
    for (const char c : name) {
      if (!std::isalpha(static_cast<unsigned char>(c)) && c != '_')
        refuse("the property '" + std::string(name) + "'");
    }
    if (name.empty()) refuse("an empty property");
    const bool negated = caret != (peek(1) == 'P');
    // General categories have one or two letters; the rest are scripts.
    const std::string members = (name.size() > 2 ? "{sc:" : "{") + std::string(name) + "}";
    const std::string more = newer(name);
    // Nothing can be taken out of a class: there newer characters stay what PCRE2 takes them for.
    if (more.empty() || (in_class_ && negated)) {
      out_ += (negated ? "\\P" : "\\p") + members;
    } else if (in_class_) {
      out_ += "\\p" + members + more;
    } else {
      out_ += (negated ? "[^\\p" : "[\\p") + members + more + "]";
    }
    at_ = close + 1;
  }

  void four_digit_code() {
    for (size_t i = 2; i < 6; ++i) {
      if (!std::isxdigit(static_cast<unsigned char>(peek(i))))
        refuse("a '\\u' without four digits");
    }
    const std::string digits(pattern_.substr(at_ + 2, 4));
    replace(6, "\\x{" + digits + "}");
  }

  std::string_view pattern_;
  const std::string& where_;
  CharacterTables tables_;
  std::string out_;
  size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

std::string pcre2_pattern_from_oniguruma(std::string_view pattern, const std::string& where,
                                         CharacterTables tables) {
  return Translator(pattern, where, tables).run();
}

OnigurumaRegex::OnigurumaRegex(const std::string& pattern, const std::string& where)
    : usual_(pcre2_pattern_from_oniguruma(pattern, where), where) {
  const std::string newer = pcre2_pattern_from_oniguruma(pattern, where, CharacterTables::kNewer);
  if (newer != pcre2_pattern_from_oniguruma(pattern, where)) newer_.emplace(newer, where);
}

const Regex& OnigurumaRegex::for_text(std::string_view text) const {
  return newer_ && has_newer_character(text) ? *newer_ : usual_;
}

}  // namespace isobit
