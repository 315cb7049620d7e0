// A plan carried out against a target and kept as a record: what explain, bisect, reduce and replay
// start from. The same runner as `isobit run`, without a store.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "checkpoint/open.h"
#include "matrix/plan.h"
#include "matrix/runner.h"
#include "record/run_record.h"
#include "targets/builtin_target.h"
#include "tests/schedules/random_schedule.h"
#include "why/recorded_traffic.h"

namespace isobit::testing {

constexpr int32_t kBundledVocab = 1021;

inline const Checkpoint& bundled_checkpoint() {
  static const auto bundled = open_checkpoint(ISOBIT_SOURCE_DIR "/examples/tiny-kjv");
  return *bundled;
}

inline BuiltinTarget bundled_target(BuiltinSeams seams = {}) {
  return BuiltinTarget(bundled_checkpoint(),
                       std::vector<std::string>(static_cast<size_t>(kBundledVocab), "x"), {},
                       std::move(seams));
}

inline std::vector<int32_t> drawn_tokens(int32_t n_tokens, uint64_t seed) {
  Dice dice(seed);
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < n_tokens; ++i)
    ids.push_back(static_cast<int32_t>(dice.below(static_cast<uint64_t>(kBundledVocab))));
  return ids;
}

// n prompts of 40 to 145 tokens; every other one is sampled.
inline std::vector<Request> drawn_prompts(int n = 8) {
  std::vector<Request> out;
  for (int i = 0; i < n; ++i) {
    Request& r = out.emplace_back();
    r.id = "prompt-" + std::to_string(i);
    r.prompt_token_ids = drawn_tokens(40 + 15 * i, static_cast<uint64_t>(100 + i));
    r.max_tokens = 8;
    r.stop.ignore_eos = true;
    if (i % 2) r.sampling = {.temperature = 1, .logit_bias = {}, .seed = static_cast<uint64_t>(i)};
  }
  return out;
}

class KeepingSink : public RunSink {
 public:
  explicit KeepingSink(RunRecord& run) : run_(run) {}
  void begin_cell(const CellRecord&) override {}
  Landing sample(const SampleRecord& sample) override {
    run_.samples.push_back(sample);
    return Landing::kStored;
  }
  void forced(const ForcedRecord& forced) override { run_.forced.push_back(forced); }
  void end_cell(const CellRecord& cell) override {
    run_.cells[static_cast<size_t>(cell.index)] = cell;
  }

 private:
  RunRecord& run_;
};

inline Plan plan_of(const std::vector<std::string>& axes, const std::vector<std::string>& sets = {},
                    Design design = Design::kOneAtATime) {
  PlanSpec spec;
  spec.design = design;
  apply_axis_flags(spec, axes, sets);
  return make_plan(spec);
}

inline TrafficSource traffic_source(Target& target) {
  return {.limits = {},
          .neighbour_tokens = drawn_tokens,
          .seed = 0,
          .settable = target.capabilities().axes};
}

inline RunRecord recorded(Target& target, const Plan& plan, std::vector<Request> requests,
                          std::string id = "4f2a") {
  RunRecord run;
  run.id = std::move(id);
  run.target = "isobit:examples/tiny-kjv";
  run.requests = std::move(requests);
  run.prompt_texts.resize(run.requests.size());
  run.cells = plan.cells;
  run.status = "complete";
  KeepingSink sink(run);
  RunOptions options;
  options.requests = run.requests;
  options.neighbour_tokens = drawn_tokens;
  options.now_ms = [now = 0.0]() mutable { return now += 1; };
  run_plan(plan, target, sink, options);
  std::sort(run.samples.begin(), run.samples.end(), [](const auto& a, const auto& b) {
    return std::tie(a.cell_index, a.prompt_index) < std::tie(b.cell_index, b.prompt_index);
  });
  return run;
}

}  // namespace isobit::testing
