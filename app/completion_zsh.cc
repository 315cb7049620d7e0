// The zsh script: a function for $fpath, with descriptions.
#include <fmt/format.h>

#include "app/completion.h"
#include "app/completion_words.h"

namespace isobit::app {
namespace {

constexpr std::string_view kHead =
    "#compdef isobit\n"
    "# zsh completion for isobit, written by `isobit completion zsh`.\n"
    "# Use: isobit completion zsh > \"${fpath[1]}/_isobit\"\n"
    "_isobit() {\n"
    "  local command=\n"
    "  local -i i\n"
    "  local -a commands options values global\n"
    "  for ((i = 2; i < CURRENT; i++)); do\n"
    "    case \"$command/$words[i]\" in\n";

constexpr std::string_view kTail =
    "  if [[ $PREFIX == -* ]]; then\n"
    "    _describe -o option options -- global\n"
    "    return\n"
    "  fi\n"
    "  (( $#commands )) && _describe command commands\n"
    "  (( $#values )) && compadd -- $values\n"
    "  [[ -n $files ]] && _files\n"
    "  return 0\n"
    "}\n"
    "if [[ $funcstack[1] == _isobit ]]; then\n"
    "  _isobit \"$@\"\n"
    "else\n"
    "  compdef _isobit isobit\n"
    "fi\n";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// 'name:what it does', as _describe reads it.
std::string described(const std::string& name, const std::string& what) {
  return quoted(name + ":" + in_short(what));
}

std::string option_list(const CommandWords& command) {
  std::vector<std::string> out;
  for (const OptionWords& option : command.options)
    for (const std::string& name : option.names) out.push_back(described(name, option.meaning));
  return fmt::format("{}", fmt::join(out, " "));
}

std::string value_list(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) out.push_back(quoted(word));
  return fmt::format("{}", fmt::join(out, " "));
}

// An axis key that is to be followed by its value ends with "=": no space after it.
std::string offer(const std::vector<std::string>& words, bool files) {
  std::string out;
  if (!words.empty())
    out = fmt::format("compadd {}-- {}; ", words.front().ends_with('=') ? "-S '' " : "",
                      value_list(words));
  return out + (files ? "_files; " : "") + "return";
}

std::string values(const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(command.path.empty() ? "*\" " + name + "\""
                                              : fmt::format("\"{} {}\"", command.path, name));
    out += fmt::format("    ({}) {} ;;\n", fmt::join(patterns, "|"),
                       offer(value_words(command, option), may_be_a_file(option)));
  }
  return out;
}

std::string rest(const CommandWords& command) {
  std::vector<std::string> commands;
  for (const CommandWords& sub : command.commands)
    commands.push_back(described(sub.name, sub.summary));
  return fmt::format(
      "    (\"{}\")\n      commands=({})\n      options=({})\n      values=({}){} ;;\n",
      command.path, fmt::join(commands, " "), command.path.empty() ? "" : option_list(command),
      value_list(argument_words(command)), arguments_may_be_files(command) ? " files=1" : "");
}

}  // namespace

std::string zsh_completion(const CommandWords& root) {
  std::string out(kHead);
  out += fmt::format(
      "      (\"{}\") command=\"${{command:+$command }}$words[i]\" ;;\n    esac\n  done\n"
      "  local files=\n  global=({})\n  case \"$command $words[CURRENT-1]\" in\n",
      fmt::join(steps(root), "\"|\""), option_list(root));
  for (const CommandWords* command : all_commands(root))
    if (command != &root) out += values(*command);
  out += values(root) + "  esac\n  case \"$command\" in\n";
  for (const CommandWords* command : all_commands(root)) out += rest(*command);
  return out + "  esac\n" + std::string(kTail);
}

}  // namespace isobit::app
