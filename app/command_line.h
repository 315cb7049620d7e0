// The tree that the command line is parsed with: the global flags and every command of the table.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace isobit::app {

class CommandLine {
 public:
  // `session` must outlive it: flags are parsed into it.
  explicit CommandLine(Session& session);

  // Throws CLI::ParseError.
  void parse(int argc, char** argv) { app_.parse(argc, argv); }
  // The command that was parsed.
  int act() const;

  const CLI::App& app() const { return app_; }

 private:
  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions_;
};

}  // namespace isobit::app
