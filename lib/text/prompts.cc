#include "text/prompts.h"

#include <map>

#include "base/error.h"
#include "text/prompt_formats.h"
#include "text/unicode.h"

namespace isobit {
namespace {

// Collects records and keeps their ids apart.
class RecordList {
 public:
  explicit RecordList(const std::string& where) : where_(where) {}

  void add(PromptRecord record, const std::string& place) {
    const auto [it, is_new] = places_.emplace(record.id, place);
    if (!is_new) {
      throw Error(
          ErrorCode::usage,
          where_ + ": " + place + ": the id \"" + record.id + "\" is already used by " + it->second,
          "ids name the answers of a run; give each prompt its own");
    }
    records_.push_back(std::move(record));
  }
  std::vector<PromptRecord> take() {
    if (records_.empty())
      throw Error(ErrorCode::usage, where_ + ": no prompts in it", "write one JSON object a line");
    return std::move(records_);
  }

 private:
  const std::string& where_;
  std::map<std::string, std::string> places_;
  std::vector<PromptRecord> records_;
};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::vector<PromptRecord> parse_array(std::string_view text, const std::string& where) {
  const Json array = parse_json(text, where);
  RecordList records(where);
  size_t n = 0;
  for (const Json& value : array) {
    const std::string place = "item " + std::to_string(++n);
    records.add(parse_prompt_record(value, where + ": " + place, "item-" + std::to_string(n)),
                place);
  }
  return records.take();
}

std::vector<PromptRecord> parse_lines(std::string_view text, const std::string& where) {
  RecordList records(where);
  size_t n = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string place = "line " + std::to_string(++n);
    if (is_blank(line)) continue;
    if (line.size() > kMaxPromptLineBytes) {
      throw Error(ErrorCode::usage, where + ": " + place + " is " + std::to_string(line.size()) +
                                        " bytes long, at most " +
                                        std::to_string(kMaxPromptLineBytes) + " are read");
    }
    const Json value = parse_json(line, where + ": " + place);
    records.add(parse_prompt_record(value, where + ": " + place, "line-" + std::to_string(n)),
                place);
  }
  return records.take();
}

}  // namespace

std::vector<PromptRecord> parse_prompts(std::string_view text, const std::string& where) {
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);  // a byte order mark, as some editors write
  require_utf8(text, where);
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[' ? parse_array(text, where)
                                                               : parse_lines(text, where);
}

PromptRecord parse_prompt_record(const Json& value, const std::string& where,
                                 const std::string& fallback_id) {
  const JsonFields fields(value, where, ErrorCode::usage);
  PromptRecord record;
  if (fields.has("custom_id") || fields.has("body")) {
    record = read_openai_batch_prompt(fields);
  } else if (fields.has("conversations")) {
    record = read_sharegpt_prompt(fields);
  } else if (fields.has("output_tokens_count")) {
    record = read_workload_prompt(fields);
  } else {
    record = read_native_prompt(fields);
  }
  if (record.id.empty()) record.id = fallback_id;
  return record;
}

}  // namespace isobit
