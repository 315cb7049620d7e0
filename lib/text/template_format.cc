#include "text/template_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {

std::string replaced(std::string_view text, std::string_view what, std::string_view with,
                     int64_t limit, Budget& budget) {
  std::string out;
  if (what.empty()) {
    int64_t n = 0;
    for (const std::string_view c : split_into_code_points(text)) {
      if (limit < 0 || n++ < limit) out += with;
      budget.spend_bytes(with.size() + 4);
      out += c;
    }
    if (limit < 0 || n < limit) out += with;
    return out;
  }
  budget.spend_bytes(text.size());
  for (int64_t n = 0; limit < 0 || n < limit; ++n) {
    const size_t at = text.find(what);
    if (at == text.npos) break;
    budget.spend_bytes(with.size());
    (out += text.substr(0, at)) += with;
    text.remove_prefix(at + what.size());
  }
  return out += text;
}

std::string padded(std::string_view text, int64_t width, std::string_view fill, char side,
                   Budget& budget) {
  const auto n = static_cast<int64_t>(count_code_points(text));
  const int64_t missing = std::max<int64_t>(width - n, 0);
  budget.spend_bytes(static_cast<size_t>(missing) * fill.size() + text.size());
  const int64_t left = side == 'l'   ? 0
                       : side == 'r' ? missing
                                     : missing / 2 + (missing & width & 1);
  std::string out;
  for (int64_t i = 0; i < left; ++i) out += fill;
  out += text;
  for (int64_t i = left; i < missing; ++i) out += fill;
  return out;
}

bool is_lower_text(std::string_view text) {
  bool any = false;
  for (const char32_t code : to_code_points(text)) {
    if (is_upper(code) || is_title(code)) return false;
    any |= is_lower(code);
  }
  return any;
}

bool is_upper_text(std::string_view text) {
  bool any = false;
  for (const char32_t code : to_code_points(text)) {
    if (is_lower(code) || is_title(code)) return false;
    any |= is_upper(code);
  }
  return any;
}

std::string printf_real(double d, char style, int precision, bool alternate) {
  if (std::isnan(d)) return style >= 'a' ? "nan" : "NAN";
  if (std::isinf(d)) return std::string(d < 0 ? "-" : "") + (style >= 'a' ? "inf" : "INF");
  const std::string format = std::string("%") + (alternate ? "#" : "") + ".*" + style;
  const int n = std::snprintf(nullptr, 0, format.c_str(), precision, d);
  std::string out(static_cast<size_t>(n) + 1, '\0');
  std::snprintf(out.data(), out.size(), format.c_str(), precision, d);
  out.pop_back();
  return out;
}

namespace {

std::string in_base(uint64_t magnitude, unsigned base, bool upper) {
  // A pointer, not an indexed conditional: GCC 12's bounds sanitizer misreads the index of the
  // latter.
  const char* const digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  do {
    out += digits[magnitude % base];
    magnitude /= base;
  } while (magnitude != 0);
  std::reverse(out.begin(), out.end());
  return out;
}

uint64_t magnitude_of(int64_t i) {
  return i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
}

int checked_size(int64_t n, const char* what) {
  if (n < 0 || n > 1000000)
    raise("ValueError", std::string("format: the ") + what + " is too large");
  return static_cast<int>(n);
}

// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = 0;
  char sign = '-';
  bool alternate = false;
  int width = 0;
  char grouping = 0;
  int precision = -1;
  char type = 0;
};

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

int read_number(std::string_view& rest, const char* what) {
  int64_t n = 0;
  while (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') {
    n = std::min<int64_t>(n * 10 + (rest[0] - '0'), 10000000);
    rest.remove_prefix(1);
  }
  return checked_size(n, what);
}

Spec parse_spec(std::string_view rest) {
  Spec spec;
  const size_t first = byte_offset_of(rest, 1);
  if (rest.size() > first && is_align(rest[first])) {
    spec.fill = std::string(rest.substr(0, first));
    spec.align = rest[first];
    rest.remove_prefix(first + 1);
  } else if (!rest.empty() && is_align(rest[0])) {
    spec.align = rest[0];
    rest.remove_prefix(1);
  }
  const auto take = [&](std::string_view set) {
    if (rest.empty() || set.find(rest[0]) == set.npos) return '\0';
    const char c = rest[0];
    rest.remove_prefix(1);
    return c;
  };
  if (const char sign = take("+- ")) spec.sign = sign;
  spec.alternate = take("#") != 0;
  if (take("0") && spec.align == 0) {
    spec.fill = "0";
    spec.align = '=';
  }
  spec.width = read_number(rest, "width");
  spec.grouping = take(",_");
  if (take(".")) {
    if (rest.empty() || rest[0] < '0' || rest[0] > '9')
      raise("ValueError", "Format specifier missing precision");
    spec.precision = read_number(rest, "precision");
  }
  if (!rest.empty()) {
    spec.type = rest[0];
    rest.remove_prefix(1);
  }
  if (!rest.empty()) raise("ValueError", "Invalid format specifier");
  return spec;
}

std::string grouped(std::string digits, char separator, size_t every) {
  const size_t point = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  for (size_t at = point; at > every; at -= every) digits.insert(at - every, 1, separator);
  return digits;
}

// Sign, prefix and digits put together at the asked width.
std::string placed(const Spec& spec, bool negative, const std::string& prefix,
                   const std::string& digits, Budget& budget) {
  const std::string head = (negative           ? "-"
                            : spec.sign == '-' ? ""
                                               : std::string(1, spec.sign)) +
                           prefix;
  if (spec.align == '=') {
    return head +
           padded(digits, spec.width - static_cast<int64_t>(head.size()), spec.fill, 'r', budget);
  }
  const char side = spec.align == '<' ? 'l' : spec.align == '^' ? 'c' : 'r';
  return padded(head + digits, spec.width, spec.fill, side, budget);
}

[[noreturn]] void unknown_code(char code, const Value& v) {
  raise("ValueError", std::string("Unknown format code '") + code + "' for object of type '" +
                          v.type_name() + "'");
}

std::string format_real(const Value& v, const Spec& spec, Budget& budget) {
  double d = v.as_real();
  const bool negative = std::signbit(d) && !std::isnan(d);
  d = std::fabs(d);
  std::string digits;
  const int precision = spec.precision < 0 ? 6 : spec.precision;
  switch (spec.type) {
    case 0:
      digits = spec.precision < 0 ? float_repr(d) : printf_real(d, 'g', std::max(precision, 1));
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
      digits = printf_real(d, spec.type, precision, spec.alternate);
      break;
    case 'g':
    case 'G':
      digits = printf_real(d, spec.type, std::max(precision, 1), spec.alternate);
      break;
    case '%':
      digits = printf_real(d * 100, 'f', precision) + "%";
      break;
    default:
      unknown_code(spec.type, v);
  }
  if (spec.grouping) digits = grouped(std::move(digits), spec.grouping, 3);
  return placed(spec, negative, "", digits, budget);
}

std::string format_integer(const Value& v, const Spec& spec, Budget& budget) {
  const int64_t i = v.as_integer();
  std::string digits;
  std::string prefix;
  switch (spec.type) {
    case 0:
    case 'd':
    case 'n':
      digits = in_base(magnitude_of(i), 10, false);
      if (spec.grouping) digits = grouped(std::move(digits), spec.grouping, 3);
      break;
    case 'x':
    case 'X':
      digits = in_base(magnitude_of(i), 16, spec.type == 'X');
      prefix = spec.alternate ? (spec.type == 'x' ? "0x" : "0X") : "";
      break;
    case 'o':
      digits = in_base(magnitude_of(i), 8, false);
      prefix = spec.alternate ? "0o" : "";
      break;
    case 'b':
      digits = in_base(magnitude_of(i), 2, false);
      prefix = spec.alternate ? "0b" : "";
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%':
      return format_real(v, spec, budget);
    default:
      unknown_code(spec.type, v);
  }
  if (spec.precision >= 0) raise("ValueError", "Precision not allowed in integer format specifier");
  return placed(spec, i < 0, prefix, digits, budget);
}

std::string format_text(const Value& v, const Spec& spec, Budget& budget) {
  if (spec.type != 0 && spec.type != 's') unknown_code(spec.type, v);
  if (spec.align == '=')
    raise("ValueError", "'=' alignment not allowed in string format specifier");
  std::string_view text = v.as_text();
  if (spec.precision >= 0)
    text = text.substr(0, byte_offset_of(text, static_cast<size_t>(spec.precision)));
  const char side = spec.align == '>' ? 'r' : spec.align == '^' ? 'c' : 'l';
  return padded(text, spec.width, spec.fill, side, budget);
}

// Reads one format string of str.format.
class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, const Arguments& arguments) : in_(in), arguments_(arguments) {}

  std::string format(std::string_view rest, int nesting) {
    if (nesting > 2) raise("ValueError", "Max string recursion exceeded");
    std::string out;
    while (!rest.empty()) {
      const size_t at = rest.find_first_of("{}");
      out += rest.substr(0, at);
      if (at == rest.npos) break;
      const char brace = rest[at];
      rest.remove_prefix(at + 1);
      if (!rest.empty() && rest[0] == brace) {
        out += brace;
        rest.remove_prefix(1);
      } else if (brace == '}') {
        raise("ValueError", "Single '}' encountered in format string");
      } else {
        out += field(rest, nesting);
      }
    }
    return out;
  }

 private:
  std::string field(std::string_view& rest, int nesting) {
    size_t depth = 1;
    size_t end = 0;
    for (; end < rest.size() && depth > 0; ++end) {
      if (rest[end] == '{') ++depth;
      if (rest[end] == '}') --depth;
    }
    if (depth > 0)
      raise("ValueError", rest.empty() ? "Single '{' encountered in format string"
                                       : "expected '}' before end of string");
    const std::string_view inner = rest.substr(0, end - 1);
    rest.remove_prefix(end);
    const size_t name_end = std::min(inner.find_first_of("!:"), inner.size());
    Value v = lookup(inner.substr(0, name_end));
    std::string_view tail = inner.substr(name_end);
    if (tail.starts_with('!')) {
      if (tail.size() < 2)
        raise("ValueError", "end of string while looking for conversion specifier");
      if (tail[1] != 'r' && tail[1] != 's')
        raise("ValueError", "Unknown conversion specifier " + std::string(tail.substr(1, 1)));
      v = Value::text(tail[1] == 'r' ? repr(v, in_.budget()) : str(v, in_.budget()));
      tail.remove_prefix(2);
      if (!tail.empty() && tail[0] != ':')
        raise("ValueError", "expected ':' after conversion specifier");
    }
    const std::string spec = tail.empty() ? std::string() : format(tail.substr(1), nesting + 1);
    return formatted(v, spec, in_.budget());
  }

  Value lookup(std::string_view name) {
    const size_t first_end = std::min(name.find_first_of(".["), name.size());
    Value v = first(std::string(name.substr(0, first_end)));
    for (name.remove_prefix(first_end); !name.empty();) {
      if (name[0] == '.') {
        const size_t end = std::min(name.find_first_of(".[", 1), name.size());
        v = in_.attribute(v, std::string(name.substr(1, end - 1)));
        name.remove_prefix(end);
      } else {
        const size_t close = name.find(']');
        if (name[0] != '[' || close == name.npos)
          raise("ValueError", "Missing ']' in format string");
        const std::string key(name.substr(1, close - 1));
        v = in_.item(v, is_index(key) ? Value::integer(std::stoll(key)) : Value::text(key));
        name.remove_prefix(close + 1);
      }
    }
    return v;
  }

  static bool is_index(const std::string& text) {
    return !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == text.npos;
  }

  Value first(const std::string& name) {
    if (name.empty() || is_index(name)) {
      if (name.empty() ? numbered_ : automatic_ != 0) {
        // Python's string.Formatter says the same in both directions.
        raise("ValueError",
              "cannot switch from manual field specification to automatic field numbering");
      }
      numbered_ |= !name.empty();
      const size_t i = name.empty() ? automatic_++ : static_cast<size_t>(std::stoll(name));
      if (i >= arguments_.positional.size()) {
        raise("IndexError",
              "Replacement index " + std::to_string(i) + " out of range for positional args tuple");
      }
      return arguments_.positional[i];
    }
    for (const auto& [known, value] : arguments_.named) {
      if (known == name) return value;
    }
    raise("KeyError", string_repr(name));
  }

  Interpreter& in_;
  const Arguments& arguments_;
  size_t automatic_ = 0;   // fields without a number so far
  bool numbered_ = false;  // whether a field had one
};

}  // namespace

std::string formatted(const Value& v, std::string_view spec_text, Budget& budget) {
  if (spec_text.empty()) return str(v, budget);
  if (v.is_undefined())
    raise("TypeError", "unsupported format string passed to Undefined.__format__");
  const Spec spec = parse_spec(spec_text);
  if (v.is_integral()) return format_integer(v, spec, budget);
  if (v.is_real()) return format_real(v, spec, budget);
  if (v.is_text()) return format_text(v, spec, budget);
  raise("TypeError", "unsupported format string passed to " + v.type_name() + ".__format__");
}

std::string format_braces(Interpreter& interpreter, std::string_view format,
                          const Arguments& arguments) {
  return BraceFormatter(interpreter, arguments).format(format, 0);
}

}  // namespace isobit::jinja
