// What remains of a gate's verdict, however its two runs came about: a row of the store, a
// statement, an exit code. Shared by `gate` and `gate --upgrade`.
#pragma once

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/statement_file.h"
#include "gate/verdict.h"
#include "record/run_record.h"

namespace isobit::app {

struct VerdictKeeping {
  bool fail_on_warn = false;
  bool save = false;
  StatementArguments statement;
};

// Adds --fail-on-warn, --save and what belongs to --statement.
void declare_verdict_keeping(CLI::App& app, VerdictKeeping& arguments);

class VerdictKeeper {
 public:
  // Before any work: reads the key.
  explicit VerdictKeeper(const VerdictKeeping& arguments);
  // Saves the verdict and writes the statement, where they are asked for.
  void keep(const RunRecord& base, const RunRecord& candidate, const Verdict& verdict,
            Session& session, const RecordedDigests& digests = {}) const;
  int exit_code_of(const Verdict& verdict) const;

 private:
  const VerdictKeeping& arguments_;
  StatementWriter statement_;
};

}  // namespace isobit::app
