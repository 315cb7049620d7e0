// `--statement FILE`: a verdict as an in-toto statement, signed where a key is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/run_refs.h"
#include "gate/verdict.h"
#include "record/run_record.h"
#include "statement/in_toto.h"
#include "statement/signing_key.h"

namespace isobit::app {

struct StatementArguments {
  std::string file, key_file, key_variable;
  std::vector<std::string> subjects;
};

// --statement, --sign-key, --sign-key-env, --subject.
void declare_statement_options(CLI::App& app, StatementArguments& arguments);

// Reads the key before any work is done, so that a slip costs nothing.
class StatementWriter {
 public:
  explicit StatementWriter(const StatementArguments& arguments);
  // Does nothing without --statement. `base` is null for a run that was held against itself.
  void write(const RunRecord* base, const RunRecord& candidate, const Verdict& verdict,
             Session& session, const RecordedDigests& digests = {}) const;

 private:
  const StatementArguments& arguments_;
  std::optional<SigningKey> key_;
};

// A file's name without its folder, and its SHA-256.
Resource file_resource(const std::string& path);

}  // namespace isobit::app
