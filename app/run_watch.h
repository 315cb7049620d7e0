// What may end a run before its plan does: caps on time, requests and tokens, and the first
// difference that --fail-fast asks to stop at. A sink on the way to the store, so that it sees what
// the store holds, redacted or not.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "compare/level.h"
#include "matrix/run_caps.h"
#include "record/run_record.h"
#include "record/run_sink.h"

namespace isobit::app {

struct RunLimits {
  RunCaps caps;
  std::optional<Level> fail_fast;  // stop at the first answer that is not the same at this level
};

// --max-seconds, --max-requests, --max-total-tokens.
void declare_run_caps(CLI::App& app, RunCaps& caps);

// The first answer seen that differs from its counterpart in the reference cell's first repeat.
class FirstDifference {
 public:
  // `run` gives cells, requests and the answers of earlier sessions; it must outlive this.
  FirstDifference(const RunRecord& run, Level level);

  void add(const SampleRecord& sample);
  const std::string& found() const { return found_; }  // one sentence; empty: none so far

 private:
  using Key = std::tuple<int32_t, int32_t, int32_t>;  // (reference cell, prompt, choice)
  void compare(const SampleRecord& reference, const SampleRecord& sample);

  const RunRecord& run_;
  Level level_;
  std::map<Key, SampleRecord> references_;
  std::map<Key, std::vector<SampleRecord>> waiting_;  // came before their reference
  std::string found_;
};

class RunWatch : public RunSink {
 public:
  // `inner` and `run` must outlive it.
  RunWatch(RunSink& inner, const RunRecord& run, const RunLimits& limits,
           std::function<double()> now_ms);

  void begin_cell(const CellRecord& cell) override { inner_.begin_cell(cell); }
  Landing sample(const SampleRecord& sample) override;
  void forced(const ForcedRecord& forced) override { inner_.forced(forced); }
  void end_cell(const CellRecord& cell) override { inner_.end_cell(cell); }

  // Why the run should stop now; empty: it should not.
  std::string stop_reason() const;
  // False: this session added nothing to the store, so the next one will do no better.
  bool anything_new() const { return caps_.anything_new(); }

 private:
  RunSink& inner_;
  CapWatch caps_;
  std::optional<FirstDifference> difference_;
};

}  // namespace isobit::app
