// `isobit prompts [NAME]`: the prompt sets that come with isobit, and any prompt file, as JSON
// Lines to look at, to cut and to run.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/prompt_requests.h"
#include "base/error.h"
#include "report/report.h"
#include "report/text_table.h"
#include "text/prompt_sets.h"

namespace isobit::app {
namespace {

struct PromptsArguments {
  std::string name;
  std::vector<std::string> tags;
};

std::string tags_of(const std::vector<PromptRecord>& records) {
  std::vector<std::string> tags;
  for (const PromptRecord& record : records) {
    for (const std::string& tag : record.tags)
      if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
  }
  std::string out;
  for (const std::string& tag : tags) out += (out.empty() ? "" : ", ") + tag;
  return out;
}

int list(Session& session) {
  Json sets = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : builtin_prompt_set_names()) {
    const std::vector<PromptRecord> records = builtin_prompt_set(name);
    sets.push_back({{"name", name}, {"prompts", records.size()}});
    rows.push_back({name, std::to_string(records.size()), tags_of(records)});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"sets", sets}}));
    return kOk;
  }
  session.console.result(text_table(
      {{"set", Align::kLeft}, {"prompts", Align::kRight}, {"tags", Align::kLeft}}, rows));
  session.console.suggest("isobit prompts smoke > prompts.jsonl");
  return kOk;
}

bool is_wanted(const PromptRecord& record, const std::vector<std::string>& tags) {
  return tags.empty() || std::ranges::any_of(record.tags, [&](const std::string& tag) {
           return std::ranges::find(tags, tag) != tags.end();
         });
}

// A line of JSON each, also with --json: what --prompts reads back as the same requests.
int show(const PromptsArguments& a, Session& session) {
  std::string lines;
  const std::vector<PromptRecord> records = load_prompt_records(a.name);
  for (const PromptRecord& record : records)
    if (is_wanted(record, a.tags)) lines += json_line(to_json(record)) + "\n";
  if (lines.empty()) {
    std::vector<std::string> known;
    for (const PromptRecord& record : records)
      known.insert(known.end(), record.tags.begin(), record.tags.end());
    throw Error(ErrorCode::usage,
                "no prompt of '" + a.name + "' has the tag '" + a.tags[0] + "'" +
                    did_you_mean(a.tags[0], known),
                "its tags are: " + tags_of(records));
  }
  session.console.json_result(lines);
  return kOk;
}

}  // namespace

std::function<int()> declare_prompts(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<PromptsArguments>();
  CLI::Option* name =
      app.add_option("NAME", arguments->name,
                     "A set, or a file in any form that --prompts takes (default: list the sets)")
          ->check(not_empty);
  app.add_option("--tag", arguments->tags, "Only prompts with this tag (repeatable)")
      ->expected(1)
      ->take_all()
      ->needs(name);
  return [arguments, &session] {
    return arguments->name.empty() ? list(session) : show(*arguments, session);
  };
}

}  // namespace isobit::app
