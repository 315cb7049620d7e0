#include "text/chat_template.h"

#include <algorithm>

#include "base/digest.h"
#include "base/error.h"
#include "text/template_interpreter.h"
#include "text/template_parser.h"

namespace isobit {
namespace {

using jinja::Dict;
using jinja::Fault;
using jinja::Value;

[[noreturn]] void translate(const Fault& fault, const std::string& where, int line) {
  const int at = fault.line != 0 ? fault.line : line;
  std::string message = where + ":" + std::to_string(at) + ": ";
  if (fault.type == jinja::kNotSupported) {
    throw Error(
        ErrorCode::usage,
        message + "the chat template uses " + fault.message + ", which isobit does not support",
        "change the template, or render it elsewhere and pass the prompt as text");
  }
  message += "chat template: " + fault.type + ": " + fault.message;
  if (fault.type == "ClockError")
    throw Error(ErrorCode::usage, message,
                "pass the time that it shall see, so that the prompt does not change by the day");
  throw Error(ErrorCode::usage, message);
}

Value from_json(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return {};
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
        jinja::raise("OverflowError",
                     "a variable holds an integer outside the 64 bits that this interpreter keeps");
      }
      return Value::integer(json.get<int64_t>());
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string:
      return Value::text(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(from_json(item));
      return Value::list(std::move(items));
    }
    case Json::value_t::object: {
      Dict dict;
      for (const auto& [name, value] : json.items()) dict.set(name, from_json(value));
      return Value::dict(std::move(dict));
    }
    default:
      jinja::raise("TypeError", "a variable holds a JSON value of an unknown kind");
  }
}

[[noreturn]] void wrong_shape(const std::string& what, const std::string& expected,
                              const Json& found) {
  throw Error(ErrorCode::usage, what + ": expected " + expected + ", found " + found.type_name());
}

const char* const kReasoningNames[] = {"reasoning_content", "thinking", "reasoning"};

Json with_reasoning_names(const Json& message) {
  const Json* reasoning = nullptr;
  for (const char* name : kReasoningNames) {
    const auto at = message.find(name);
    if (reasoning == nullptr && at != message.end() && !at->is_null()) reasoning = &*at;
  }
  if (reasoning == nullptr) return message;
  // Filled as the list that it is: to find each name again would take a pass over all of them.
  Json out = Json::object();
  auto& members = out.get_ref<Json::object_t&>();
  members.emplace_back("thinking", *reasoning);
  for (const auto& [name, value] : message.items()) {
    if (name == "thinking") {
      members.front().second = value;
    } else if (name != "reasoning_content") {
      members.emplace_back(name, value);
    } else {
      members.emplace_back(name, *reasoning);
    }
  }
  if (!message.contains("reasoning_content")) members.emplace_back("reasoning_content", *reasoning);
  return out;
}

}  // namespace

struct ChatTemplate::Tree {
  jinja::ParsedTemplate parsed;
};

ChatTemplate ChatTemplate::parse(std::string_view source, const std::string& where) {
  ChatTemplate made;
  made.source_ = std::string(source);
  made.where_ = where;
  made.digest_ = sha256_hex(source);
  try {
    made.tree_ = std::make_shared<const Tree>(Tree{jinja::parse_template(source)});
  } catch (const Fault& fault) {
    translate(fault, where, 1);
  }
  return made;
}

std::string ChatTemplate::render(const Json& variables, const RenderOptions& options) const {
  return render_in_full(variables, options).text;
}

RenderedTemplate ChatTemplate::render_in_full(const Json& variables,
                                              const RenderOptions& options) const {
  if (!variables.is_object())
    wrong_shape(where_ + ": the variables of the chat template", "an object", variables);
  jinja::Interpreter interpreter(tree_->parsed, options.now,
                                 {options.max_steps, options.max_output_bytes});
  try {
    const Value root = from_json(variables);
    RenderedTemplate rendered;
    rendered.text = interpreter.run(root.as_dict());
    rendered.clock_was_read = interpreter.clock_was_read();
    for (const jinja::ByteRange& range : interpreter.generation_ranges())
      rendered.generation.push_back({range.begin, range.end});
    return rendered;
  } catch (const Fault& fault) {
    translate(fault, where_, interpreter.line());
  }
}

bool ChatTemplate::reads_clock() const {
  return reads("strftime_now");
}

bool ChatTemplate::reads(std::string_view name) const {
  const std::vector<std::string>& names = tree_->parsed.context_names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> ChatTemplate::variables() const {
  std::vector<std::string> out;
  for (const std::string& name : tree_->parsed.context_names) {
    if (!jinja::global_named(name)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool ChatTemplate::marks_generation() const {
  return tree_->parsed.marks_generation;
}

Json chat_variables(const ChatInput& input) {
  if (!input.messages.is_array()) wrong_shape("messages", "an array of objects", input.messages);
  Json messages = Json::array();
  for (size_t i = 0; i < input.messages.size(); ++i) {
    if (!input.messages[i].is_object())
      wrong_shape("messages[" + std::to_string(i) + "]", "an object", input.messages[i]);
    messages.push_back(with_reasoning_names(input.messages[i]));
  }
  if (!input.tools.is_null() && !input.tools.is_array())
    wrong_shape("tools", "an array of objects", input.tools);
  if (!input.documents.is_null() && !input.documents.is_array())
    wrong_shape("documents", "an array of objects", input.documents);
  if (!input.extra.is_object()) wrong_shape("template variables", "an object", input.extra);
  Json variables = {{"messages", std::move(messages)}};
  variables["tools"] = input.tools;
  variables["documents"] = input.documents;
  variables["add_generation_prompt"] = input.add_generation_prompt;
  for (const auto& [name, value] : input.extra.items()) variables[name] = value;
  return variables;
}

namespace {

// The number that `text` has as n digits at `at`; -1: other characters are there.
int digits_at(std::string_view text, size_t at, size_t n) {
  int out = 0;
  for (const char c : text.substr(std::min(at, text.size()), n)) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return at + n <= text.size() ? out : -1;
}

bool has_shape_of_time(std::string_view text) {
  if (text.size() != 10 && text.size() != 19) return false;
  if (text[4] != '-' || text[7] != '-') return false;
  return text.size() == 10 || (text[10] == 'T' && text[13] == ':' && text[16] == ':');
}

}  // namespace

std::chrono::local_seconds parse_clock(std::string_view text) {
  const bool has_time = text.size() > 10;
  const int year = digits_at(text, 0, 4), month = digits_at(text, 5, 2),
            day = digits_at(text, 8, 2), hour = has_time ? digits_at(text, 11, 2) : 0,
            minute = has_time ? digits_at(text, 14, 2) : 0,
            second = has_time ? digits_at(text, 17, 2) : 0;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const bool in_range = year >= 1970 && date.ok() && hour >= 0 && hour < 24 && minute >= 0 &&
                        minute < 60 && second >= 0 && second < 60;
  if (!has_shape_of_time(text) || !in_range) {
    throw Error(ErrorCode::usage,
                "'" + std::string(text) +
                    "': expected a time like 2026-01-31 or 2026-01-31T12:34:56, of the years 1970 "
                    "to 9999, seconds 00 to 59",
                "--now says what a chat template's clock shows");
  }
  return std::chrono::local_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

}  // namespace isobit
