// The built-in engine as a Target: what the matrix sets per cell becomes kernel set, threads,
// chunking and cache type.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "engine/engine.h"
#include "kernels/registry.h"
#include "record/target.h"

namespace isobit {

// What a cell that says nothing runs with.
struct BuiltinDefaults {
  std::string kernel_set = "cpu";
  std::string isa;  // empty: the best of this machine
  std::string kv_dtype = "f16";
  int n_threads = 1;
  int64_t max_batch_tokens = 2048;
};

// Where a test plants a fault for the audit to find; the product leaves it as it is.
struct BuiltinSeams {
  // Called for each workload. What it returns must outlive the target.
  std::function<const KernelSet&(const std::string& name, const std::string& isa)> find_kernels =
      kernel_set;
  std::function<void(EngineOptions&)> before_run;  // may be empty
};

class BuiltinTarget : public Target {
 public:
  // `token_bytes`: (vocab_size) what each token adds to the text. `checkpoint` must outlive the
  // target.
  BuiltinTarget(const Checkpoint& checkpoint, std::vector<std::string> token_bytes,
                BuiltinDefaults defaults, BuiltinSeams seams = {});
  ~BuiltinTarget() override;

  std::string name() const override;
  Capabilities capabilities() const override;
  void run(const Workload& workload, const std::function<void(size_t, Trace)>& on_trace) override;

  // The same, with every scored row shown to `on_row` (item index, sample index, position, logits).
  void run_with_rows(const Workload& workload, const std::function<void(size_t, Trace)>& on_trace,
                     const RowSink& on_row);

  // The same, with the output of every operator shown to `on_operator`: what `explain` asks.
  void run_with_operators(const Workload& workload,
                          const std::function<void(size_t, Trace)>& on_trace,
                          const OperatorSink& on_operator);

  // What computes a workload with these settings. Throws as find_kernels does.
  const KernelSet& kernels_of(const std::map<std::string, std::string>& settings) const;

 private:
  struct Configured;
  void execute(const Workload& workload, const std::function<void(size_t, Trace)>& on_trace,
               const RowSink& on_row, const OperatorSink& on_operator);
  Configured& configure(const std::map<std::string, std::string>& settings);
  int n_threads(const std::map<std::string, std::string>& settings) const;

  const Checkpoint& checkpoint_;
  const std::vector<std::string> token_bytes_;
  const BuiltinDefaults defaults_;
  const BuiltinSeams seams_;
  std::unique_ptr<Configured>
      configured_;  // the latest; cells are ordered so that it is rarely rebuilt
};

}  // namespace isobit
