// Parses the command line, runs one command, and maps every way of failing to an exit code
// (app/exit_codes.h).
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <new>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/exit_codes.h"
#include "app/help_text.h"
#include "app/interruption.h"
#include "app/version.h"

namespace isobit::app {
namespace {

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

// What --help or --version prints.
std::string asked_text(const CLI::App& app, const CLI::Success& e) {
  if (dynamic_cast<const CLI::CallForVersion*>(&e)) return version_text() + "\n";
  const CLI::App* asked = &app;
  while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
  return help_text(words_of(*asked));
}

// Says what was wrong, and where it helps, which command was meant.
int report_usage(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  std::string message =
      dynamic_cast<const CLI::ExtrasError*>(&e) ? unexpected_arguments(app) : e.what();
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(c.name);
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    message =
        fmt::format("unknown command '{}'{}", printable(argv[1]), did_you_mean(argv[1], names));
  }
  write_stderr(fmt::format("isobit: {}\nhint: isobit --help, or isobit COMMAND --help\n",
                           printable(message)));
  return kUsage;
}

int report_error(const Error& e) {
  write_stderr(fmt::format("isobit: {}\n", printable(e.message())));
  if (!e.hint().empty()) write_stderr(fmt::format("hint: {}\n", printable(e.hint())));
  return exit_code(e.code());
}

void change_directory(const std::string& directory) {
  if (directory.empty()) return;
  std::error_code failed;
  std::filesystem::current_path(directory, failed);
  if (failed)
    throw Error(ErrorCode::environment,
                "cannot change to '" + directory + "': " + failed.message());
}

int run(int argc, char** argv) {
  Session session;
  CommandLine line(session);
  try {
    line.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    session.console.result(asked_text(line.app(), e));
    return kOk;
  } catch (const CLI::ParseError& e) {
    return report_usage(line.app(), e, argc, argv);
  }
  change_directory(session.flags.directory);
  session.console.configure(session.flags);
  let_writes_fail();
  return line.act();
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
