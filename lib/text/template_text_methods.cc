// The methods of str.
#include <algorithm>
#include <string_view>

#include "text/template_arguments.h"
#include "text/template_format.h"
#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

Value like(const Value& self, std::string text) {
  return Value::text(std::move(text), self.is_markup());
}

std::string operand(const Value& self, const BoundArguments& bound, size_t i) {
  const std::string& text = bound.text(i);
  return self.is_markup() && !bound[i].is_markup() ? escape_html(text) : text;
}

template <std::string (*change)(std::string_view)>
Value changed(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("str method", arguments, {}, 0);
  in.budget().spend(self.as_text().size());
  return like(self, change(self.as_text()));
}

template <bool left, bool right>
Value stripped(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("strip", arguments, {""}, 0);
  std::string_view text = self.as_text();
  if (bound.given_and_not_none(0)) {
    if (!bound[0].is_text()) raise("TypeError", "strip arg must be None or str");
    if (left) text = strip_left(text, bound.text(0));
    if (right) text = strip_right(text, bound.text(0));
  } else {
    if (left) text = strip_left(text);
    if (right) text = strip_right(text);
  }
  return like(self, std::string(text));
}

Value list_of(const Value& self, const std::vector<std::string_view>& parts, Budget& budget) {
  budget.spend(parts.size());
  budget.spend_bytes(self.as_text().size());
  std::vector<Value> out;
  for (const std::string_view part : parts) out.push_back(like(self, std::string(part)));
  return Value::list(std::move(out));
}

std::vector<std::string_view> split_on_space(std::string_view text, int64_t limit) {
  std::vector<std::string_view> out;
  for (text = strip_left(text); !text.empty(); text = strip_left(text)) {
    size_t end = 0;
    for (size_t n = 0; end < text.size() && !is_space(code_point_at(text, end, n)); end += n) {
    }
    if (limit >= 0 && static_cast<int64_t>(out.size()) == limit) {
      out.push_back(text);  // with its trailing blanks, as Python leaves them
      break;
    }
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

std::vector<std::string_view> split_on_space_from_right(std::string_view text, int64_t limit) {
  std::vector<std::string_view> words = split_on_space(text, -1);
  if (limit < 0 || static_cast<int64_t>(words.size()) <= limit) return words;
  const size_t n_kept = static_cast<size_t>(limit);
  std::vector<std::string_view> out(words.end() - static_cast<long>(n_kept), words.end());
  const std::string_view last = words[words.size() - n_kept - 1];
  out.insert(out.begin(),
             text.substr(0, static_cast<size_t>(last.data() + last.size() - text.data())));
  return out;
}

std::vector<std::string_view> split_on(std::string_view text, std::string_view separator,
                                       int64_t limit) {
  std::vector<std::string_view> out;
  for (size_t at = text.find(separator);
       at != text.npos && (limit < 0 || static_cast<int64_t>(out.size()) < limit);
       at = text.find(separator)) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  out.push_back(text);
  return out;
}

std::vector<std::string_view> split_on_from_right(std::string_view text, std::string_view separator,
                                                  int64_t limit) {
  std::vector<std::string_view> out;
  for (size_t at = text.rfind(separator);
       at != text.npos && (limit < 0 || static_cast<int64_t>(out.size()) < limit);
       at = text.rfind(separator)) {
    out.push_back(text.substr(at + separator.size()));
    text = text.substr(0, at);
  }
  out.push_back(text);
  std::reverse(out.begin(), out.end());
  return out;
}

template <bool from_right>
Value split(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound(from_right ? "rsplit" : "split", arguments, {"sep", "maxsplit"}, 0);
  const int64_t limit = bound.integer_or(1, -1);
  if (!bound.given_and_not_none(0)) {
    return list_of(self,
                   from_right ? split_on_space_from_right(self.as_text(), limit)
                              : split_on_space(self.as_text(), limit),
                   in.budget());
  }
  if (!bound[0].is_text()) raise("TypeError", "must be str or None, not " + bound[0].type_name());
  const std::string& separator = bound.text(0);
  if (separator.empty()) raise("ValueError", "empty separator");
  return list_of(self,
                 from_right ? split_on_from_right(self.as_text(), separator, limit)
                            : split_on(self.as_text(), separator, limit),
                 in.budget());
}

Value splitlines(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("splitlines", arguments, {"keepends"}, 0);
  return list_of(self, split_lines(self.as_text(), bound.flag(0, false)), in.budget());
}

template <bool from_right>
Value partition(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("partition", arguments, {""}, 1);
  const std::string& separator = bound.text(0);
  if (separator.empty()) raise("ValueError", "empty separator");
  const std::string& text = self.as_text();
  in.budget().spend_bytes(text.size());
  const size_t at = from_right ? text.rfind(separator) : text.find(separator);
  if (at == text.npos) {
    const Value nothing = like(self, "");
    return from_right ? Value::tuple({nothing, nothing, self})
                      : Value::tuple({self, nothing, nothing});
  }
  return Value::tuple({like(self, text.substr(0, at)), like(self, separator),
                       like(self, text.substr(at + separator.size()))});
}

Value join(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("join", arguments, {""}, 1);
  if (!is_iterable(bound[0])) raise("TypeError", "can only join an iterable");
  std::string out;
  size_t i = 0;
  for (const Value& item : iterate(bound[0], in.budget())) {
    if (!item.is_text()) {
      raise("TypeError", "sequence item " + std::to_string(i) + ": expected str instance, " +
                             item.type_name() + " found");
    }
    if (i++ > 0) out += self.as_text();
    in.budget().spend_bytes(self.as_text().size() + item.as_text().size());
    out += self.is_markup() && !item.is_markup() ? escape_html(item.as_text()) : item.as_text();
  }
  return like(self, std::move(out));
}

Value replace(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("replace", arguments, {"", "", ""}, 2);
  return like(self, replaced(self.as_text(), operand(self, bound, 0), operand(self, bound, 1),
                             bound.integer_or(2, -1), in.budget()));
}

// The part of the text that optional start and end arguments select, and the number of code points
// before it.
struct Window {
  std::string_view text;
  int64_t start = 0;
  bool possible = true;  // false when start lies behind the end
};

Window window(const Value& self, const BoundArguments& bound) {
  const std::string_view text = self.as_text();
  if (!bound.given_and_not_none(1) && !bound.given_and_not_none(2)) return {text, 0, true};
  const auto n = static_cast<int64_t>(count_code_points(text));
  const auto clamp = [&](int64_t i) {
    return i < 0 ? std::max<int64_t>(i < -n ? 0 : i + n, 0) : i;
  };
  const int64_t start = bound.given_and_not_none(1) ? clamp(bound.integer(1)) : 0;
  const int64_t end = bound.given_and_not_none(2) ? std::min(clamp(bound.integer(2)), n) : n;
  if (start > end) return {{}, start, false};
  const size_t from = byte_offset_of(text, static_cast<size_t>(start));
  return {text.substr(from, byte_offset_of(text.substr(from), static_cast<size_t>(end - start))),
          start, true};
}

template <bool from_right, bool must_exist>
Value find(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("find", arguments, {"", "", ""}, 1);
  const Window w = window(self, bound);
  const size_t at = !w.possible  ? std::string::npos
                    : from_right ? w.text.rfind(bound.text(0))
                                 : w.text.find(bound.text(0));
  if (at == std::string::npos && must_exist) raise("ValueError", "substring not found");
  return Value::integer(at == std::string::npos
                            ? -1
                            : w.start +
                                  static_cast<int64_t>(count_code_points(w.text.substr(0, at))));
}

Value count(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("count", arguments, {"", "", ""}, 1);
  const Window w = window(self, bound);
  const std::string& what = bound.text(0);
  if (!w.possible) return Value::integer(0);
  if (what.empty()) return Value::integer(static_cast<int64_t>(count_code_points(w.text)) + 1);
  int64_t n = 0;
  for (size_t at = w.text.find(what); at != w.text.npos; at = w.text.find(what, at + what.size()))
    ++n;
  return Value::integer(n);
}

template <bool at_start>
Value has_affix(Interpreter&, const Value& self, const Arguments& arguments) {
  const char* const name = at_start ? "startswith" : "endswith";
  const BoundArguments bound(name, arguments, {"", "", ""}, 1);
  const Window w = window(self, bound);
  std::vector<Value> affixes{bound[0]};
  if (bound[0].is_sequence(SequenceType::tuple)) affixes = bound[0].items_of().items;
  for (const Value& affix : affixes) {
    if (!affix.is_text()) {
      raise("TypeError", std::string(name) + " first arg must be str or a tuple of str, not " +
                             affix.type_name());
    }
    if (w.possible &&
        (at_start ? w.text.starts_with(affix.as_text()) : w.text.ends_with(affix.as_text()))) {
      return Value::boolean(true);
    }
  }
  return Value::boolean(false);
}

template <bool at_start>
Value remove_affix(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("removeprefix", arguments, {""}, 1);
  std::string_view text = self.as_text();
  const std::string& affix = bound.text(0);
  if (at_start && text.starts_with(affix)) text.remove_prefix(affix.size());
  if (!at_start && text.ends_with(affix)) text.remove_suffix(affix.size());
  return like(self, std::string(text));
}

// 'l': text at the left, 'r': at the right, 'c': centred, with Python's choice of the odd blank.
template <char side>
Value justified(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("justify", arguments, {"", ""}, 1);
  const std::string fill = bound.given(1) ? bound.text(1) : " ";
  if (count_code_points(fill) != 1)
    raise("TypeError", "The fill character must be exactly one character long");
  return like(self, padded(self.as_text(), bound.integer(0), fill, side, in.budget()));
}

Value zfill(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("zfill", arguments, {""}, 1);
  const std::string& text = self.as_text();
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string digits = has_sign ? text.substr(1) : text;
  const int64_t width = bound.integer(0);
  return like(self,
              (has_sign ? text.substr(0, 1) : "") +
                  padded(digits, width > 0 && has_sign ? width - 1 : width, "0", 'r', in.budget()));
}

Value expandtabs(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("expandtabs", arguments, {"tabsize"}, 0);
  const int64_t size = bound.integer_or(0, 8);
  std::string out;
  int64_t column = 0;
  for (const std::string_view c : split_into_code_points(self.as_text())) {
    if (c == "\t") {
      const int64_t n = size > 0 ? size - column % size : 0;
      in.budget().spend_bytes(static_cast<size_t>(n));
      out.append(static_cast<size_t>(n), ' ');
      column += n;
    } else {
      out += c;
      column = c == "\n" || c == "\r" ? 0 : column + 1;
    }
  }
  return like(self, std::move(out));
}

template <bool (*predicate)(uint32_t)>
Value all_are(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("str predicate", arguments, {}, 0);
  const std::u32string codes = to_code_points(self.as_text());
  return Value::boolean(!codes.empty() && std::all_of(codes.begin(), codes.end(), predicate));
}

bool is_alphanumeric(uint32_t code) {
  return is_alphabetic(code) || is_numeric(code);
}

Value isascii(Interpreter&, const Value& self, const Arguments&) {
  return Value::boolean(is_ascii(self.as_text()));
}

Value isprintable(Interpreter&, const Value& self, const Arguments&) {
  const std::u32string codes = to_code_points(self.as_text());
  return Value::boolean(std::all_of(codes.begin(), codes.end(), is_printable));
}

Value isidentifier(Interpreter&, const Value& self, const Arguments&) {
  const std::u32string codes = to_code_points(self.as_text());
  return Value::boolean(!codes.empty() && (is_alphabetic(codes[0]) || codes[0] == '_') &&
                        std::all_of(codes.begin(), codes.end(), is_name_part));
}

Value islower(Interpreter&, const Value& self, const Arguments&) {
  return Value::boolean(is_lower_text(self.as_text()));
}
Value isupper(Interpreter&, const Value& self, const Arguments&) {
  return Value::boolean(is_upper_text(self.as_text()));
}

Value istitle(Interpreter&, const Value& self, const Arguments&) {
  bool in_word = false;
  bool any = false;
  for (const char32_t code : to_code_points(self.as_text())) {
    if ((is_upper(code) || is_title(code)) && in_word) return Value::boolean(false);
    if (is_lower(code) && !in_word) return Value::boolean(false);
    in_word = is_cased(code);
    any |= in_word;
  }
  return Value::boolean(any);
}

Value format(Interpreter& in, const Value& self, const Arguments& arguments) {
  return like(self, format_braces(in, self.as_text(), arguments));
}

Value format_map(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("format_map", arguments, {""}, 1);
  Arguments named;
  if (!bound[0].is_dict()) raise(kNotSupported, "str.format_map with something other than a dict");
  for (const auto& [key, value] : bound[0].as_dict().entries()) {
    if (key.is_text()) named.named.emplace_back(key.as_text(), value);
  }
  return like(self, format_braces(in, self.as_text(), named));
}

// A mapping from code points to code points, texts or None (which drops the character).
Value translate(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("translate", arguments, {""}, 1);
  if (bound[0].is_undefined()) bound[0].raise_undefined();
  if (!bound[0].is_dict()) raise(kNotSupported, "str.translate with something other than a dict");
  in.budget().spend(self.as_text().size());
  std::string out;
  for (const char32_t code : to_code_points(self.as_text())) {
    const Value* to = bound[0].as_dict().find(Value::integer(code));
    if (to == nullptr) {
      append_utf8(out, code);
    } else if (to->is_text()) {
      out += to->as_text();
      in.budget().spend_bytes(to->as_text().size());
    } else if (to->is_integral() && to->as_integer() >= 0 && to->as_integer() < 0x110000) {
      append_utf8(out, static_cast<char32_t>(to->as_integer()));
    } else if (!to->is_none()) {
      raise("TypeError", "character mapping must return integer, None or str");
    }
  }
  return like(self, std::move(out));
}

constexpr Method kMethods[] = {
    {"capitalize", changed<capitalized>},
    {"casefold", changed<case_folded>},
    {"center", justified<'c'>},
    {"count", count},
    {"encode", nullptr},
    {"endswith", has_affix<false>},
    {"expandtabs", expandtabs},
    {"find", find<false, false>},
    {"format", format},
    {"format_map", format_map},
    {"index", find<false, true>},
    {"isalnum", all_are<is_alphanumeric>},
    {"isalpha", all_are<is_alphabetic>},
    {"isascii", isascii},
    {"isdecimal", all_are<is_decimal>},
    {"isdigit", all_are<is_digit>},
    {"isidentifier", isidentifier},
    {"islower", islower},
    {"isnumeric", all_are<is_numeric>},
    {"isprintable", isprintable},
    {"isspace", all_are<is_space>},
    {"istitle", istitle},
    {"isupper", isupper},
    {"join", join},
    {"ljust", justified<'l'>},
    {"lower", changed<to_lower>},
    {"lstrip", stripped<true, false>},
    {"maketrans", nullptr},
    {"partition", partition<false>},
    {"removeprefix", remove_affix<true>},
    {"removesuffix", remove_affix<false>},
    {"replace", replace},
    {"rfind", find<true, false>},
    {"rindex", find<true, true>},
    {"rjust", justified<'r'>},
    {"rpartition", partition<true>},
    {"rsplit", split<true>},
    {"rstrip", stripped<false, true>},
    {"split", split<false>},
    {"splitlines", splitlines},
    {"startswith", has_affix<true>},
    {"strip", stripped<true, true>},
    {"swapcase", changed<case_swapped>},
    {"title", changed<title_cased>},
    {"translate", translate},
    {"upper", changed<to_upper>},
    {"zfill", zfill},
};

}  // namespace

const Method* find_text_method(const std::string& name) {
  const auto* at = std::find_if(std::begin(kMethods), std::end(kMethods),
                                [&](const Method& m) { return m.name == name; });
  return at == std::end(kMethods) ? nullptr : at;
}

}  // namespace isobit::jinja
