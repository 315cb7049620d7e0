// Filters that lay text out or mark it up: pprint, striptags, wordwrap, xmlattr. Where Python's own
// take on a case needs tables or rules that no chat template has been seen to use (entities, words
// with hyphens, values wider than a line), the case is refused by name.
#include <algorithm>

#include "text/template_filters.h"
#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

constexpr size_t kPrettyWidth = 80;  // characters; pprint breaks what is wider

// repr() with the keys of every dict in order.
Value with_sorted_keys(const Value& v, Budget& budget) {
  budget.spend(1);
  if (v.is_dict()) {
    std::vector<Dict::Entry> entries = v.as_dict().entries();
    std::stable_sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
      if (a.first.is_text() != b.first.is_text() || a.first.is_none() || b.first.is_none())
        raise(kNotSupported, "the filter pprint of a dict whose keys have no order");
      return less(a.first, b.first, budget);
    });
    Dict sorted;
    for (const auto& [key, value] : entries) sorted.set(key, with_sorted_keys(value, budget));
    return Value::dict(std::move(sorted));
  }
  if (!v.is_sequence(SequenceType::list) && !v.is_sequence(SequenceType::tuple)) return v;
  std::vector<Value> items;
  for (const Value& item : v.items_of().items) items.push_back(with_sorted_keys(item, budget));
  return Value::sequence(v.items_of().type, std::move(items));
}

Value pprint(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("pprint", arguments, {}, 0);
  std::string text = repr(with_sorted_keys(v, in.budget()), in.budget());
  if (count_code_points(text) > kPrettyWidth)
    raise(kNotSupported, "the filter pprint of a value wider than 80 characters");
  return Value::text(std::move(text));
}

// Takes out everything from `open` to the next `close`.
std::string without(std::string text, std::string_view open, std::string_view close) {
  std::string out;
  size_t at = 0;
  for (;;) {
    const size_t begin = text.find(open, at);
    const size_t end = begin == text.npos ? text.npos : text.find(close, begin);
    if (end == text.npos) break;
    out.append(text, at, begin - at);
    at = end + close.size();
  }
  return out.append(text, at);
}

Value striptags(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("striptags", arguments, {}, 0);
  const std::string text = without(without(str(v, in.budget()), "<!--", "-->"), "<", ">");
  in.budget().spend(text.size());
  if (text.find('&') != text.npos) raise(kNotSupported, "the filter striptags of text with an '&'");
  std::string out;
  for (std::string_view rest = strip_left(text); !rest.empty(); rest = strip_left(rest)) {
    size_t end = 0, n = 0;
    while (end < rest.size() && !is_space(code_point_at(rest, end, n))) end += n;
    out += out.empty() ? "" : " ";
    out += rest.substr(0, end);
    rest.remove_prefix(end);
  }
  return Value::text(std::move(out));
}

bool is_wrap_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Runs of blanks and runs of anything else, in turn; as code points, since widths count them.
std::vector<std::u32string> chunks_of(std::string_view line) {
  std::vector<std::u32string> out;
  const auto is_blank = [](char32_t c) { return c < 0x80 && is_wrap_space(static_cast<char>(c)); };
  for (const char32_t code : to_code_points(line)) {
    if (out.empty() || is_blank(out.back().back()) != is_blank(code)) out.emplace_back();
    out.back() += code;
  }
  return out;
}

bool is_blank_chunk(const std::u32string& chunk) {
  return std::all_of(chunk.begin(), chunk.end(), [](char32_t c) { return is_space(c); });
}

// Python's textwrap, for one line whose words are not cut at hyphens.
std::vector<std::string> wrapped(std::string_view line, size_t width, bool break_long_words,
                                 Budget& budget) {
  std::vector<std::u32string> chunks = chunks_of(line);
  std::reverse(chunks.begin(), chunks.end());
  std::vector<std::string> lines;
  while (!chunks.empty()) {
    if (is_blank_chunk(chunks.back()) && !lines.empty()) chunks.pop_back();
    std::vector<std::u32string> taken;
    size_t length = 0;
    while (!chunks.empty() && length + chunks.back().size() <= width) {
      length += chunks.back().size();
      taken.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > width) {
      if (break_long_words) {
        budget.spend_bytes(chunks.back().size());  // erase moves what is left
        taken.push_back(chunks.back().substr(0, width - length));
        chunks.back().erase(0, width - length);
      } else if (taken.empty()) {
        taken.push_back(std::move(chunks.back()));
        chunks.pop_back();
      }
    }
    if (!taken.empty() && is_blank_chunk(taken.back())) taken.pop_back();
    if (taken.empty()) continue;
    std::string text;
    for (const std::u32string& chunk : taken) {
      for (const char32_t code : chunk) append_utf8(text, code);
    }
    lines.push_back(std::move(text));
  }
  return lines;
}

Value wordwrap(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("wordwrap", arguments,
                             {"width", "break_long_words", "wrapstring", "break_on_hyphens"}, 0);
  if (v.is_undefined()) v.raise_undefined();
  if (!v.is_text())
    raise("AttributeError", "'" + v.type_name() + "' object has no attribute 'splitlines'");
  const int64_t width = bound.integer_or(0, 79);
  const std::string between = bound.given_and_not_none(2) ? bound.text(2) : "\n";
  if (bound.flag(3, true) && v.as_text().find('-') != std::string::npos)
    raise(kNotSupported,
          "the filter wordwrap of text with hyphens (break_on_hyphens=false has it)");
  in.budget().spend(v.as_text().size());
  std::string out;
  bool first = true;
  for (const std::string_view line : split_lines(v.as_text(), false)) {
    if (!std::exchange(first, false)) out += between;
    if (width <= 0)
      raise("ValueError", "invalid width " + std::to_string(width) + " (must be > 0)");
    bool first_of_line = true;
    for (const std::string& part :
         wrapped(line, static_cast<size_t>(width), bound.flag(1, true), in.budget())) {
      if (!std::exchange(first_of_line, false)) out += between;
      in.budget().spend_bytes(between.size() + part.size());
      out += part;
    }
  }
  return Value::text(std::move(out), v.is_markup());
}

bool has_blank_or_sign(std::string_view key) {
  for (size_t at = 0, n = 0; at < key.size(); at += n) {
    const uint32_t code = code_point_at(key, at, n);
    if (is_space(code) || code == '/' || code == '>' || code == '=') return true;
  }
  return false;
}

std::string escaped(const Value& v, Budget& budget) {
  return v.is_markup() ? v.as_text() : escape_html(str(v, budget));
}

Value xmlattr(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("xmlattr", arguments, {"autospace"}, 0);
  if (v.is_undefined()) v.raise_undefined();
  if (!v.is_dict())
    raise("AttributeError", "'" + v.type_name() + "' object has no attribute 'items'");
  std::string out;
  for (const auto& [key, value] : v.as_dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_text())
      raise("TypeError", "expected string or bytes-like object, got '" + key.type_name() + "'");
    if (has_blank_or_sign(key.as_text()))
      raise("ValueError", "Invalid character in attribute name: " + string_repr(key.as_text()));
    out += (out.empty() ? "" : " ") + escaped(key, in.budget()) + "=\"" +
           escaped(value, in.budget()) + "\"";
    in.budget().spend_bytes(out.size());
  }
  if (bound.flag(0, true) && !out.empty()) out.insert(0, " ");
  return Value::text(std::move(out));
}

constexpr Filter kFilters[] = {
    {"pprint", pprint},     {"striptags", striptags}, {"urlize", nullptr},
    {"wordwrap", wordwrap}, {"xmlattr", xmlattr},
};

}  // namespace

const Filter* find_layout_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

}  // namespace isobit::jinja
