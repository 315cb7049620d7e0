#include "app/completion_words.h"

#include <algorithm>

#include "app/output_schemas.h"
#include "gate/policy_file.h"
#include "kernels/registry.h"
#include "matrix/axes.h"

namespace isobit::app {
namespace {

using Words = std::vector<std::string>;

void append(std::vector<const CommandWords*>& out, const CommandWords& command) {
  out.push_back(&command);
  for (const CommandWords& sub : command.commands) append(out, sub);
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
    if (std::find(out.begin(), out.end(), s.name) == out.end()) out.push_back(s.name);
  return out;
}

Words schema_names() {
  Words out;
  for (const PublishedSchema& schema : published_schemas()) out.emplace_back(schema.name);
  return out;
}

Words names_of(const std::vector<CommandWords>& commands) {
  Words out;
  for (const CommandWords& command : commands) out.push_back(command.name);
  return out;
}

}  // namespace

std::vector<const CommandWords*> all_commands(const CommandWords& root) {
  std::vector<const CommandWords*> out;
  append(out, root);
  return out;
}

std::vector<std::string> value_words(const CommandWords& command, const OptionWords& option,
                                     const CommandWords& root) {
  if (!option.choices.empty()) return option.choices;
  const std::string& name = option.names.back();
  if (name == "--axis" || name == "--set") return axis_keys();
  if (name == "--policy" || command.path == "policy show" || command.path == "policy check")
    return policy_names();
  if (name == "--kernel-set") return kernel_set_names();
  if (name == "--prompts") return {"smoke", "standard", "edge"};
  if (name == "--design") return {"one-at-a-time", "grid", "pairwise"};
  if (name == "RUN" || name == "BASE" || name == "CAND") return {"latest", "latest~1"};
  if (command.path == "schema") return schema_names();
  if (command.path == "help") return names_of(root.commands);
  return {};
}

bool may_be_a_file(const OptionWords& option) {
  return option.choices.empty() && option.value.find("TEXT") != std::string::npos;
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
