// What a user writes for a run: "latest", "latest~1", an id or its beginning, "@baseline",
// "file.db", "file.db:latest", "file.db:@baseline", a bundle that `isobit store export` wrote
// ("x.isobit.tar", "x.isobit.tar:latest~1"), or a file that `isobit baseline export` wrote.
#pragma once

#include <string>

#include "app/console.h"
#include "base/shell_word.h"
#include "record/run_record.h"

namespace isobit::app {

struct RunRef {
  std::string store;
  std::string run;
};

RunRef parse_run_ref(const std::string& text, const std::string& default_store);

// Throws Error(environment or usage) naming the store and the reference.
RunRecord load_run(const std::string& ref, const std::string& default_store);

// The same to be shown: of a run that was stopped before it was complete, and that no process
// records any more, the status is "interrupted". No store or bundle keeps that word.
RunRecord load_shown_run(const std::string& ref, const std::string& default_store);

// What statements name runs by: digests of the runs as they were recorded, where they are shown or
// compared otherwise; empty: of what there is.
struct RecordedDigests {
  std::string base, candidate;
};

struct RunPair {
  RunRecord base, candidate;
  RecordedDigests digests = {};
};
// For the help of a run's argument.
inline constexpr const char* kRunHelp =
    "Run: latest, latest~1, an id or its beginning, @NAME (a baseline), file.db, file.db:latest, a "
    "bundle, or a baseline.json that `baseline export` wrote";

// How a later command that reads `store` names a run that `text` named: "latest" may be another one
// by then.
std::string lasting_ref(const std::string& text, const RunRecord& run, const std::string& store);
// The same for a base, beside a candidate whose store the command reads.
std::string base_beside(const std::string& text, const RunRecord& base,
                        const std::string& candidate, const std::string& store);

// Two runs to compare. Where one is redacted, the other is read as if it were, so that the answers
// of both can be held against each other; `console` is told, and where both are the same run.
RunPair load_run_pair(const std::string& base, const std::string& candidate,
                      const std::string& default_store, Console& console);

// For what needs token ids and texts. Throws Error(unsupported) naming the run and `what`.
void require_not_redacted(const RunRecord& run, const std::string& what);

// "isobit explain SAMPLE --base BASE --store FILE"; without a base it is held against its
// reference.
std::string explain_command(const std::string& sample, const std::string& base,
                            const GlobalFlags& flags);

// " --store FILE", or "" for the default: the end of a suggested command.
std::string store_option(const GlobalFlags& flags);

}  // namespace isobit::app
