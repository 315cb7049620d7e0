// The bash script: one function that finds the command among the words so far, and offers what may
// come next. It needs no bash-completion package.
#include <fmt/format.h>

#include "app/completion.h"
#include "app/completion_words.h"

namespace isobit::app {
namespace {

constexpr std::string_view kHead =
    "# bash completion for isobit, written by `isobit completion bash`.\n"
    "# Use: source <(isobit completion bash)\n"
    "_isobit() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local command= words= options= files= i\n"
    "    if [[ $prev == = ]]; then  # --flag=value, axis=value\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case \"$command/${COMP_WORDS[i]}\" in\n";

constexpr std::string_view kTail =
    "    if [[ $cur == -* ]]; then\n"
    "        words=\"$options $global\"\n"
    "        files=\n"
    "    fi\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY=($(compgen -W \"${words// /$'\\n'}\" -- \"$cur\"))\n"
    "    if [[ $files ]]; then\n"
    "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "    return 0\n"
    "}\n"
    "complete -F _isobit isobit\n";

std::string set_words(const std::vector<std::string>& words, bool files) {
  return fmt::format("words=\"{}\"{}", fmt::join(words, " "), files ? " files=1" : "");
}

// After an option that takes a value: its words, and nothing else.
std::string values(const CommandWords& command) {
  std::string out;
  for (const OptionWords& option : command.options) {
    if (option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(command.path.empty() ? "*\" " + name + "\""
                                              : fmt::format("\"{} {}\"", command.path, name));
    out += fmt::format("        {}) {} ;;\n", fmt::join(patterns, "|"),
                       set_words(value_words(command, option), may_be_a_file(option)));
  }
  return out;
}

std::string axis_values() {
  std::string out;
  for (const Axis& axis : axes()) {
    if (!axis.words.empty())
      out += fmt::format("        *\" {}\") {} ;;\n", axis.key, set_words(axis_words(axis), false));
  }
  return out;
}

std::vector<std::string> option_names(const CommandWords& command) {
  std::vector<std::string> out;
  for (const OptionWords& option : command.options)
    out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

// Where no option waits for a value: commands, values of arguments, options.
std::string rest(const CommandWords& command) {
  std::vector<std::string> words = argument_words(command);
  for (const CommandWords& sub : command.commands) words.push_back(sub.name);
  return fmt::format("            \"{}\") {} options=\"{}\" ;;\n", command.path,
                     set_words(words, arguments_may_be_files(command)),
                     fmt::join(option_names(command), " "));
}

}  // namespace

std::string bash_completion(const CommandWords& root) {
  std::string out(kHead);
  out += fmt::format(
      "            \"{}\")\n"
      "                command=${{command:+$command }}${{COMP_WORDS[i]}} ;;\n"
      "        esac\n    done\n    local global=\"{}\"\n    case \"$command $prev\" in\n",
      fmt::join(steps(root), "\"|\""), fmt::join(option_names(root), " "));
  for (const CommandWords* command : all_commands(root))
    if (command != &root) out += values(*command);
  out += values(root) + axis_values();
  out += "        *) case \"$command\" in\n";
  for (const CommandWords* command : all_commands(root)) out += rest(*command);
  return out + "        esac ;;\n    esac\n" + std::string(kTail);
}

}  // namespace isobit::app
