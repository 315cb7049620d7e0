#include "app/man_page.h"

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/output_schemas.h"
#include "app/version.h"

namespace isobit::app {
namespace {

// Text as roff prints it: backslashes and hyphens are themselves, and no line is a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

// The argument of a macro.
std::string roff_argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : roff(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string paragraph(std::string_view text) {
  return ".PP\n" + roff(text) + "\n";
}

std::string option_items(const std::vector<OptionWords>& options) {
  std::string out;
  for (const OptionWords& option : options)
    out += ".TP\n.B " + roff_argument(option_title(option)) + "\n" + roff(option.meaning) + "\n";
  return out;
}

std::string output_sentence(const CommandWords& command) {
  const std::string schemas = schemas_text(command.path);
  return schemas.empty() ? "" : paragraph("--json keeps to the schema " + schemas + ".");
}

// Of the command and, after it, of its own commands.
std::string section_of(const CommandWords& command) {
  std::string out = ".SS " + roff_argument(usage_line(command)) + "\n" + roff(command.summary) +
                    "\n" + option_items(command.arguments) + option_items(command.options) +
                    output_sentence(command);
  if (!command.example.empty())
    out += ".PP\nExample:\n.PP\n.EX\n" + roff("    " + command.example) + "\n.EE\n";
  for (const CommandWords& sub : command.commands) out += section_of(sub);
  return out;
}

std::string exit_codes() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitMeaning& row : kExitMeanings)
    out += fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(row.code), roff(row.meaning));
  return out;
}

constexpr std::string_view kDescription =
    ".SH DESCRIPTION\n"
    "isobit audits the determinism of LLM inference and gates upgrades on it. It runs the same\n"
    "prompts in different company, order and cut, records every token and the bits of every row "
    "of\n"
    "logits, and says which answers differ, where, and why. Results are on standard output, talk\n"
    "is on standard error.\n"
    ".PP\n"
    "Where a run is named, it is\n.BR latest ,\n.BR latest\\(ti1 ,\n"
    "an id or its beginning, @\\fIbaseline\\fR, \\fIfile\\fR.db, or \\fIfile\\fR.db:latest.\n"
    "A sample is \\fIrun\\fR/\\fIcell\\fR/\\fIprompt\\fR.\n";

constexpr std::string_view kEnding =
    ".SH ENVIRONMENT\n"
    ".TP\n.B NO_COLOR\nWhen set and not empty: no colour, unless \\-\\-color always.\n"
    ".TP\n.B TERM\nWhen it is \"dumb\": no colour.\n"
    ".SH FILES\n"
    ".TP\n.I isobit.db\nThe store, where \\-\\-store names no other.\n";

}  // namespace

std::string man_page(const CommandWords& root) {
  std::string out =
      fmt::format(".TH ISOBIT 1 \"{}\" {} {}\n.nh\n.ad l\n", release_date(),
                  roff_argument("isobit " + version_number()), roff_argument("User Commands"));
  out += ".SH NAME\nisobit \\- audit the determinism of LLM inference\n";
  out += ".SH SYNOPSIS\n.B isobit\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n";
  out += kDescription;
  out += ".SH OPTIONS\nThey stand before a command or after it.\n" + option_items(root.options);
  out += ".SH COMMANDS\n";
  for (const CommandWords& command : root.commands) out += section_of(command);
  out += exit_codes();
  return out + std::string(kEnding);
}

}  // namespace isobit::app
