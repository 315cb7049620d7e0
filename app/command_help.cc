// `isobit help [COMMAND...]`: --help by another way, and the same as a man page or as JSON.
#include <fmt/format.h>

#include "app/command_tree.h"
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/help_text.h"
#include "app/man_page.h"
#include "base/error.h"
#include "report/report.h"

namespace isobit::app {
namespace {

const CommandWords& named(const CommandWords& root, const std::vector<std::string>& path) {
  const CommandWords* at = &root;
  for (const std::string& word : path) {
    std::vector<std::string> known;
    const CommandWords* next = nullptr;
    for (const CommandWords& sub : at->commands) {
      known.push_back(sub.name);
      if (sub.name == word) next = &sub;
    }
    if (next == nullptr)
      throw Error(
          ErrorCode::usage,
          fmt::format("there is no command '{}'{}", at->path.empty() ? word : at->path + " " + word,
                      did_you_mean(word, known)),
          "isobit help lists them");
    at = next;
  }
  return *at;
}

}  // namespace

std::function<int()> declare_help(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::vector<std::string>>();
  auto man = std::make_shared<bool>(false);
  app.add_option("COMMAND", *path, "A command and, where it has some, one of its own commands");
  app.add_flag("--man", *man, "The manual page of the whole program, as roff for man(1)");
  return [path, man, &app, &session] {
    const CommandWords root = words_of(root_of(app));
    if (*man && !path->empty())
      throw Error(ErrorCode::usage, "--man is the page of the whole program",
                  "isobit help --man, without a command");
    const CommandWords& command = named(root, *path);
    session.console.result(session.flags.json ? json_line(help_json(command)) + "\n"
                           : *man             ? man_page(root)
                                              : help_text(command));
    return kOk;
  };
}

}  // namespace isobit::app
