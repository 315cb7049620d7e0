// Parses the command line, runs one command, and maps every way of failing to an exit code
// (app/exit_codes.h).
#include <fcntl.h>
#include <sys/resource.h>
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
#include "app/output_options.h"
#include "app/version.h"
#include "base/protected_files.h"
#include "report/report.h"

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

// The command that the arguments name, as deep as they go.
const CLI::App& named_command(const CLI::App& app) {
  const CLI::App* named = &app;
  while (!named->get_subcommands().empty()) named = named->get_subcommands().front();
  return *named;
}

// What --help and --version print.
void print_asked(const CLI::App& app, const CLI::Success& e, Console& console) {
  const bool version = dynamic_cast<const CLI::CallForVersion*>(&e) != nullptr;
  if (app.count("--json") > 0)
    console.json_result(
        json_line(version ? version_json() : help_json(words_of(named_command(app)))));
  else
    console.result(version ? version_text() + "\n" : help_text(words_of(named_command(app))));
}

// Where the arguments are explained.
std::string help_of(const CLI::App& app) {
  const std::string path = words_of(named_command(app)).path;
  return path.empty() ? "isobit --help, or isobit COMMAND --help" : "isobit " + path + " --help";
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
  write_stderr(fmt::format("isobit: {}\nhint: {}\n", printable(message), help_of(app)));
  return kUsage;
}

// SQLite says no more than that writing failed.
std::string file_limit_text() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  return fmt::format("a file may have at most {} bytes here (ulimit -f), which was not enough",
                     limit.rlim_cur);
}

int report_error(const Error& e, Console& console) {
  console.error("isobit: " + printable(e.message()));
  if (!e.hint().empty()) console.error("hint: " + printable(e.hint()));
  if (file_limit_was_met()) console.error("hint: " + file_limit_text());
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

// A standard stream that is closed would lend its number to the next file that is opened, which
// would then get what is meant for the stream. In its place comes what cannot be written.
void keep_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int lent = ::open("/dev/null", O_RDONLY);
  }
}

// A usage error that has no advice of its own points to the command's help.
int act(const CommandLine& line, Session& session) {
  try {
    claim_outputs(line.app(), session.flags);
    session.console.configure(session.flags);
    require_output_folders(line.app());
    return line.act();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::usage || !e.hint().empty()) throw;
    throw Error(e.code(), e.message(), help_of(line.app()));
  }
}

int run(int argc, char** argv, Session& session) {
  keep_standard_streams();
  let_writes_fail();
  watch_file_uses();
  CommandLine line(session);
  try {
    line.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    print_asked(line.app(), e, session.console);
    return kOk;
  } catch (const CLI::ParseError& e) {
    return report_usage(line.app(), e, argc, argv);
  }
  change_directory(session.flags.directory);
  return act(line, session);
}

}  // namespace
}  // namespace isobit::app

int main(int argc, char** argv) {
  using namespace isobit;
  app::Session session;  // outlives the command: its log has what ended it, too
  try {
    return app::run(argc, argv, session);
  } catch (const Error& e) {
    return app::report_error(e, session.console);
  } catch (const std::bad_alloc&) {
    return app::report_error(Error(ErrorCode::environment, "out of memory",
                                   "lower the concurrency, or use a smaller weight type"),
                             session.console);
  } catch (const std::filesystem::filesystem_error& e) {  // where nobody looked before
    return app::report_error(Error(ErrorCode::environment, "cannot look at '" + e.path1().string() +
                                                               "': " + e.code().message()),
                             session.console);
  } catch (const std::exception& e) {
    return app::report_error(
        Error(ErrorCode::internal, e.what(),
              "this is a bug in isobit; please report it with the command that caused it"),
        session.console);
  }
}
