// `isobit store prune`: which runs go, by number, age or name, and what that freed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace isobit::app {

struct PruneArguments {
  std::optional<int64_t> keep;    // the latest so many stay
  std::string before;             // a day or a time, UTC: what was recorded earlier goes
  std::vector<std::string> runs;  // references
  bool with_baselines = false;
  bool dry_run = false;
};

void declare_store_prune(CLI::App& app, PruneArguments& arguments);
int prune_store(const PruneArguments& arguments, Session& session);

}  // namespace isobit::app
