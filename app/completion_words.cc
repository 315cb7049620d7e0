#include "app/completion_words.h"

#include <algorithm>

#include "app/output_schemas.h"
#include "gate/policy_file.h"
#include "kernels/registry.h"

namespace isobit::app {
namespace {

using Words = std::vector<std::string>;

void append(std::vector<const CommandWords*>& out, const CommandWords& command) {
  out.push_back(&command);
  for (const CommandWords& sub : command.commands) append(out, sub);
}

void add_once(Words& out, const std::string& word) {
  if (std::find(out.begin(), out.end(), word) == out.end()) out.push_back(word);
}

Words axis_keys() {
  Words out;
  for (const Axis& axis : axes()) out.push_back(axis.key + "=");
  return out;
}

Words policy_names() {
  Words out;
  for (const ReadyPolicy& ready : ready_policies()) out.emplace_back(ready.name);
  return out;
}

Words kernel_set_names() {
  Words out;
  for (const KernelSetStatus& s : list_kernel_sets())
    if (s.available) add_once(out, s.name);
  return out;
}

Words schema_names() {
  Words out;
  for (const PublishedSchema& schema : published_schemas()) out.emplace_back(schema.name);
  return out;
}

bool names_a_run(const CommandWords& command, const std::string& name) {
  if (name == "--against") return command.path != "selftest";
  return name == "RUN" || name == "BASE" || name == "CAND" || name == "SAMPLE" || name == "--runs";
}

// What `help` says something about, below `path`: names and what they are for, nothing else.
std::vector<CommandWords> topics(const std::vector<CommandWords>& commands,
                                 const std::string& path) {
  std::vector<CommandWords> out;
  for (const CommandWords& command : commands) {
    CommandWords topic;
    topic.name = command.name;
    topic.path = path + " " + command.name;
    topic.summary = command.summary;
    topic.commands = topics(command.commands, topic.path);
    out.push_back(std::move(topic));
  }
  return out;
}

}  // namespace

CommandWords completed_commands(CommandWords root) {
  const std::vector<CommandWords> all = topics(root.commands, "help");
  for (CommandWords& command : root.commands) {
    if (command.path != "help") continue;
    command.commands = all;
    command.arguments.clear();
  }
  return root;
}

std::vector<const CommandWords*> all_commands(const CommandWords& root) {
  std::vector<const CommandWords*> out;
  append(out, root);
  return out;
}

Words value_words(const CommandWords& command, const OptionWords& option) {
  if (!option.choices.empty()) return option.choices;
  const std::string& name = option.names.back();
  if (name == "--axis" || name == "--set") return axis_keys();
  if (name == "--policy" || command.path == "policy show" || command.path == "policy check")
    return policy_names();
  if (name == "--kernel-set") return kernel_set_names();
  if (name == "--prompts") return {"smoke", "standard", "edge"};
  if (name == "--design") return {"one-at-a-time", "grid"};
  if (name == "--level" || name == "--check") return {"0", "1", "2"};
  if (names_a_run(command, name)) return {"latest", "latest~1"};
  if (command.path == "schema") return schema_names();
  return {};
}

Words argument_words(const CommandWords& command) {
  Words out;
  for (const OptionWords& argument : command.arguments)
    for (const std::string& word : value_words(command, argument)) add_once(out, word);
  return out;
}

Words axis_words(const Axis& axis) {
  return axis.key == "engine.kernel_set" ? kernel_set_names() : axis.words;
}

bool may_be_a_file(const OptionWords& option) {
  return option.choices.empty() && option.value.find("TEXT") != std::string::npos;
}

bool arguments_may_be_files(const CommandWords& command) {
  return std::any_of(command.arguments.begin(), command.arguments.end(), may_be_a_file);
}

std::vector<std::string> steps(const CommandWords& root) {
  Words out;
  for (const CommandWords* command : all_commands(root)) {
    for (const CommandWords& sub : command->commands) out.push_back(command->path + "/" + sub.name);
  }
  return out;
}

std::string in_short(const std::string& text) {
  constexpr size_t kMost = 60;
  std::string out = text.substr(0, text.find_first_of(";:("));
  if (out.size() > kMost) out.resize(out.rfind(' ', kMost));
  out.erase(out.find_last_not_of(" ,") + 1);
  return out;
}

}  // namespace isobit::app
