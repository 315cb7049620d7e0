#include "app/output_options.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/file_place.h"
#include "base/locked_page.h"
#include "base/protected_files.h"

namespace isobit::app {
namespace {

namespace fs = std::filesystem;

enum class Role { kReplaced, kGrown, kLog, kStore };

struct OutputOption {
  const char* name;
  const char* shown;
  Role role;
};

// Every option of any command that names a file to write; tests/app/terminal_test.py holds the help
// of the options against it.
constexpr OutputOption kOutputOptions[] = {
    {"--output", "-o", Role::kReplaced},
    {"--summary", "--summary", Role::kGrown},
    {"--statement", "--statement", Role::kReplaced},
    {"--log-file", "--log-file", Role::kLog},
    {"--into", "--into", Role::kStore},
};

// Files that are read only when outputs are written, or after long work. A statement may vouch for
// the reports that the same command writes just before.
constexpr const char* kSubject = "--subject";
constexpr const char* kLateInputs[] = {kSubject, "--against"};

struct NamedFile {
  std::string option;
  std::string path;
  Role role;
};

// What the chosen command was given for an option, at whatever depth.
std::vector<std::string> values_of(const CLI::App& app, const char* name) {
  std::vector<std::string> out;
  for (const CLI::App* at = &app; at != nullptr;) {
    if (const CLI::Option* option = at->get_option_no_throw(name)) {
      for (const std::string& value : option->results()) {
        if (!value.empty()) out.push_back(value);
      }
    }
    const auto chosen = at->get_subcommands();
    at = chosen.empty() ? nullptr : chosen.front();
  }
  return out;
}

fs::path place_of(const std::string& name) {
  std::error_code failed;
  const fs::path place = file_place(name, failed);
  return failed ? fs::path(name) : place;
}

bool same_file(const std::string& a, const std::string& b) {
  if (place_of(a) == place_of(b)) return true;
  std::error_code missing;
  return fs::equivalent(a, b, missing) && !missing;
}

[[noreturn]] void refuse(const NamedFile& a, const NamedFile& b) {
  const std::string what =
      a.option == b.option && a.path == b.path ? a.option + " names '" + a.path + "' twice"
      : a.path == b.path ? a.option + " and " + b.option + " both name '" + a.path + "'"
                         : a.option + " '" + a.path + "' and " + b.option + " '" + b.path +
                               "' are one file, named twice";
  throw Error(ErrorCode::usage, what, "give each a file of its own");
}

void require_distinct(const std::vector<NamedFile>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool both_stores = outputs[i].role == Role::kStore && outputs[j].role == Role::kStore;
      if (!both_stores && same_file(outputs[i].path, outputs[j].path))
        refuse(outputs[j], outputs[i]);
    }
  }
}

void require_not_read(const std::vector<NamedFile>& outputs, const CLI::App& app) {
  for (const char* option : kLateInputs) {
    for (const std::string& path : values_of(app, option)) {
      for (const NamedFile& output : outputs) {
        const bool just_written = option == std::string_view(kSubject) &&
                                  (output.option == "-o" || output.option == "--summary");
        if (output.role != Role::kStore && !just_written && same_file(path, output.path))
          refuse({.option = option, .path = path, .role = output.role}, output);
      }
    }
  }
}

// A log grows from the first line on, so it is held against whatever the command line names.
void require_log_not_named(const CLI::App& app) {
  std::vector<std::string> named;
  for (const CLI::App* at = &app; at != nullptr;) {
    for (const CLI::Option* option : at->get_options()) {
      if (!option->check_lname("log-file"))
        named.insert(named.end(), option->results().begin(), option->results().end());
    }
    const auto chosen = at->get_subcommands();
    at = chosen.empty() ? nullptr : chosen.front();
  }
  for (const std::string& log : values_of(app, "--log-file")) {
    for (const std::string& value : named) {
      std::error_code missing;
      if (fs::is_regular_file(value, missing) && same_file(value, log))
        throw Error(ErrorCode::usage, "--log-file '" + log + "' is named for something else too",
                    "name another file for the log");
    }
  }
}

}  // namespace

void claim_outputs(const CLI::App& app, const GlobalFlags& flags) {
  std::vector<NamedFile> outputs = {
      {.option = "--store", .path = flags.store, .role = Role::kStore}};
  for (const OutputOption& option : kOutputOptions) {
    for (const std::string& path : values_of(app, option.name))
      outputs.push_back({.option = option.shown, .path = path, .role = option.role});
  }
  for (const NamedFile& output : outputs) {
    if (output.role == Role::kReplaced || output.role == Role::kGrown)
      require_replaceable(output.path);
  }
  require_distinct(outputs);
  require_not_read(outputs, app);
  require_log_not_named(app);
  for (const NamedFile& output : outputs) {
    if (output.role == Role::kReplaced || output.role == Role::kGrown) note_output(output.path);
  }
}

void require_output_folders(const CLI::App& app) {
  for (const OutputOption& option : kOutputOptions) {
    for (const std::string& path : values_of(app, option.name)) {
      if (option.role == Role::kReplaced) require_writable_folder(path);
      if (option.role == Role::kGrown) require_growable(path);
    }
  }
}

}  // namespace isobit::app
