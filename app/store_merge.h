// `isobit store export|import|merge`: runs leave a store as one file, and come in from such a file
// or from another store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"

namespace isobit::app {

class StoreExchange {
 public:
  // Declares the three subcommands.
  explicit StoreExchange(CLI::App& store_app);
  // The exit code of the one that was named; nothing when none was.
  std::optional<int> run(Session& session) const;

 private:
  int export_runs(Session& session) const;
  int import_bundle(Session& session) const;
  int merge_store(Session& session) const;

  CLI::App *export_, *import_, *merge_;
  std::vector<std::string> runs_;
  std::string output_, policy_, input_, into_;
};

}  // namespace isobit::app
