// Filters of text.
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
  if (v.is_sequence(SequenceType::list))
    raise("AttributeError", "'list' object has no attribute 'splitlines'");
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
  if (bound.given(0) && bound[0].is_undefined()) bound[0].raise_undefined();
  const int64_t length = bound.integer_or(0, 255);
  const std::string end = bound.given(2) ? bound.text(2) : "...";
  const int64_t leeway = bound.given_and_not_none(3) ? bound.integer(3) : 5;
  const auto n_end = static_cast<int64_t>(count_code_points(end));
  if (length < n_end)
    raise("AssertionError",
          "expected length >= " + std::to_string(n_end) + ", got " + std::to_string(length));
  if (leeway < 0) raise("AssertionError", "expected leeway >= 0, got " + std::to_string(leeway));
  if (length_of(v) <= length + leeway) return v;
  const bool whole_words = !bound.flag(1, false);
  if (!v.is_text()) {
    if (!v.is_sequence(SequenceType::list) && !v.is_sequence(SequenceType::tuple))
      raise("TypeError", "'" + v.type_name() + "' object is not subscriptable");
    if (whole_words)
      raise("AttributeError", "'" + v.type_name() + "' object has no attribute 'rsplit'");
    raise("TypeError",
          "can only concatenate " + v.type_name() + " (not \"str\") to " + v.type_name());
  }
  const std::string& text = v.as_text();
  in.budget().spend_bytes(text.size());
  std::string kept = text.substr(0, byte_offset_of(text, static_cast<size_t>(length - n_end)));
  if (whole_words) {
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

constexpr Filter kFilters[] = {
    {"capitalize", changed<capitalized>},
    {"center", center},
    {"e", escape},
    {"escape", escape},
    {"forceescape", force_escape},
    {"format", format},
    {"indent", indent},
    {"lower", changed<to_lower>},
    {"replace", replace},
    {"safe", safe},
    {"string", string},
    {"title", changed<title_of>},
    {"tojson", tojson},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", changed<to_upper>},
    {"urlencode", urlencode},
    {"wordcount", wordcount},
};

}  // namespace

const Filter* find_text_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

}  // namespace isobit::jinja
