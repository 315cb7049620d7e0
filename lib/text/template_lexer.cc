#include "text/template_lexer.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text/template_fault.h"
#include "text/template_string_literal.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// \r\n and \r become \n, then one trailing newline goes.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) root();
    add(TokenType::end, {});
    return std::move(tokens_);
  }

 private:
  enum class Tag { block, variable, comment, raw };

  [[noreturn]] void fail(const std::string& message, int line) const {
    throw Fault("TemplateSyntaxError", message, line);
  }

  bool starts_with(std::string_view what, size_t at) const {
    return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(what);
  }

  void add(TokenType type, std::string text) { tokens_.push_back({type, std::move(text), line_}); }

  // Moves to `end`, counting lines, and remembers whether what was consumed ends a line (for
  // lstrip_blocks).
  void advance_to(size_t end) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<long>(at_),
                                         source_.begin() + static_cast<long>(end), '\n'));
    if (end > at_) line_starting_ = source_[end - 1] == '\n';
    at_ = end;
  }

  size_t skip_space(size_t at) const {
    const std::string_view rest = std::string_view(source_).substr(at);
    return at + (rest.size() - strip_left(rest).size());
  }

  char sign_at(size_t at) const {
    return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
  }

  // Where "{% raw %}" ends when it starts at `at`, or npos. Blanks after "-%}" belong to it.
  size_t end_of_raw_begin(size_t at) const {
    size_t p = at + 2;
    if (sign_at(p)) ++p;
    p = skip_space(p);
    if (!starts_with("raw", p)) return std::string::npos;
    p = skip_space(p + 3);
    if (starts_with("-%}", p)) return skip_space(p + 3);
    return starts_with("%}", p) ? p + 2 : std::string::npos;
  }

  // The end of a closing delimiter at `at`: "+%}", "-%}" with the blanks after it, or "%}" with one
  // newline.
  std::optional<size_t> closing(std::string_view delimiter, size_t at) const {
    if (starts_with(delimiter, at)) {
      const size_t end = at + 2;
      return end < source_.size() && source_[end] == '\n' ? end + 1 : end;
    }
    const char sign = sign_at(at);
    if (!sign || !starts_with(delimiter, at + 1)) return std::nullopt;
    return sign == '-' ? skip_space(at + 3) : at + 3;
  }

  // The text before a tag, after "-", "+" and lstrip_blocks had their say.
  std::string_view text_before(std::string_view text, char sign, Tag tag) const {
    if (sign == '-') return strip_right(text);
    if (sign == '+' || tag == Tag::variable) return text;
    const size_t newline = text.rfind('\n');
    const size_t line_start = newline == std::string_view::npos ? 0 : newline + 1;
    if (line_start == 0 && !line_starting_) return text;
    return strip_left(text.substr(line_start)).empty() ? text.substr(0, line_start) : text;
  }

  void add_text(std::string_view text) {
    if (!text.empty()) add(TokenType::data, std::string(text));
  }

  void root() {
    size_t open = at_;
    for (;; ++open) {
      open = source_.find('{', open);
      if (open == std::string::npos || open + 1 >= source_.size()) {
        add_text(std::string_view(source_).substr(at_));
        advance_to(source_.size());
        return;
      }
      const char c = source_[open + 1];
      if (c == '%' || c == '{' || c == '#') break;
    }
    const size_t raw_end = source_[open + 1] == '%' ? end_of_raw_begin(open) : std::string::npos;
    const Tag tag = raw_end != std::string::npos ? Tag::raw
                    : source_[open + 1] == '%'   ? Tag::block
                    : source_[open + 1] == '{'   ? Tag::variable
                                                 : Tag::comment;
    const char sign = sign_at(open + 2);
    add_text(text_before(std::string_view(source_).substr(at_, open - at_), sign, tag));
    advance_to(open);
    const int tag_line = line_;
    advance_to(tag == Tag::raw ? raw_end : open + 2 + (sign ? 1 : 0));
    switch (tag) {
      case Tag::raw:
        return raw(tag_line);
      case Tag::comment:
        return comment(tag_line);
      case Tag::block:
        add(TokenType::block_begin, {});
        return inside("%}", TokenType::block_end);
      case Tag::variable:
        add(TokenType::variable_begin, {});
        return inside("}}", TokenType::variable_end);
    }
  }

  // A comment or raw tag with nothing at all behind it is not an error: jinja2 has no text left to
  // complain about.
  void comment(int tag_line) {
    if (at_ == source_.size()) return;
    for (size_t p = at_; p < source_.size(); ++p) {
      if (const auto end = closing("#}", p)) return advance_to(*end);
    }
    fail("Missing end of comment tag", tag_line);
  }

  void raw(int tag_line) {
    if (at_ == source_.size()) return;
    for (size_t p = source_.find("{%", at_); p != std::string::npos;
         p = source_.find("{%", p + 1)) {
      const char sign = sign_at(p + 2);
      const size_t word = skip_space(p + 2 + (sign ? 1 : 0));
      if (!starts_with("endraw", word)) continue;
      const auto end = closing("%}", skip_space(word + 6));
      if (!end) continue;
      add_text(text_before(std::string_view(source_).substr(at_, p - at_), sign, Tag::raw));
      return advance_to(*end);
    }
    fail("Missing end of raw directive", tag_line);
  }

  // The inside of "{% %}" and "{{ }}"; the closing delimiter counts only outside brackets.
  void inside(std::string_view delimiter, TokenType end_type) {
    while (at_ < source_.size()) {
      if (brackets_.empty() && close(delimiter, end_type)) return;
      const size_t after_space = skip_space(at_);
      if (after_space != at_) {
        advance_to(after_space);
      } else {
        token();
      }
    }
  }

  bool close(std::string_view delimiter, TokenType end_type) {
    std::optional<size_t> end;
    if (end_type == TokenType::block_end) {
      end = closing(delimiter, at_);
    } else if (starts_with("-}}", at_)) {
      end = skip_space(at_ + 3);
    } else if (starts_with("}}", at_)) {
      end = at_ + 2;
    }
    if (!end) return false;
    add(end_type, {});
    advance_to(*end);
    return true;
  }

  void token() {
    const char c = source_[at_];
    if (is_digit_char(c)) return number();
    if (c == '\'' || c == '"') return string(c);
    size_t n = 0;
    size_t end = at_;
    while (end < source_.size() && is_name_part(code_point_at(source_, end, n))) end += n;
    if (end != at_) {
      add(TokenType::name, source_.substr(at_, end - at_));
      return advance_to(end);
    }
    sign();
  }

  // "digits" as Python writes them: single underscores between digits.
  size_t end_of_digits(size_t at) const {
    size_t p = at;
    while (p < source_.size() &&
           (is_digit_char(source_[p]) ||
            (source_[p] == '_' && p > at && p + 1 < source_.size() &&
             is_digit_char(source_[p - 1]) && is_digit_char(source_[p + 1])))) {
      ++p;
    }
    return p;
  }

  // The end of a float that starts at `at`, or nullopt. After a dot ("a.0.1") a number is an index,
  // never a float.
  std::optional<size_t> end_of_float(size_t at) const {
    if (at > 0 && source_[at - 1] == '.') return std::nullopt;
    size_t p = end_of_digits(at);
    bool is_float = false;
    if (p + 1 < source_.size() && source_[p] == '.' && is_digit_char(source_[p + 1])) {
      p = end_of_digits(p + 1);
      is_float = true;
    }
    if (p < source_.size() && (source_[p] == 'e' || source_[p] == 'E')) {
      const size_t digits = p + 1 + (sign_at(p + 1) ? 1 : 0);
      if (digits < source_.size() && is_digit_char(source_[digits])) {
        p = end_of_digits(digits);
        is_float = true;
      }
    }
    return is_float ? std::optional(p) : std::nullopt;
  }

  static int digit_value(char c) {
    if (is_digit_char(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
  }

  void number() {
    if (const auto end = end_of_float(at_)) {
      std::string digits = source_.substr(at_, *end - at_);
      std::erase(digits, '_');
      add(TokenType::real, digits);
      // A decimal too large for a double is Python's inf; too small, 0.0. strtod does both (the C
      // locale is never changed).
      tokens_.back().real = std::strtod(digits.c_str(), nullptr);
      return advance_to(*end);
    }
    int base = 10;
    size_t p = at_;
    if (source_[p] == '0' && p + 1 < source_.size()) {
      const char kind = static_cast<char>(source_[p + 1] | 0x20);
      const int candidate = kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'x' ? 16 : 10;
      const size_t first = p + 2 + (p + 2 < source_.size() && source_[p + 2] == '_' ? 1 : 0);
      if (candidate != 10 && first < source_.size() && digit_value(source_[first]) < candidate) {
        base = candidate;
        p = first;
      }
    }
    integer(base, p);
  }

  void integer(int base, size_t first_digit) {
    size_t p = first_digit;
    int64_t value = 0;
    const bool only_zeros = base == 10 && source_[first_digit] == '0';
    const auto is_digit_of_base = [&](size_t at) {
      return at < source_.size() && digit_value(source_[at]) < (only_zeros ? 1 : base);
    };
    while (is_digit_of_base(p) || (source_[p] == '_' && is_digit_of_base(p + 1))) {
      if (source_[p] != '_') {
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit_value(source_[p]), &value)) {
          fail("the integer does not fit into the 64 bits that this interpreter keeps", line_);
        }
      }
      if (++p >= source_.size()) break;
    }
    add(TokenType::integer, source_.substr(at_, p - at_));
    tokens_.back().integer = value;
    advance_to(p);
  }

  void string(char quote) {
    size_t p = at_ + 1;
    while (p < source_.size() && source_[p] != quote) p += source_[p] == '\\' ? 2 : 1;
    if (p >= source_.size())
      fail(std::string("unexpected char \"") + quote + "\" at " + std::to_string(at_), line_);
    add(TokenType::string,
        unescaped_literal(std::string_view(source_).substr(at_ + 1, p - at_ - 1), line_));
    advance_to(p + 1);
  }

  void sign() {
    static constexpr std::string_view signs[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                 "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                 ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
    const auto* found = std::find_if(std::begin(signs), std::end(signs),
                                     [&](std::string_view s) { return starts_with(s, at_); });
    if (found == std::end(signs)) {
      const std::string_view rest = std::string_view(source_).substr(at_);
      fail("unexpected char " + std::string(split_into_code_points(rest.substr(0, 4)).front()) +
               " at " + std::to_string(at_),
           line_);
    }
    const char c = (*found)[0];
    if (c == '(' || c == '[' || c == '{') brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (brackets_.empty()) fail(std::string("unexpected '") + c + "'", line_);
      const char expected = brackets_.back();
      brackets_.pop_back();
      if (expected != c)
        fail(std::string("unexpected '") + c + "', expected '" + expected + "'", line_);
    }
    add(TokenType::sign, std::string(*found));
    advance_to(at_ + found->size());
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string brackets_;  // the closing brackets that are awaited
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(normalized(source)).run();
}

}  // namespace isobit::jinja
