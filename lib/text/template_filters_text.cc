// Filters of text and numbers.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/template_filters.h"
#include "text/template_format.h"
#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// soft_str: markup stays markup.
Value soft(const Value& v, Budget& budget) {
  return v.is_text() ? v : Value::text(str(v, budget));
}

template <std::string (*change)(std::string_view)>
Value changed(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("filter", arguments, {}, 0);
  const Value text = soft(v, in.budget());
  in.budget().spend(text.as_text().size());
  return Value::text(change(text.as_text()), text.is_markup());
}

// Words begin after blanks, hyphens and opening brackets.
std::string title_of(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    const auto is_break = [&](size_t p, size_t& n) {
      const uint32_t code = code_point_at(text, p, n);
      return is_space(code) ||
             (code < 0x80 &&
              std::string_view("-({[<").find(static_cast<char>(code)) != std::string_view::npos);
    };
    size_t n = 0;
    const bool breaks = is_break(at, n);
    for (end = at; end < text.size() && is_break(end, n) == breaks; end += n) {
    }
    const std::string_view run = text.substr(at, end - at);
    const size_t first = byte_offset_of(run, 1);
    out += to_upper(run.substr(0, first));
    out += to_lower(run.substr(first));
    at = end;
  }
  return out;
}

Value trim(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("trim", arguments, {"chars"}, 0);
  const Value text = soft(v, in.budget());
  std::string_view stripped = text.as_text();
  if (bound.given_and_not_none(0)) {
    if (!bound[0].is_text()) raise("TypeError", "strip arg must be None or str");
    stripped = strip_right(strip_left(stripped, bound.text(0)), bound.text(0));
  } else {
    stripped = strip_right(strip_left(stripped));
  }
  return Value::text(std::string(stripped), text.is_markup());
}

Value string(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("string", arguments, {}, 0);
  return soft(v, in.budget());
}

Value safe(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("safe", arguments, {}, 0);
  return Value::text(str(v, in.budget()), true);
}

Value escape(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("escape", arguments, {}, 0);
  if (v.is_markup()) return v;
  return Value::text(escape_html(str(v, in.budget())), true);
}

Value force_escape(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("forceescape", arguments, {}, 0);
  return Value::text(escape_html(str(v, in.budget())), true);
}

Value replace(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("replace", arguments, {"old", "new", "count"}, 2);
  Budget& budget = in.budget();
  const int64_t limit = bound.given_and_not_none(2) ? bound.integer(2) : -1;
  return Value::text(
      replaced(str(v, budget), str(bound[0], budget), str(bound[1], budget), limit, budget));
}

Value indent(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("indent", arguments, {"width", "first", "blank"}, 0);
  if (v.is_undefined()) v.raise_undefined();
  if (!v.is_text())
    raise("TypeError", "unsupported operand type(s) for +=: '" + v.type_name() + "' and 'str'");
  const std::string step =
      bound.given(0) && bound[0].is_text()
          ? bound[0].as_text()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(bound.integer_or(0, 4), 0, 100000)),
                        ' ');
  const bool blank = bound.flag(2, false);
  const std::string text = v.as_text() + "\n";
  std::string out = bound.flag(1, false) ? step : "";
  bool is_first = true;
  for (const std::string_view line : split_lines(text, false)) {
    if (!is_first) {
      out += '\n';
      if (blank || !line.empty()) out += step;
    }
    is_first = false;
    out += line;
    in.budget().spend_bytes(step.size() + line.size());
  }
  return Value::text(std::move(out), v.is_markup());
}

Value truncate(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("truncate", arguments, {"length", "killwords", "end", "leeway"}, 0);
  if (!v.is_text()) raise("TypeError", "object of type '" + v.type_name() + "' has no len()");
  const int64_t length = bound.integer_or(0, 255);
  const std::string end = bound.given(2) ? bound.text(2) : "...";
  const int64_t leeway = bound.given_and_not_none(3) ? bound.integer(3) : 5;
  const auto n_end = static_cast<int64_t>(count_code_points(end));
  if (length < n_end)
    raise("AssertionError",
          "expected length >= " + std::to_string(n_end) + ", got " + std::to_string(length));
  if (leeway < 0) raise("AssertionError", "expected leeway >= 0, got " + std::to_string(leeway));
  const std::string& text = v.as_text();
  in.budget().spend_bytes(text.size());
  if (static_cast<int64_t>(count_code_points(text)) <= length + leeway) return v;
  std::string kept = text.substr(0, byte_offset_of(text, static_cast<size_t>(length - n_end)));
  if (!bound.flag(1, false)) {
    if (const size_t blank = kept.rfind(' '); blank != kept.npos) kept.resize(blank);
  }
  return Value::text(kept + end);
}

Value wordcount(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("wordcount", arguments, {}, 0);
  int64_t n = 0;
  bool in_word = false;
  for (const char32_t code : to_code_points(str(v, in.budget()))) {
    const bool word = is_alphabetic(code) || is_numeric(code) || code == '_';
    if (word && !in_word) ++n;
    in_word = word;
  }
  return Value::integer(n);
}

Value center(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("center", arguments, {"width"}, 0);
  return Value::text(padded(str(v, in.budget()), bound.integer_or(0, 80), " ", 'c', in.budget()));
}

std::string quoted_for_url(const std::string& text, bool for_query) {
  static const char* hex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte)) ||
        std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !for_query)) {
      out += c;
    } else if (c == ' ' && for_query) {
      out += '+';
    } else {
      (out += '%') += hex[byte >> 4];
      out += hex[byte & 15];
    }
  }
  return out;
}

Value urlencode(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("urlencode", arguments, {}, 0);
  if (v.is_text() || !is_iterable(v))
    return Value::text(quoted_for_url(str(v, in.budget()), false));
  std::string out;
  const auto add = [&](const Value& key, const Value& value) {
    if (!out.empty()) out += '&';
    out += quoted_for_url(str(key, in.budget()), true) + "=" +
           quoted_for_url(str(value, in.budget()), true);
  };
  if (v.is_dict()) {
    for (const auto& [key, value] : v.as_dict().entries()) add(key, value);
  } else {
    for (const Value& pair : iterate(v, in.budget())) {
      const std::vector<Value> two = iterate(pair, in.budget());
      if (two.size() != 2) raise("ValueError", "urlencode needs pairs");
      add(two[0], two[1]);
    }
  }
  return Value::text(std::move(out));
}

Value format(Interpreter& in, const Value& v, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    raise("FilterArgumentError", "can't handle positional and keyword arguments at the same time");
  }
  if (arguments.named.empty())
    return printf_format(soft(v, in.budget()), Value::tuple(arguments.positional), in.budget());
  Dict named;
  for (const auto& [name, value] : arguments.named) named.set(name, value);
  return printf_format(soft(v, in.budget()), Value::dict(std::move(named)), in.budget());
}

JsonStyle json_style(const BoundArguments& bound, Budget& budget) {
  JsonStyle style;
  style.ensure_ascii = bound.flag(0, false);
  if (bound.given_and_not_none(1)) {
    style.indent =
        bound[1].is_text()
            ? bound[1].as_text()
            : std::string(static_cast<size_t>(std::clamp<int64_t>(bound.integer(1), 0, 1000)), ' ');
  }
  if (bound.given_and_not_none(2)) {
    const std::vector<Value> two = iterate(bound[2], budget);
    if (two.size() != 2 || !two[0].is_text() || !two[1].is_text())
      raise("ValueError", "separators must be two strings");
    style.item_separator = two[0].as_text();
    style.key_separator = two[1].as_text();
  }
  style.sort_keys = bound.flag(3, false);
  return style;
}

// transformers' own: json.dumps without the HTML escapes of jinja2's.
Value tojson(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("tojson", arguments,
                             {"ensure_ascii", "indent", "separators", "sort_keys"}, 0);
  return Value::text(to_json(v, json_style(bound, in.budget()), in.budget()));
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
    i = parse_integer(v.as_text(), bound.integer_or(1, 10));
    if (!i) {
      if (const std::optional<double> d = parse_real(v.as_text())) i = truncated_to_integer(*d);
    }
  }
  return i ? Value::integer(*i) : fallback;
}

Value to_real(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("float", arguments, {"default"}, 0);
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_number()) return Value::real(v.as_real());
  const std::optional<double> d = v.is_text() ? parse_real(v.as_text()) : std::nullopt;
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

Value round(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("round", arguments, {"precision", "method"}, 0);
  const std::string method = bound.given(1) ? bound.text(1) : "common";
  const int64_t precision = bound.integer_or(0, 0);
  if (method != "common" && method != "ceil" && method != "floor") {
    raise("FilterArgumentError", "method must be common, ceil or floor");
  }
  if (v.is_undefined()) v.raise_undefined();
  if (!v.is_number())
    raise("TypeError", "type " + v.type_name() + " doesn't define __round__ method");
  if (method == "common") {
    if (v.is_real()) return Value::real(rounded_half_even(v.as_real(), precision));
    if (precision >= 0) return Value::integer(v.as_integer());
    raise(kNotSupported, "the filter round of an integer with a negative precision");
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
  if (!size) raise("ValueError", "could not convert the value to float");
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
    {"abs", absolute},
    {"capitalize", changed<capitalized>},
    {"center", center},
    {"e", escape},
    {"escape", escape},
    {"filesizeformat", filesizeformat},
    {"float", to_real},
    {"forceescape", force_escape},
    {"format", format},
    {"indent", indent},
    {"int", to_integer},
    {"lower", changed<to_lower>},
    {"pprint", nullptr},
    {"replace", replace},
    {"round", round},
    {"safe", safe},
    {"string", string},
    {"striptags", nullptr},
    {"title", changed<title_of>},
    {"tojson", tojson},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", changed<to_upper>},
    {"urlencode", urlencode},
    {"urlize", nullptr},
    {"wordcount", wordcount},
    {"wordwrap", nullptr},
};

}  // namespace

const Filter* find_text_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

}  // namespace isobit::jinja
