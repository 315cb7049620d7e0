#include "why/sample_ref.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/error.h"
#include "compare/sample_name.h"

namespace isobit {
namespace {

std::optional<int32_t> whole_number(std::string_view word) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size() && value >= 0;
  return whole ? std::optional(value) : std::nullopt;
}

std::string shown(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
    out += (i ? ", " : "") + ("'" + names[i].substr(0, 80) + "'");
  if (names.size() > kShown) out += " and " + std::to_string(names.size() - kShown) + " more";
  return out;
}

// What a list of named things is called, for messages.
struct Named {
  const char* kind;  // "cell"
  std::string where;
  std::vector<std::string> names;  // by index
};

[[noreturn]] void refuse_several(const Named& list, std::string_view word,
                                 const std::vector<std::string>& names) {
  throw Error(ErrorCode::usage,
              "'" + std::string(word) + "' names " + std::to_string(names.size()) + " " +
                  list.kind + "s of " + list.where + ": " + shown(names),
              std::string("write more of the name, or the ") + list.kind + "'s index");
}

int32_t find_named(const Named& list, std::string_view word) {
  std::vector<int32_t> whole, beginning;
  for (size_t i = 0; i < list.names.size(); ++i) {
    if (list.names[i] == word) whole.push_back(static_cast<int32_t>(i));
    if (list.names[i].starts_with(word)) beginning.push_back(static_cast<int32_t>(i));
  }
  if (whole.size() == 1) return whole[0];
  const auto index = whole.empty() ? whole_number(word) : std::nullopt;
  if (index && static_cast<size_t>(*index) < list.names.size()) return *index;
  if (whole.empty() && beginning.size() == 1 && !word.empty()) return beginning[0];
  std::vector<std::string> names;
  for (const int32_t i : whole.empty() ? beginning : whole)
    names.push_back(list.names[static_cast<size_t>(i)]);
  if (names.size() > 1 && !word.empty()) refuse_several(list, word, names);
  throw Error(ErrorCode::usage,
              list.where + " has no " + list.kind + " '" + std::string(word.substr(0, 80)) + "'" +
                  did_you_mean(word, list.names),
              std::string("its ") + list.kind + "s are " + shown(list.names));
}

Named cells_of(const RunRecord& run) {
  Named list{.kind = "cell", .where = "run " + run.id, .names = {}};
  for (const CellRecord* cell : cells_in_order(run)) list.names.push_back(cell->name);
  return list;
}

Named prompts_of(const RunRecord& run) {
  Named list{.kind = "prompt", .where = "run " + run.id, .names = {}};
  for (const Request& request : run.requests) list.names.push_back(request.id);
  return list;
}

bool is_name_of_cell(const RunRecord& run, std::string_view word) {
  return std::any_of(run.cells.begin(), run.cells.end(),
                     [&](const CellRecord& cell) { return cell.name == word; });
}

// Names may hold slashes; the longest beginning that is a cell's whole name goes first.
size_t end_of_cell(const RunRecord& run, std::string_view words) {
  for (size_t slash = words.rfind('/'); slash != std::string_view::npos && slash > 0;
       slash = words.rfind('/', slash - 1)) {
    if (is_name_of_cell(run, words.substr(0, slash))) return slash;
  }
  return words.find('/');
}

// Takes "#2" or "#2.1" off the end; false when there is none.
bool take_repeat_and_choice(std::string_view& words, SampleKey& key) {
  const size_t mark = words.rfind('#');
  if (mark == std::string_view::npos) return false;
  const std::string_view numbers = words.substr(mark + 1);
  const size_t dot = numbers.find('.');
  const auto repeat = whole_number(numbers.substr(0, dot));
  const auto choice =
      dot == std::string_view::npos ? std::optional(0) : whole_number(numbers.substr(dot + 1));
  if (!repeat || !choice) return false;
  key.repeat = *repeat;
  key.sample_index = *choice;
  words = words.substr(0, mark);
  return true;
}

[[noreturn]] void refuse_missing(const RunRecord& run, const SampleAddress& address) {
  const std::string what = "run " + run.id + " has no sample " + sample_ref(run, address);
  if (run.status == "complete")
    throw Error(ErrorCode::usage, what, "repeats and choices count from 0: PROMPT#REPEAT.CHOICE");
  throw Error(ErrorCode::incomplete, what + ": the run has not finished",
              "isobit run --resume --run-id " + run.id + " finishes it");
}

}  // namespace

int32_t find_cell(const RunRecord& run, std::string_view word) {
  const int32_t place = find_named(cells_of(run), word);
  return cells_in_order(run)[static_cast<size_t>(place)]->index;
}

int32_t find_prompt(const RunRecord& run, std::string_view word) {
  return find_named(prompts_of(run), word);
}

SampleAddress find_sample(const RunRecord& run, std::string_view words) {
  const size_t slash = end_of_cell(run, words);
  if (slash == std::string_view::npos || slash + 1 == words.size()) {
    throw Error(
        ErrorCode::usage,
        "'" + std::string(words) +
            "' names no sample: CELL/PROMPT is expected after the "
            "run",
        "a sample is RUN/CELL/PROMPT, for example latest/0/0: the first cell's first prompt");
  }
  SampleAddress address{.cell_index = find_cell(run, words.substr(0, slash)), .key = {}};
  std::string_view prompt = words.substr(slash + 1);
  const bool is_whole_id = std::any_of(run.requests.begin(), run.requests.end(),
                                       [&](const Request& r) { return r.id == prompt; });
  if (!is_whole_id) take_repeat_and_choice(prompt, address.key);
  address.key.prompt_index = find_prompt(run, prompt);
  if (!RecordedSamples(run).find(address.cell_index, address.key)) refuse_missing(run, address);
  return address;
}

const Trace& trace_at(const RunRecord& run, const SampleAddress& address) {
  const Trace* trace = RecordedSamples(run).find(address.cell_index, address.key);
  ISOBIT_REQUIRE(trace != nullptr);
  return *trace;
}

std::string sample_ref(const RunRecord& run, const SampleAddress& address) {
  const SampleKey& key = address.key;
  return text_of({.run_id = run.id,
                  .cell = cell_at(run, address.cell_index).name,
                  .request_id = run.requests[static_cast<size_t>(key.prompt_index)].id,
                  .repeat = key.repeat,
                  .sample_index = key.sample_index});
}

}  // namespace isobit
