// jinja2 hands a literal to Python's "unicode-escape" codec after replacing every non-ASCII
// character by an escape of its own. So a backslash before such a character does not escape it: it
// swallows the backslash of the replacement, and '\é' reads as \xe9, five characters. The same
// detour is taken here.
#include "text/template_string_literal.h"

#include "text/template_fault.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

std::string replacement_of(uint32_t code) {
  static const char* hex = "0123456789abcdef";
  const int n_digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  std::string out(1, code < 0x100 ? 'x' : code < 0x10000 ? 'u' : 'U');
  for (int shift = 4 * (n_digits - 1); shift >= 0; shift -= 4) out += hex[code >> shift & 15];
  return out;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class LiteralReader {
 public:
  LiteralReader(std::string_view body, int line) : body_(body), line_(line) {}

  std::string read() {
    while (at_ < body_.size()) {
      if (body_[at_] == '\\') {
        ++at_;
        escape();
      } else {
        out_ += body_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Fault("TemplateSyntaxError", message, line_);
  }

  void escape() {
    if (at_ >= body_.size()) fail("\\ at end of string");
    const char c = body_[at_];
    static constexpr std::string_view kNames = "\\'\"abfnrtv";
    static constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t known = kNames.find(c); known != std::string_view::npos) {
      out_ += kMeanings[known];
      ++at_;
    } else if (c == '\n') {
      ++at_;
    } else if (c >= '0' && c <= '7') {
      octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at_;
      hexadecimal(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    } else if (c == 'N') {
      throw Fault(kNotSupported, "the escape \\N{name}", line_);
    } else if ((c & 0x80) != 0) {
      size_t n = 0;
      out_ += '\\' + replacement_of(code_point_at(body_, at_, n));
      at_ += n;
    } else {
      out_ += '\\';
      out_ += c;
      ++at_;
    }
  }

  void octal() {
    uint32_t code = 0;
    for (int i = 0; i < 3 && at_ < body_.size() && body_[at_] >= '0' && body_[at_] <= '7'; ++i) {
      code = code * 8 + static_cast<uint32_t>(body_[at_++] - '0');
    }
    append_utf8(out_, code);
  }

  void hexadecimal(int n_digits) {
    uint32_t code = 0;
    for (int i = 0; i < n_digits; ++i, ++at_) {
      if (at_ >= body_.size() || hex_value(body_[at_]) < 0) fail("truncated \\x or \\u escape");
      code = code * 16 + static_cast<uint32_t>(hex_value(body_[at_]));
    }
    if (code > 0x10FFFF) fail("illegal Unicode character");
    if (code >= 0xD800 && code < 0xE000) fail("a lone surrogate escape cannot be written as UTF-8");
    append_utf8(out_, code);
  }

  std::string_view body_;
  int line_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string unescaped_literal(std::string_view body, int line) {
  return LiteralReader(body, line).read();
}

}  // namespace isobit::jinja
