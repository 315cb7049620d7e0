#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace isobit {
namespace {

// Builds the value from the parser's events, with the checks that the library's own builder lacks.
// It also appends members where that one searches all keys before each: a tokenizer's vocabulary is
// an object of 100,000 members.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  StrictBuilder(Json& root, size_t max_depth) : root_(root), max_depth_(max_depth) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override {
    return put(value);
  }  // never infinite
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return fail("binary value"); }
  bool start_object(std::size_t) override { return open(Json::object(), true); }
  bool start_array(std::size_t) override { return open(Json::array(), false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!open_.back().keys.insert(name).second) return fail("duplicate key \"" + name + "\"");
    open_.back().pending_key = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& e) override {
    error_position_ = position;
    error_ = e.what();
    // The library's text starts with "[json.exception...] parse error at line 1, column 2: " or,
    // where a number has no double, "[json.exception...] number overflow"; keep what follows.
    if (const size_t at = error_.find("] "); at != std::string::npos) error_.erase(0, at + 2);
    if (const size_t at = error_.find(": "); error_.starts_with("parse error") && at != error_.npos)
      error_.erase(0, at + 2);
    return false;
  }

  const std::string& error() const { return error_; }
  size_t error_position() const { return error_position_; }

 private:
  struct Open {
    Json value;
    bool is_object;
    std::string pending_key;
    std::unordered_set<std::string> keys;
  };

  bool open(Json value, bool is_object) {
    if (open_.size() == max_depth_)
      return fail("nesting deeper than " + std::to_string(max_depth_));
    open_.push_back({std::move(value), is_object, {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return put(std::move(value));
  }
  bool put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& top = open_.back(); top.is_object) {
      // ordered_map is a vector of pairs; its own insertion compares with every key.
      std::vector<std::pair<const std::string, Json>>& members =
          top.value.get_ref<Json::object_t&>();
      members.emplace_back(std::move(top.pending_key), std::move(value));
    } else {
      top.value.get_ref<Json::array_t&>().push_back(std::move(value));
    }
    return true;
  }
  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }

  Json& root_;
  size_t max_depth_;
  std::vector<Open> open_;
  std::string error_;
  size_t error_position_ = 0;
};

std::string line_and_column(std::string_view text, size_t position) {
  if (position == 0) return {};
  const std::string_view before = text.substr(0, std::min(position - 1, text.size()));
  const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n');
  const size_t column =
      before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
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
    } else if (const size_t at = std::string_view("\b\t\n\f\r").find(c);
               at != std::string_view::npos) {
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
  if (!std::isfinite(v))
    throw Error(ErrorCode::internal, "canonical JSON cannot hold NaN or infinity");
  if (v == 0) {
    out += '0';
    return;
  }
  if (v < 0) {
    out += '-';
    v = -v;
  }
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
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
    out += digits.substr(0, static_cast<size_t>(point)) + "." +
           digits.substr(static_cast<size_t>(point));
  }
}

// UTF-16 code unit order differs from UTF-8 byte order only above the BMP: surrogates (D800..DFFF)
// sort before E000..FFFF.
std::u16string utf16_key(const std::string& s) {
  std::u16string out;
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? c : c & (0x7F >> length);
    for (size_t k = 1; k < length && i + k < s.size(); ++k)
      code = code << 6 | (static_cast<unsigned char>(s[i + k]) & 63u);
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
    std::vector<std::pair<std::u16string, const Json::object_t::value_type*>> order;
    for (const auto& member : value.get_ref<const Json::object_t&>())
      order.emplace_back(utf16_key(member.first), &member);
    std::sort(order.begin(), order.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    out += '{';
    for (size_t i = 0; i < order.size(); ++i) {
      if (i) out += ',';
      append_canonical_string(out, order[i].second->first);
      out += ':';
      append_canonical(out, order[i].second->second);
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
  const bool ok = Json::sax_parse(text.begin(), text.end(), &builder, Json::input_format_t::json,
                                  /*strict=*/true,
                                  /*ignore_comments=*/limits.comments == JsonComments::allowed);
  if (!ok) {
    throw Error(ErrorCode::usage, where + ": not valid JSON" +
                                      line_and_column(text, builder.error_position()) + ": " +
                                      builder.error());
  }
  return root;
}

std::string canonical_json(const Json& value) {
  std::string out;
  append_canonical(out, value);
  return out;
}

}  // namespace isobit
