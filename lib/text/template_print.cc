// str(), repr() and json.dumps(), byte for byte as CPython 3.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/template_operators.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

constexpr const char* kHex = "0123456789abcdef";

void append_hex(std::string& out, uint32_t code, int n_digits) {
  for (int shift = 4 * (n_digits - 1); shift >= 0; shift -= 4) out += kHex[code >> shift & 15];
}

void append_repr(std::string& out, const Value& v, Budget& budget);

void append_items(std::string& out, const std::vector<Value>& items, Budget& budget) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    append_repr(out, items[i], budget);
  }
}

void append_sequence_repr(std::string& out, const Sequence& s, Budget& budget) {
  switch (s.type) {
    case SequenceType::list:
      out += '[';
      append_items(out, s.items, budget);
      out += ']';
      return;
    case SequenceType::tuple:
      out += '(';
      append_items(out, s.items, budget);
      out += s.items.size() == 1 ? ",)" : ")";
      return;
    case SequenceType::range:
      out += s.label;
      return;
    case SequenceType::generator:
      raise(kNotSupported,
            "printing a '" + s.label + "' object, whose text holds a memory address");
    default:
      break;
  }
  out += s.type == SequenceType::dict_keys     ? "dict_keys(["
         : s.type == SequenceType::dict_values ? "dict_values(["
                                               : "dict_items([";
  append_items(out, s.items, budget);
  out += "])";
}

void append_repr(std::string& out, const Value& v, Budget& budget) {
  budget.spend(1);
  switch (v.kind()) {
    case Kind::text: {
      const std::string quoted = string_repr(v.as_text());
      budget.spend_bytes(quoted.size());
      out += v.is_markup() ? "Markup(" + quoted + ")" : quoted;
      return;
    }
    case Kind::sequence:
      append_sequence_repr(out, v.items_of(), budget);
      return;
    case Kind::dict: {
      out += '{';
      bool first = true;
      for (const auto& [key, value] : v.as_dict().entries()) {
        if (!first) out += ", ";
        first = false;
        append_repr(out, key, budget);
        out += ": ";
        append_repr(out, value, budget);
      }
      out += '}';
      return;
    }
    case Kind::undefined:
      out += "Undefined";
      return;
    default:
      out += str(v, budget);
  }
}

void append_json_string(std::string& out, std::string_view text, bool ensure_ascii) {
  out += '"';
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    const uint32_t code = code_point_at(text, at, n);
    if (code == '"' || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code >= 8 && code <= 13 && code != 11) {
      out += '\\';
      out += "btn_fr"[code - 8];
    } else if (code < 0x20 || (ensure_ascii && code > 0x7E && code < 0x10000)) {
      out += "\\u";
      append_hex(out, code, 4);
    } else if (ensure_ascii && code >= 0x10000) {
      out += "\\u";
      append_hex(out, 0xD800 + ((code - 0x10000) >> 10), 4);
      out += "\\u";
      append_hex(out, 0xDC00 + ((code - 0x10000) & 0x3FF), 4);
    } else {
      out += text.substr(at, n);
    }
  }
  out += '"';
}

std::string json_float(double d) {
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
  return float_repr(d);
}

std::string json_key(const Value& key, Budget& budget) {
  switch (key.kind()) {
    case Kind::text:
      return key.as_text();
    case Kind::none:
      return "null";
    case Kind::boolean:
      return key.as_boolean() ? "true" : "false";
    case Kind::integer:
      return str(key, budget);
    case Kind::real:
      return json_float(key.as_real());
    default:
      raise("TypeError", "keys must be str, int, float, bool or None, not " + key.type_name());
  }
}

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {
    separator_ = style.item_separator ? *style.item_separator : style.indent ? "," : ", ";
  }

  std::string write(const Value& v) {
    value(v, 0);
    return std::move(out_);
  }

 private:
  void break_line(int level) {
    if (!style_.indent) return;
    out_ += '\n';
    for (int i = 0; i < level; ++i) out_ += *style_.indent;
    budget_.spend_bytes(style_.indent->size() * static_cast<size_t>(level));
  }

  void value(const Value& v, int level) {
    budget_.spend(1);
    switch (v.kind()) {
      case Kind::none:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += v.as_boolean() ? "true" : "false";
        return;
      case Kind::integer:
        out_ += std::to_string(v.as_integer());
        return;
      case Kind::real:
        out_ += json_float(v.as_real());
        return;
      case Kind::text:
        budget_.spend_bytes(v.as_text().size());
        append_json_string(out_, v.as_text(), style_.ensure_ascii);
        return;
      case Kind::dict:
        return object(v.as_dict(), level);
      case Kind::sequence:
        if (v.is_sequence(SequenceType::list) || v.is_sequence(SequenceType::tuple)) {
          return array(v.items_of().items, level);
        }
        [[fallthrough]];
      default:
        raise("TypeError", "Object of type " + v.type_name() + " is not JSON serializable");
    }
  }

  void array(const std::vector<Value>& items, int level) {
    out_ += '[';
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out_ += separator_;
      break_line(level + 1);
      value(items[i], level + 1);
    }
    if (!items.empty()) break_line(level);
    out_ += ']';
  }

  void object(const Dict& dict, int level) {
    std::vector<Dict::Entry> entries = dict.entries();
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
        return less(a.first, b.first, budget_);
      });
    }
    out_ += '{';
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i) out_ += separator_;
      break_line(level + 1);
      append_json_string(out_, json_key(entries[i].first, budget_), style_.ensure_ascii);
      out_ += style_.key_separator;
      value(entries[i].second, level + 1);
    }
    if (!entries.empty()) break_line(level);
    out_ += '}';
  }

  const JsonStyle& style_;
  Budget& budget_;
  std::string separator_;
  std::string out_;
};

}  // namespace

// The shortest digits that read back as the same double; an exponent below 1e-4 and from 1e16 on.
std::string float_repr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  const std::string shortest(buffer, end);
  const size_t e_at = shortest.find('e');
  const int exponent = std::stoi(shortest.substr(e_at + 1));
  if (exponent < -4 || exponent >= 16) return shortest;
  const auto fixed_end =
      std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::fixed).ptr;
  std::string fixed(buffer, fixed_end);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

std::string string_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0, n = 0; at < text.size(); at += n) {
    const uint32_t code = code_point_at(text, at, n);
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == '\n' || code == '\r' || code == '\t') {
      out += code == '\n' ? "\\n" : code == '\r' ? "\\r" : "\\t";
    } else if (is_printable(code)) {
      out += text.substr(at, n);
    } else {
      out += code < 0x100 ? "\\x" : code < 0x10000 ? "\\u" : "\\U";
      append_hex(out, code, code < 0x100 ? 2 : code < 0x10000 ? 4 : 8);
    }
  }
  return out + quote;
}

std::string repr(const Value& v, Budget& budget) {
  std::string out;
  append_repr(out, v, budget);
  return out;
}

std::string str(const Value& v, Budget& budget) {
  switch (v.kind()) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return v.as_boolean() ? "True" : "False";
    case Kind::integer:
      return std::to_string(v.as_integer());
    case Kind::real:
      return float_repr(v.as_real());
    case Kind::text:
      budget.spend_bytes(v.as_text().size());
      return v.as_text();
    case Kind::undefined:
      return {};
    case Kind::object:
      return v.as_object().repr(budget);
    default:
      return repr(v, budget);
  }
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_json(const Value& v, const JsonStyle& style, Budget& budget) {
  return JsonWriter(style, budget).write(v);
}

}  // namespace isobit::jinja
