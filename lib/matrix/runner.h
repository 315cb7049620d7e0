// Carries out a plan: builds each cell's traffic, lets the target answer, hands every sample on as
// it lands, and judges whether the cell happened.
//
// The cell is the unit of load, so a cell that was interrupted runs again as a whole on resume.
// Samples that the sink already holds stay as they are; the runner counts those whose second answer
// differs, which is a finding of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>

#include "matrix/forcing.h"
#include "matrix/workload.h"
#include "record/run_sink.h"

namespace isobit {

struct RunProgress {
  size_t n_cells = 0;  // to run, cells done in an earlier session left out
  size_t n_cells_done = 0;
  const CellRecord* cell = nullptr;  // the one in progress, or just ended
  bool cell_ended = false;
  size_t n_cell_samples = 0;  // expected of this cell, all repeats
  size_t n_cell_samples_done = 0;
  int64_t generated_tokens = 0;  // of recorded samples, all cells so far
  double elapsed_ms = 0;
};

struct RunOptions {
  std::span<const Request> requests;
  ModelLimits limits;
  NeighbourTokens neighbour_tokens;
  std::set<int32_t> done_cells;             // indices of cells complete in the sink
  const std::atomic<bool>* stop = nullptr;  // set: stop as soon as the next sample has landed
  // What an earlier session recorded: answers to force others over, and what was forced already.
  std::span<const SampleRecord> recorded;
  std::span<const ForcedRecord> recorded_forced;
  // Another run that answers are held to as well, beside their own reference.
  std::optional<ForcingSource> against;
  // Asked between two answers, while more are to come: why the run should stop; empty: it should
  // not. A run whose last answer has landed is not asked any more. May be empty.
  std::function<std::string()> stop_reason;
  std::function<double()> now_ms;  // a monotonic clock
  std::function<void(const RunProgress&)>
      on_progress;  // after each sample and each cell; may be empty
};

struct RunOutcome {
  bool interrupted = false;
  std::string stop_reason;  // what RunOptions::stop_reason said, where that ended the run
  size_t n_cells_done = 0;
  size_t n_not_exercised = 0;
  size_t n_incomplete = 0;  // cells for which the target returned fewer samples than were asked for
  size_t n_samples = 0;     // landed in this session
  size_t n_forced = 0;      // answers computed once more under teacher forcing
  size_t n_changed_on_rerun =
      0;  // samples whose answer differs from the one an interrupted session had stored
};

// Cells first, then the passes under teacher forcing (matrix/forcing.h) where the plan asks for
// them and the target can. Every cell is built, and checked against the target's capabilities,
// before the first request is sent: Error(usage) and Error(unsupported) mean that nothing happened.
// Afterwards an error of the target or the sink becomes Error(incomplete) once at least one sample
// has landed.
RunOutcome run_plan(const Plan& plan, Target& target, RunSink& sink, const RunOptions& options);

}  // namespace isobit
