// `isobit gate --upgrade OLD.json NEW.json`: the same questions under two configurations, and what
// the change did to the answers.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/report_outputs.h"
#include "app/verdict_keeper.h"
#include "compare/level.h"

namespace isobit::app {

struct UpgradeArguments {
  bool upgrade = false;  // BASE and CAND are configuration files
  std::string model;
  std::string prompts = "smoke";
  int32_t max_tokens = 16;
  std::string matrix_file;
  std::vector<std::string> axes;
  int32_t repeats = 0;
  bool record_again = false;  // even where the store holds a run of the same kind
};

// Adds --upgrade and what belongs to it.
void declare_upgrade_options(CLI::App& app, UpgradeArguments& arguments);

struct ConfigurationFiles {
  std::string before, after;
};

// What the gate of the two arms writes and keeps.
struct UpgradeResults {
  const OutputArguments& outputs;
  const VerdictKeeping& keeping;
};

// Runs both arms, or finds them in the store, prints what became of the answers, writes and keeps
// what `results` asks for, and returns the gate's exit code.
int upgrade(const ConfigurationFiles& files, Level level, const UpgradeArguments& arguments,
            const UpgradeResults& results, Session& session);

}  // namespace isobit::app
