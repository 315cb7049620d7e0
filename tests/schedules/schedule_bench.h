// Holds the answers of requests alone against the answers of the same requests in a schedule, bit
// for bit, and names the first operator that differs.
//
// Alone: one request at a time, its prompt in one step, one thread, the first kernel set. Answers
// alone are computed once for each (request, cache dtype) and kept.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/operator_difference.h"
#include "tests/schedules/random_schedule.h"

namespace isobit::testing {

// What computes: a kernel set, and what a planted fault needs before each run.
struct Subject {
  std::vector<const KernelSet*> kernel_sets;
  std::function<void(EngineOptions&)> before_run;  // may be empty
};

// Where the two answers part first.
enum class Parting { kLogits, kToken, kScores, kEnd };

struct ScheduleFailure {
  Schedule schedule;
  size_t request_index = 0;  // in the schedule's list
  int32_t sample_index = 0;
  size_t output_position = 0;
  Parting parting = Parting::kLogits;
  std::optional<OperatorDifference> operator_difference;  // absent where the logits are the same
  std::string text;  // all of it, for people: both bit patterns and how to run it again
};

class ScheduleBench {
 public:
  // References must outlive the bench.
  ScheduleBench(const Checkpoint& checkpoint, std::vector<Request> requests, Subject subject);
  ~ScheduleBench();

  ScheduleSpace space() const;
  // The first answer that is not the one alone; nullopt: all are the same bits.
  std::optional<ScheduleFailure> failure_of(const Schedule& schedule);
  // Compared so far: output positions, each with its whole row of logits.
  size_t n_compared_positions() const { return n_compared_positions_; }

 private:
  using Answers = std::map<std::pair<size_t, int32_t>, Trace>;  // request index, sample index

  Engine& engine(size_t kernels, int n_threads);
  void execute(const Schedule& schedule, const TraceSink& on_trace,
               const OperatorSink& on_operator);
  Answers answers_of(const Schedule& schedule);
  const Answers& alone(size_t request, KvDType kv_dtype);
  static Schedule alone_schedule(size_t request, KvDType kv_dtype);
  void locate(ScheduleFailure& failure);
  std::string text_of(const ScheduleFailure& failure, const Trace& alone, const Trace& found) const;

  const Checkpoint& checkpoint_;
  const std::vector<Request> requests_;
  const Subject subject_;
  const std::vector<std::string> token_bytes_;
  std::map<size_t, std::unique_ptr<Model>> models_;
  std::map<int, std::unique_ptr<ThreadPool>> pools_;
  std::map<std::pair<size_t, int>, std::unique_ptr<Engine>> engines_;
  std::map<std::pair<size_t, KvDType>, Answers> alone_;
  size_t n_compared_positions_ = 0;
};

// Runs n schedules from first_seed on; the first failure ends it.
std::optional<ScheduleFailure> first_failure(ScheduleBench& bench, uint64_t first_seed, size_t n);

}  // namespace isobit::testing
