// Filters of numbers, and from text to numbers.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "text/template_filters.h"
#include "text/template_format.h"
#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// The text with every decimal digit of any script as an ASCII one, as int() and float() take them.
// Each script's digits stand in runs of ten.
std::string with_ascii_digits(std::string_view text) {
  std::string out;
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    const uint32_t code = code_point_at(text, at, n);
    if (code < 0x80 || !is_decimal(code)) {
      out += text.substr(at, n);
      continue;
    }
    uint32_t value = 0;
    while (is_decimal(code - value - 1)) ++value;
    out += static_cast<char>('0' + value % 10);
  }
  return out;
}

// int() of text: blanks around, a sign, single underscores between digits, a prefix when the base
// allows it.
std::optional<int64_t> parse_integer(std::string_view text, int64_t base) {
  text = strip_right(strip_left(text));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    const int64_t named = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
    if (named != 0 && (base == named || base == 0)) {
      base = named;
      text.remove_prefix(2);
      if (text.starts_with('_')) text.remove_prefix(1);
    }
  }
  if (base == 0) base = 10;
  int64_t value = 0;
  bool after_digit = false;
  for (const char c : text) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 99;
    if (digit >= base) return std::nullopt;
    if (__builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      raise("OverflowError", "an integer leaves the 64 bits that this interpreter keeps");
    }
    after_digit = true;
  }
  if (!after_digit) return std::nullopt;
  return negative ? -value : value;
}

// float() of text.
std::optional<double> parse_real(std::string_view text) {
  text = strip_right(strip_left(text));
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || i + 1 == text.size() ||
               !std::isdigit(static_cast<unsigned char>(text[i - 1])) ||
               !std::isdigit(static_cast<unsigned char>(text[i + 1]))) {
      return std::nullopt;
    }
  }
  const std::string_view body =
      std::string_view(digits).substr(digits.starts_with('-') || digits.starts_with('+') ? 1 : 0);
  const std::string lower = to_lower(body);
  const bool is_word = lower == "inf" || lower == "infinity" || lower == "nan";
  if (!is_word && (body.empty() || body.find_first_not_of("0123456789.eE+-") != body.npos ||
                   body[0] == '+' || body[0] == '-')) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double d = std::strtod(digits.c_str(), &end);
  return end == digits.c_str() + digits.size() ? std::optional(d) : std::nullopt;
}

std::optional<int64_t> truncated_to_integer(double d) {
  if (std::isnan(d) || std::isinf(d)) return std::nullopt;
  if (!(std::fabs(d) < 9.2e18))
    raise("OverflowError", "an integer leaves the 64 bits that this interpreter keeps");
  return static_cast<int64_t>(d);
}

Value to_integer(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("int", arguments, {"default", "base"}, 0);
  const Value fallback = bound.value_or(0, Value::integer(0));
  std::optional<int64_t> i;
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_integral()) i = v.as_integer();
  if (v.is_real()) {
    if (std::isinf(v.as_real())) raise("OverflowError", "cannot convert float infinity to integer");
    i = truncated_to_integer(v.as_real());
  }
  if (v.is_text()) {
    const std::string text = with_ascii_digits(v.as_text());
    i = parse_integer(text, bound.integer_or(1, 10));
    if (!i) {
      if (const std::optional<double> d = parse_real(text)) i = truncated_to_integer(*d);
    }
  }
  return i ? Value::integer(*i) : fallback;
}

Value to_real(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("float", arguments, {"default"}, 0);
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_number()) return Value::real(v.as_real());
  const std::optional<double> d =
      v.is_text() ? parse_real(with_ascii_digits(v.as_text())) : std::nullopt;
  return d ? Value::real(*d) : bound.value_or(0, Value::real(0));
}

Value absolute(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("abs", arguments, {}, 0);
  if (v.is_real()) return Value::real(std::fabs(v.as_real()));
  if (!v.is_integral()) {
    if (v.is_undefined()) raise("TypeError", "bad operand type for abs(): 'Undefined'");
    raise("TypeError", "bad operand type for abs(): '" + v.type_name() + "'");
  }
  return v.as_integer() < 0 ? negated(v) : Value::integer(v.as_integer());
}

double rounded_half_even(double d, int64_t precision) {
  if (!std::isfinite(d) || precision > 400) return d;
  // "%.*f" rounds the exact decimal expansion, ties to even, which is what Python's round does.
  if (precision >= 0)
    return std::strtod(printf_real(d, 'f', static_cast<int>(precision)).c_str(), nullptr);
  if (precision < -320) return std::copysign(0.0, d);
  const double unit = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(d / unit) * unit;
}

// To a multiple of 10^n_digits; the even multiple of two that are as near.
Value rounded_integer(int64_t i, int64_t n_digits) {
  if (n_digits > 18) return Value::integer(0);  // 10^19 / 2 is past every 64-bit integer
  int64_t unit = 1;
  for (int64_t k = 0; k < n_digits; ++k) unit *= 10;
  int64_t rest = i % unit;
  if (rest < 0) rest += unit;
  const int64_t below = (i - rest) / unit;
  const bool up = rest > unit / 2 || (rest == unit / 2 && below % 2 != 0);
  int64_t rounded = 0;
  if (__builtin_mul_overflow(below + (up ? 1 : 0), unit, &rounded))
    raise("OverflowError", "an integer leaves the 64 bits that this interpreter keeps");
  return Value::integer(rounded);
}

Value round(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("round", arguments, {"precision", "method"}, 0);
  const std::string method = bound.given(1) ? bound.text(1) : "common";
  const int64_t precision = bound.integer_or(0, 0);
  if (method != "common" && method != "ceil" && method != "floor") {
    raise("FilterArgumentError", "method must be common, ceil or floor");
  }
  if (v.is_undefined() && method != "common") v.raise_undefined();
  if (!v.is_number()) {
    raise("TypeError", method == "common"
                           ? "type " + v.type_name() + " doesn't define __round__ method"
                           : "must be real number, not " + v.type_name());
  }
  if (method == "common") {
    if (v.is_real()) return Value::real(rounded_half_even(v.as_real(), precision));
    return precision >= 0 ? Value::integer(v.as_integer())
                          : rounded_integer(v.as_integer(), -precision);
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = v.as_real() * unit;
  return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit);
}

Value filesizeformat(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("filesizeformat", arguments, {"binary"}, 0);
  const bool binary = bound.flag(0, false);
  if (v.is_undefined()) v.raise_undefined();
  const std::optional<double> size = v.is_number() ? std::optional(v.as_real())
                                     : v.is_text() ? parse_real(v.as_text())
                                                   : std::nullopt;
  if (!size && !v.is_text())
    raise("TypeError",
          "float() argument must be a string or a real number, not '" + v.type_name() + "'");
  if (!size) raise("ValueError", "could not convert string to float: " + string_repr(v.as_text()));
  const double base = binary ? 1024 : 1000;
  if (*size == 1) return Value::text("1 Byte");
  if (*size < base) return Value::text(std::to_string(static_cast<int64_t>(*size)) + " Bytes");
  static constexpr const char* kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  static constexpr const char* kDecimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  const char* const* const names = binary ? kBinary : kDecimal;
  double unit = base * base;
  int i = 0;
  for (; i < 7 && *size >= unit; ++i) unit *= base;
  return Value::text(printf_real(base * *size / unit, 'f', 1) + " " + names[i]);
}

constexpr Filter kFilters[] = {
    {"abs", absolute}, {"filesizeformat", filesizeformat}, {"float", to_real}, {"int", to_integer},
    {"round", round},
};

}  // namespace

const Filter* find_number_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

}  // namespace isobit::jinja
