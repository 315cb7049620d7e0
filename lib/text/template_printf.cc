// The % operator on text.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/template_format.h"
#include "text/template_operators.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// What ascii() makes of a repr.
std::string ascii_repr(std::string_view text) {
  std::string out;
  char escape[12];
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    const uint32_t code = code_point_at(text, at, n);
    if (code < 0x80) {
      out += static_cast<char>(code);
      continue;
    }
    const char* const format = code < 0x100 ? "\\x%02x" : code < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(escape, sizeof escape, format, code);
    out += escape;
  }
  return out;
}

// %c: a code point, or a text of one character.
std::string character(const Value& v) {
  if (v.is_text() && count_code_points(v.as_text()) == 1) return v.as_text();
  if (!v.is_integral()) raise("TypeError", "%c requires int or char");
  const int64_t code = v.as_integer();
  if (code < 0 || code > 0x10FFFF) raise("OverflowError", "%c arg not in range(0x110000)");
  if (code >= 0xD800 && code < 0xE000) raise(kNotSupported, "a lone surrogate");
  std::string out;
  append_utf8(out, static_cast<char32_t>(code));
  return out;
}

class PrintfFormatter {
 public:
  PrintfFormatter(const Value& right, bool markup, Budget& budget)
      : right_(right), markup_(markup), budget_(budget) {
    if (right.is_sequence(SequenceType::tuple)) {
      positional_ = right.items_of().items;
    } else {
      positional_ = {right};
    }
  }

  std::string format(std::string_view rest) {
    std::string out;
    while (!rest.empty()) {
      const size_t at = rest.find('%');
      out += rest.substr(0, at);
      if (at == rest.npos) break;
      rest.remove_prefix(at + 1);
      out += conversion(rest);
      budget_.spend_bytes(out.size());
    }
    // Python takes whatever can be subscripted for a mapping, and a mapping may have items left.
    const bool is_mapping = right_.is_dict() || right_.is_undefined() ||
                            right_.is_sequence(SequenceType::list) ||
                            right_.is_sequence(SequenceType::range);
    if (next_ < positional_.size() && !used_names_ && !is_mapping) {
      raise("TypeError", "not all arguments converted during string formatting");
    }
    return out;
  }

 private:
  const Value& next_value() {
    if (next_ >= positional_.size()) raise("TypeError", "not enough arguments for format string");
    return positional_[next_++];
  }

  int star_or_number(std::string_view& rest) {
    if (rest.starts_with('*')) {
      rest.remove_prefix(1);
      const Value& v = next_value();
      if (!v.is_integral()) raise("TypeError", "* wants int");
      return checked(v.as_integer());
    }
    int64_t n = 0;
    while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
      n = std::min<int64_t>(n * 10 + (rest[0] - '0'), 10000000);
      rest.remove_prefix(1);
    }
    return checked(n);
  }

  static int checked(int64_t n) {
    if (n < -1000000 || n > 1000000) raise("ValueError", "width too big");
    return static_cast<int>(n);
  }

  std::string conversion(std::string_view& rest) {
    if (rest.starts_with('%')) {
      rest.remove_prefix(1);
      return "%";
    }
    const Value* named = nullptr;
    if (rest.starts_with('(')) {
      const size_t close = rest.find(')');
      if (close == rest.npos) raise("ValueError", "incomplete format key");
      if (right_.is_undefined()) right_.raise_undefined();
      if (!right_.is_dict()) raise("TypeError", "format requires a mapping");
      const std::string key(rest.substr(1, close - 1));
      named = right_.as_dict().find(key);
      if (named == nullptr) raise("KeyError", string_repr(key));
      used_names_ = true;
      rest.remove_prefix(close + 1);
    }
    std::string flags;
    while (!rest.empty() && std::string_view("-+ #0").find(rest[0]) != std::string_view::npos) {
      flags += rest[0];
      rest.remove_prefix(1);
    }
    int width = star_or_number(rest);
    if (width < 0) {
      flags += '-';
      width = -width;
    }
    int precision = -1;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      precision = std::max(star_or_number(rest), 0);
    }
    while (!rest.empty() && std::string_view("hlL").find(rest[0]) != std::string_view::npos)
      rest.remove_prefix(1);
    if (rest.empty()) raise("ValueError", "incomplete format");
    const char type = rest[0];
    rest.remove_prefix(1);
    return converted(named != nullptr ? *named : next_value(), type, flags, width, precision);
  }

  std::string converted(const Value& v, char type, const std::string& flags, int width,
                        int precision) {
    const auto has = [&](char flag) { return flags.find(flag) != flags.npos; };
    std::string body;
    std::string sign;
    if (type == 's' || type == 'r') {
      body = type == 's' ? str(v, budget_) : repr(v, budget_);
      if (markup_ && !(type == 's' && v.is_markup())) body = escape_html(body);
      if (precision >= 0) body.resize(byte_offset_of(body, static_cast<size_t>(precision)));
      return padded(body, width, " ", has('-') ? 'l' : 'r', budget_);
    }
    if (type == 'a') {
      body = ascii_repr(repr(v, budget_));
      if (precision >= 0) body.resize(std::min(body.size(), static_cast<size_t>(precision)));
      return padded(body, width, " ", has('-') ? 'l' : 'r', budget_);
    }
    if (type == 'c') return padded(character(v), width, " ", has('-') ? 'l' : 'r', budget_);
    if (std::string_view("diueEfFgGxXo").find(type) == std::string_view::npos) {
      raise("ValueError", std::string("unsupported format character '") + type + "'");
    }
    if (!v.is_number()) {
      const bool wants_integer = std::string_view("xXo").find(type) != std::string_view::npos;
      if (wants_integer)
        raise("TypeError",
              std::string("%") + type + " format: an integer is required, not " + v.type_name());
      if (v.is_undefined()) v.raise_undefined();
      const bool wants_real = std::string_view("eEfFgG").find(type) != std::string_view::npos;
      raise("TypeError", wants_real
                             ? "must be real number, not " + v.type_name()
                             : std::string("%") + type +
                                   " format: a real number is required, not " + v.type_name());
    }
    bool negative = false;
    if (std::string_view("eEfFgG").find(type) != std::string_view::npos) {
      negative = std::signbit(v.as_real());
      body = printf_real(std::fabs(v.as_real()), type, precision < 0 ? 6 : precision, has('#'));
    } else {
      if (v.is_real() && (type == 'x' || type == 'X' || type == 'o')) {
        raise("TypeError", std::string("%") + type + " format: an integer is required, not float");
      }
      if (v.is_real() && !(std::fabs(v.as_real()) < 9e18))
        raise("OverflowError", "cannot convert float to a 64-bit integer");
      const int64_t i = v.is_real() ? static_cast<int64_t>(v.as_real()) : v.as_integer();
      negative = i < 0;
      const std::string kind(1, type == 'i' || type == 'u' ? 'd' : type);
      body = formatted(Value::integer(i), kind, budget_);
      if (negative) body.erase(0, 1);
      if (precision > 0) body = padded(body, precision, "0", 'r', budget_);
      if (has('#') && type != 'd' && type != 'i' && type != 'u')
        body.insert(0, std::string("0") + type);
    }
    sign = negative ? "-" : has('+') ? "+" : has(' ') ? " " : "";
    if (has('0') && !has('-'))
      return sign + padded(body, width - static_cast<int>(sign.size()), "0", 'r', budget_);
    return padded(sign + body, width, " ", has('-') ? 'l' : 'r', budget_);
  }

  const Value& right_;
  bool markup_;
  Budget& budget_;
  std::vector<Value> positional_;
  size_t next_ = 0;
  bool used_names_ = false;
};

}  // namespace

Value printf_format(const Value& format, const Value& right, Budget& budget) {
  return Value::text(PrintfFormatter(right, format.is_markup(), budget).format(format.as_text()),
                     format.is_markup());
}

}  // namespace isobit::jinja
