#include "app/command_line.h"

#include <algorithm>
#include <string_view>

#include "app/chat_renderer.h"
#include "app/exit_codes.h"
#include "app/help_text.h"
#include "app/version.h"
#include "base/error.h"
#include "text/chat_template.h"

namespace isobit::app {
namespace {

// Why it is no time; leaves "2026-01-31" or "2026-01-31T12:34:56".
std::string time_fault(std::string& now) {
  if (now.size() > 10 && now.ends_with('Z')) now.pop_back();
  try {
    parse_clock(now);
    return "";
  } catch (const Error& e) {
    return e.message();
  }
}

void declare_global_flags(CLI::App& app, GlobalFlags& flags) {
  app.add_option("--store", flags.store, "Store file (default: isobit.db)");
  app.add_flag("--json", flags.json, "Results as JSON on stdout");
  app.add_flag("--plain", flags.plain, "No colour, no progress bar");
  app.add_flag("-q,--quiet", flags.quiet, "Results only");
  app.add_flag("-v,--verbose", flags.verbose, "Say more on stderr");
  app.add_option("--log-file", flags.log_file, "Append everything said on stderr to this file");
  app.add_option("--color", flags.color,
                 "Colour beside the words, never instead of them (default: auto, which NO_COLOR "
                 "turns off)")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--progress", flags.progress,
                 "A bar on a terminal, a line per finished cell elsewhere (default: auto)")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}));
  app.add_flag("--no-input", flags.no_input, "Never ask");
  app.add_option("-C", flags.directory, "Change to this folder first");
  app.add_option("--now", flags.now,
                 std::string("What a chat template's clock says: 2026-01-31 or "
                             "2026-01-31T12:34:56 (default: ") +
                     kPinnedNow +
                     "); the day on which overrides of a policy expire (default: today)")
      ->transform(CLI::Validator(time_fault, ""));
}

// A text of no characters is a text, no ids are a list of ids, no flags are a list of flags.
constexpr std::string_view kMayBeEmpty[] = {"--text", "--ids", "--llama-flags"};

std::string refuse_empty(const std::string& value) {
  return value.empty() ? "the value is empty" : "";
}

// An unset variable of a script, as in --level "$LEVEL" or report latest "$BASE", is neither the
// number 0 nor an argument that was left out. What follows an option's value is not its value too.
void hold_to_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    const bool may_be_empty =
        std::ranges::find(kMayBeEmpty, option->get_name()) != std::end(kMayBeEmpty);
    if (!may_be_empty) option->check(refuse_empty, "");
    if (!option->get_positional()) option->allow_extra_args(false);
  }
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    hold_to_values(*sub);
}

}  // namespace

CommandLine::CommandLine(Session& session)
    : app_("isobit: does my LLM give the same answer twice? And after the upgrade?", "isobit") {
  app_.formatter(std::make_shared<HelpFormatter>());
  app_.set_help_flag("-h,--help", "Print this help and exit");
  declare_global_flags(app_, session.flags);
  app_.set_version_flag("--version", version_text, "Version, contract, kernel sets and build");
  app_.footer("Example:\n  isobit demo");
  app_.require_subcommand(1);
  app_.fallthrough();
  for (const Command& command : commands()) {
    CLI::App* sub = app_.add_subcommand(command.name, command.summary);
    sub->footer(std::string("Example:\n  ") + command.example);
    sub->fallthrough();
    actions_.emplace_back(sub, command.declare(*sub, session));
  }
  hold_to_values(app_);
}

int CommandLine::act() const {
  for (const auto& [sub, action] : actions_) {
    if (sub->parsed()) return action();
  }
  return kUsage;
}

}  // namespace isobit::app
