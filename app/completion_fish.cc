// The fish script: one `complete` line for each command and option, with descriptions.
#include <fmt/format.h>

#include "app/completion.h"
#include "app/completion_words.h"

namespace isobit::app {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string head(const CommandWords& root) {
  return fmt::format(
      "# fish completion for isobit, written by `isobit completion fish`.\n"
      "# Use: isobit completion fish > ~/.config/fish/completions/isobit.fish\n"
      "function __isobit_at\n"
      "    set -l command\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        switch \"$command/$word\"\n"
      "            case '{}'\n"
      "                set command (string trim \"$command $word\")\n"
      "        end\n"
      "    end\n"
      "    test \"$command\" = \"$argv\"\n"
      "end\n",
      fmt::join(steps(root), "' '"));
}

std::string line(const CommandWords& command, const std::string& what) {
  return fmt::format("complete -c isobit -n {} {}\n", quoted("__isobit_at " + command.path), what);
}

std::string word_list(const std::vector<std::string>& words) {
  return words.empty() ? "" : " -a " + quoted(fmt::format("{}", fmt::join(words, " ")));
}

std::string option_line(const CommandWords& command, const OptionWords& option) {
  std::string out;
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty())
    out += (may_be_a_file(option) ? " -r" : " -x") + word_list(value_words(command, option));
  out = out.substr(1) + " -d " + quoted(in_short(option.meaning));
  return command.path.empty() ? "complete -c isobit " + out + "\n" : line(command, out);
}

std::string lines(const CommandWords& command) {
  std::string out;
  for (const CommandWords& sub : command.commands)
    out += line(command, "-a " + sub.name + " -d " + quoted(in_short(sub.summary)));
  const std::vector<std::string> words = argument_words(command);
  if (!words.empty()) out += line(command, word_list(words).substr(1));
  if (!arguments_may_be_files(command)) out += line(command, "-f");
  for (const OptionWords& option : command.options) out += option_line(command, option);
  return out;
}

}  // namespace

std::string fish_completion(const CommandWords& root) {
  std::string out = head(root);
  for (const CommandWords* command : all_commands(root)) out += lines(*command);
  return out;
}

}  // namespace isobit::app
