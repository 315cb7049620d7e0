// A recorded run set up to be asked again: its checkpoint, its plan and a target, after checking
// that they are still what was recorded. Used by `explain`, `bisect`, `reduce` and `replay`.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "app/commands.h"
#include "app/loaded_model.h"
#include "record/run_record.h"
#include "targets/builtin_target.h"
#include "why/recorded_traffic.h"

namespace isobit::app {

struct RerunArguments {
  std::string model;                     // empty: the path that the run recorded
  int threads = 0;                       // 0: all cores
  const char* model_option = "--model";  // that `model` comes from, for hints
};
void declare_rerun_options(CLI::App& app, RerunArguments& arguments);

struct RecordedModel {
  LoadedModel model;
  std::unique_ptr<BuiltinTarget> target;
  TrafficSource traffic;

  std::string token_text(int32_t id) const;  // its bytes, or its name where it adds none
};

// Whether the built-in engine answered it, so that it can be asked again here.
bool can_rerun(const RunRecord& run);
// The checkpoint's path, as the run was given it. REQUIRES: can_rerun.
std::string recorded_model_path(const RunRecord& run);

// Throws Error(unsupported) for a redacted run and for one of another target, Error(environment)
// for a checkpoint that is gone, Error(incomparable) for one that is another now; warns of what has
// changed around it.
RecordedModel open_recorded(const RunRecord& run, const RerunArguments& arguments,
                            Session& session);

// Throws as a signal asks, once one came. For BetweenAnswers.
void stop_when_interrupted();

}  // namespace isobit::app
