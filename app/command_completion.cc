// `isobit completion bash|zsh|fish`: a script for the shell to read.
#include "app/command_tree.h"
#include "app/commands.h"
#include "app/completion.h"
#include "app/completion_words.h"
#include "app/exit_codes.h"
#include "report/report.h"

namespace isobit::app {
namespace {

std::string script_for(const std::string& shell, const CommandWords& root) {
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace

std::function<int()> declare_completion(CLI::App& app, Session& session) {
  auto chosen = std::make_shared<std::string>();
  app.add_option("SHELL", *chosen, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [chosen, &app, &session] {
    const std::string script = script_for(*chosen, completed_commands(words_of(root_of(app))));
    if (session.flags.json)
      session.console.json_result(json_line({{"shell", *chosen}, {"script", script}}));
    else
      session.console.raw_result(script);
    return kOk;
  };
}

}  // namespace isobit::app
