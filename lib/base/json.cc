#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"

namespace isobit {
namespace {

// Builds the value through the library's own callbacks, and adds the three checks that its parser lacks.
class StrictBuilder : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

 public:
  StrictBuilder(Json& root, size_t max_depth) : Base(root, /*allow_exceptions=*/false), max_depth_(max_depth) {}

  bool start_object(std::size_t n) {
    keys_.emplace_back();
    return enter() && Base::start_object(n);
  }
  bool end_object() {
    keys_.pop_back();
    --depth_;
    return Base::end_object();
  }
  bool start_array(std::size_t n) { return enter() && Base::start_array(n); }
  bool end_array() {
    --depth_;
    return Base::end_array();
  }
  bool key(std::string& name) {
    if (!keys_.back().insert(name).second) return fail("duplicate key \"" + name + "\"");
    return Base::key(name);
  }
  bool parse_error(std::size_t position, const std::string& last_token, const Json::exception& e) {
    error_position_ = position;
    error_ = e.what();
    // The library's text starts with "[json.exception...] parse error at line 1, column 2: "; keep what follows.
    if (const size_t at = error_.find(": "); at != std::string::npos) error_ = error_.substr(at + 2);
    return Base::parse_error(position, last_token, e);
  }

  const std::string& error() const { return error_; }
  size_t error_position() const { return error_position_; }

 private:
  bool enter() { return ++depth_ <= max_depth_ || fail("nesting deeper than " + std::to_string(max_depth_)); }
  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }

  size_t max_depth_;
  size_t depth_ = 0;
  std::vector<std::set<std::string>> keys_;
  std::string error_;
  size_t error_position_ = 0;
};

std::string line_and_column(std::string_view text, size_t position) {
  if (position == 0) return {};
  const std::string_view before = text.substr(0, std::min(position - 1, text.size()));
  const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n');
  const size_t column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return " at line " + std::to_string(line) + ", column " + std::to_string(column);
}

void append_canonical_string(std::string& out, const std::string& s) {
  static const char* hex = "0123456789abcdef";
  out += '"';
  for (const char c : s) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u >= 0x20) {
      out += c;
    } else if (const size_t at = std::string_view("\b\t\n\f\r").find(c); at != std::string_view::npos) {
      out += '\\';
      out += "btnfr"[at];
    } else {
      out += "\\u00";
      out += hex[u >> 4];
      out += hex[u & 15];
    }
  }
  out += '"';
}

// ECMAScript's Number::toString, as RFC 8785 section 3.2.2.3 asks.
void append_canonical_double(std::string& out, double v) {
  if (!std::isfinite(v)) throw Error(ErrorCode::internal, "canonical JSON cannot hold NaN or infinity");
  if (v == 0) {
    out += '0';
    return;
  }
  if (v < 0) {
    out += '-';
    v = -v;
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  const std::string shortest(buffer, end);
  const size_t e_at = shortest.find('e');
  std::string digits = shortest.substr(0, e_at);
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  const int n_digits = static_cast<int>(digits.size());
  const int point = std::stoi(shortest.substr(e_at + 1)) + 1;  // the value is 0.digits x 10^point
  if (point > 21 || point <= -6) {
    out += digits.substr(0, 1);
    if (n_digits > 1) out += "." + digits.substr(1);
    out += (point - 1 < 0 ? "e-" : "e+") + std::to_string(std::abs(point - 1));
  } else if (point <= 0) {
    out += "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  } else if (point >= n_digits) {
    out += digits + std::string(static_cast<size_t>(point - n_digits), '0');
  } else {
    out += digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
  }
}

// UTF-16 code unit order differs from UTF-8 byte order only above the BMP: surrogates (D800..DFFF) sort before E000..FFFF.
std::u16string utf16_key(const std::string& s) {
  std::u16string out;
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? c : c & (0x7F >> length);
    for (size_t k = 1; k < length && i + k < s.size(); ++k) code = code << 6 | (static_cast<unsigned char>(s[i + k]) & 63u);
    if (code >= 0x10000) {
      out += static_cast<char16_t>(0xD800 + ((code - 0x10000) >> 10));
      out += static_cast<char16_t>(0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      out += static_cast<char16_t>(code);
    }
    i += length;
  }
  return out;
}

void append_canonical(std::string& out, const Json& value) {
  if (value.is_object()) {
    std::vector<std::string> names;
    for (auto it = value.begin(); it != value.end(); ++it) names.push_back(it.key());
    std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return utf16_key(a) < utf16_key(b); });
    out += '{';
    for (size_t i = 0; i < names.size(); ++i) {
      if (i) out += ',';
      append_canonical_string(out, names[i]);
      out += ':';
      append_canonical(out, value.at(names[i]));
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (size_t i = 0; i < value.size(); ++i) {
      if (i) out += ',';
      append_canonical(out, value[i]);
    }
    out += ']';
  } else if (value.is_string()) {
    append_canonical_string(out, value.get_ref<const std::string&>());
  } else if (value.is_number_float()) {
    append_canonical_double(out, value.get<double>());
  } else {
    out += value.dump();
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  Json root;
  StrictBuilder builder(root, limits.max_depth);
  const bool ok = Json::sax_parse(text.begin(), text.end(), &builder, Json::input_format_t::json, /*strict=*/true,
                                  /*ignore_comments=*/limits.comments == JsonComments::allowed);
  if (!ok) {
    throw Error(ErrorCode::usage,
                where + ": not valid JSON" + line_and_column(text, builder.error_position()) + ": " + builder.error());
  }
  return root;
}

std::string canonical_json(const Json& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

}  // namespace isobit
