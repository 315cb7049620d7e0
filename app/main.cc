// Parses the command line, runs one command, and maps every way of failing to an exit code
// (app/exit_codes.h).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/chat_renderer.h"
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/interruption.h"
#include "app/version.h"

namespace isobit::app {
namespace {

void declare_global_flags(CLI::App& app, GlobalFlags& flags) {
  app.add_option("--store", flags.store, "Store file (default: isobit.db)");
  app.add_flag("--json", flags.json, "Results as JSON on stdout");
  app.add_flag("--plain", flags.plain, "No colour, no progress bar");
  app.add_flag("-q,--quiet", flags.quiet, "Results only");
  app.add_flag("-v,--verbose", flags.verbose, "Say more on stderr");
  app.add_option("--log-file", flags.log_file, "Append everything said on stderr to this file");
  app.add_option("--color", flags.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--progress", flags.progress, "auto, bar, lines or none")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}));
  app.add_flag("--no-input", flags.no_input, "Never ask");
  app.add_option("-C", flags.directory, "Change to this folder first");
  app.add_option("--now", flags.now,
                 std::string("What a chat template's clock says: 2026-01-31 or "
                             "2026-01-31T12:34:56 (default: ") +
                     kPinnedNow +
                     "); the day on which overrides of a policy expire (default: today)");
}

// "--chek 2 (did you mean '--check'?)": what no command took, in the order of the command line.
std::string unexpected_arguments(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> flags;
  for (const CLI::App* owner : {&app, &command}) {
    for (const CLI::Option* option : owner->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  std::string out = "unexpected:", meant;
  for (const std::string& word : app.remaining(true)) {
    out += " " + printable(word);
    if (meant.empty() && word.starts_with("--"))
      meant = did_you_mean(word.substr(0, word.find('=')), flags);
  }
  return out + meant;
}

// Says what was wrong, and where it helps, which command was meant.
int report_usage(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
  std::string message =
      dynamic_cast<const CLI::ExtrasError*>(&e) ? unexpected_arguments(app) : e.what();
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(c.name);
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    message =
        fmt::format("unknown command '{}'{}", printable(argv[1]), did_you_mean(argv[1], names));
  }
  write_stderr(fmt::format("isobit: {}\nhint: isobit --help, or isobit COMMAND --help\n", message));
  return kUsage;
}

int report_error(const Error& e) {
  write_stderr(fmt::format("isobit: {}\n", printable(e.message())));
  if (!e.hint().empty()) write_stderr(fmt::format("hint: {}\n", printable(e.hint())));
  return exit_code(e.code());
}

int run(int argc, char** argv) {
  CLI::App app{"isobit: does my LLM give the same answer twice? And after the upgrade?", "isobit"};
  Session session;
  declare_global_flags(app, session.flags);
  app.set_version_flag("--version", version_text());
  app.require_subcommand(1);
  app.fallthrough();
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(std::string("Example:\n  ") + command.example);
    sub->fallthrough();
    actions.emplace_back(sub, command.declare(*sub, session));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return report_usage(app, e, argc, argv);
  }
  if (!session.flags.directory.empty()) {
    std::error_code failed;
    std::filesystem::current_path(session.flags.directory, failed);
    if (failed)
      throw Error(ErrorCode::environment,
                  "cannot change to '" + session.flags.directory + "': " + failed.message());
  }
  session.console.configure(session.flags);
  ignore_closed_pipes();
  for (auto& [sub, action] : actions) {
    if (sub->parsed()) return action();
  }
  return kUsage;
}

}  // namespace
}  // namespace isobit::app

int main(int argc, char** argv) {
  using namespace isobit;
  try {
    return app::run(argc, argv);
  } catch (const Error& e) {
    return app::report_error(e);
  } catch (const std::bad_alloc&) {
    return app::report_error(Error(ErrorCode::environment, "out of memory",
                                   "lower the concurrency, or use a smaller weight type"));
  } catch (const std::exception& e) {
    return app::report_error(
        Error(ErrorCode::internal, e.what(),
              "this is a bug in isobit; please report it with the command that caused it"));
  }
}
