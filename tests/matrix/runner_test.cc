// Whole runs against the fake target: what lands, what counts as exercised, and what stops a run.
#include "matrix/runner.h"

#include <doctest/doctest.h>

#include <map>

#include "matrix/exercised.h"
#include "tests/matrix/matrix_support.h"
#include "tests/support/fake_target.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

const std::vector<Request>& default_prompts() {
  static const std::vector<Request> set = prompts({40, 10, 25, 7, 60, 12, 33, 18, 21, 5});
  return set;
}

RunOptions options_for(const std::vector<Request>& requests) {
  RunOptions options;
  options.requests = requests;
  options.neighbour_tokens = neighbour_text;
  options.now_ms = [now = 0.0]() mutable { return now += 10; };
  return options;
}

struct Ran {
  MemorySink sink;
  RunOutcome outcome;
};

Ran run(const Plan& plan, FakeFaults faults = {},
        const std::vector<Request>& requests = default_prompts()) {
  Ran ran;
  FakeTarget target(std::move(faults));
  ran.outcome = run_plan(plan, target, ran.sink, options_for(requests));
  return ran;
}

// Cells that were not exercised, with the reason.
std::map<std::string, std::string> not_exercised(const Ran& ran) {
  std::map<std::string, std::string> out;
  for (const auto& [index, cell] : ran.sink.cells) {
    if (!cell.exercised) out[cell.name] = cell.not_exercised_reason;
  }
  return out;
}

Plan everything() {
  return grid({"load.concurrency=1,4", "load.batch_shape=uniform,ragged,needle,mixed",
               "load.position=first,middle,last,permuted",
               "load.neighbours=same,other,longer,shorter,sampled",
               "engine.chunked_prefill=off,16"});
}

}  // namespace

TEST_CASE("against a sound target every cell happens and every answer is the reference's") {
  const Plan plan = everything();
  // uniform and ragged with everything, needle with its own neighbours, mixed with its own
  // positions
  CHECK(plan.cells.size() == 2 + 2 * (2 * 4 * 5 + 4 + 5));
  const Ran ran = run(plan);
  CAPTURE((not_exercised(ran).empty()
               ? std::string()
               : not_exercised(ran).begin()->first + ": " + not_exercised(ran).begin()->second));
  CHECK(ran.outcome.n_not_exercised == 0);
  CHECK(ran.outcome.n_incomplete == 0);
  CHECK(ran.outcome.n_cells_done == plan.cells.size());
  CHECK(ran.outcome.n_samples == plan.cells.size() * 10);
  CHECK(ran.sink.samples.size() == plan.cells.size() * 10);
  for (const auto& [key, sample] : ran.sink.samples) {
    const SampleRecord& reference = ran.sink.samples.at({0, sample.prompt_index, 0, 0});
    REQUIRE(sample.trace.text == reference.trace.text);
    REQUIRE(sample.trace.positions.size() == 8);
  }
}

TEST_CASE("cells run in the plan's order and their times are measured") {
  PlanSpec spec = spec_of({"load.concurrency=1,2,3,4,5"});
  spec.seed = 7;
  spec.repeats = 2;
  const Plan plan = make_plan(spec);
  const Ran ran = run(plan);
  std::vector<std::string> expected;
  for (const int32_t index : plan.order)
    expected.push_back(plan.cells[static_cast<size_t>(index)].name);
  CHECK(ran.sink.begun == expected);
  CHECK(ran.sink.samples.size() == 5 * 10 * 2);
  for (const auto& [index, cell] : ran.sink.cells) {
    CHECK(cell.complete);
    CHECK(cell.wall_ms > 0);
    CHECK(cell.generated_tokens_per_s == doctest::Approx(160 * 1000 / cell.wall_ms));
  }
}

TEST_CASE("answers with other tokens are computed once more over their reference's tokens") {
  const Plan plan = grid({"load.concurrency=1,4"});
  const Ran ran = run(plan, {.diverge_above_batch = 2, .diverge_at = 3});
  size_t n_flipped = 0;
  for (const auto& [key, sample] : ran.sink.samples) {
    const SampleRecord& reference = ran.sink.samples.at({0, sample.prompt_index, 0, 0});
    n_flipped += sample.trace.text != reference.trace.text;
  }
  REQUIRE(n_flipped > 0);
  CHECK(ran.outcome.n_forced == n_flipped);
  CHECK(ran.sink.samples.size() == 2 * 10);
  REQUIRE(ran.sink.forced_records.size() == n_flipped);
  for (const ForcedRecord& forced : ran.sink.forced_records) {
    CHECK(forced.cell_index == 1);
    CHECK(forced.over_run.empty());
    const Trace& reference = ran.sink.samples.at({0, forced.prompt_index, 0, 0}).trace;
    const Trace& own = ran.sink.samples.at({1, forced.prompt_index, 0, 0}).trace;
    REQUIRE(forced.positions.size() == reference.positions.size());
    for (size_t p = 0; p < forced.positions.size(); ++p)
      CHECK(forced.positions[p].token_id == reference.positions[p].token_id);
    // The fault is in the rows from position 3 on; before it they are the reference's.
    CHECK(forced.positions[2].logits_hash == reference.positions[2].logits_hash);
    CHECK(forced.positions[3].logits_hash != reference.positions[3].logits_hash);
    CHECK(own.positions[3].logits_hash != reference.positions[3].logits_hash);
  }
}

TEST_CASE(
    "nothing is forced where tokens agree, where the plan says no, or what is there already") {
  CHECK(run(everything()).outcome.n_forced == 0);
  Plan plan = grid({"load.concurrency=1,4"});
  const FakeFaults faults{.diverge_above_batch = 2};
  const Ran first = run(plan, faults);
  REQUIRE(first.outcome.n_forced > 1);
  std::vector<SampleRecord> recorded;
  for (const auto& [key, sample] : first.sink.samples) recorded.push_back(sample);
  RunOptions options = options_for(default_prompts());
  options.done_cells = {0, 1};
  options.recorded = recorded;
  options.recorded_forced = std::span(first.sink.forced_records).subspan(1);
  MemorySink sink;
  FakeTarget target(faults);
  CHECK(run_plan(plan, target, sink, options).n_forced == 1);
  REQUIRE(sink.forced_records.size() == 1);
  CHECK(sink.forced_records[0].prompt_index == first.sink.forced_records[0].prompt_index);
  plan.spec.teacher_forcing = false;
  CHECK(run(plan, faults).sink.forced_records.empty());
}

TEST_CASE("answers can be held to another run's as well") {
  const Plan plan = grid({"load.concurrency=1,4"});
  RunOptions options = options_for(default_prompts());
  options.against = ForcingSource{
      .over_run = "base", .tokens = [](const AnswerId& id) {
        return id.prompt_index == 2 ? std::vector<int32_t>{5, 6, 7} : std::vector<int32_t>{};
      }};
  MemorySink sink;
  FakeTarget target;
  CHECK(run_plan(plan, target, sink, options).n_forced == 2);
  REQUIRE(sink.forced_records.size() == 2);
  for (const ForcedRecord& forced : sink.forced_records) {
    CHECK(forced.over_run == "base");
    CHECK(forced.prompt_index == 2);
    REQUIRE(forced.positions.size() == 3);
    CHECK(forced.positions[1].token_id == 6);
  }
}

TEST_CASE("embeddings that a target cannot give are refused before anything runs") {
  Plan plan = grid({"load.concurrency=1,4"});
  plan.spec.embeddings = true;
  FakeTarget target;
  MemorySink sink;
  try {
    run_plan(plan, target, sink, options_for(default_prompts()));
    FAIL("not refused");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::unsupported);
    CHECK(std::string(e.message()) == "target 'fake' gives no embeddings");
  }
  CHECK(sink.begun.empty());
}

TEST_CASE("choices of one request are samples of their own") {
  auto requests = prompts({5, 6});
  requests[1].sampling.n = 3;
  requests[1].sampling.temperature = 1;
  const Ran ran = run(grid({"load.concurrency=1,4"}), {}, requests);
  CHECK(ran.outcome.n_incomplete == 0);
  CHECK(ran.sink.samples.size() == 2 * 4);
}

TEST_CASE("a cell that did not happen says why") {
  const auto reasons = [](const Plan& plan, FakeFaults faults,
                          const std::vector<Request>& requests = default_prompts()) {
    return not_exercised(run(plan, std::move(faults), requests));
  };
  using Reasons = std::map<std::string, std::string>;
  const Plan load = grid({"load.concurrency=1,4"});
  FakeFaults never_batches;
  never_batches.never_batches = true;
  CHECK(reasons(load, never_batches) ==
        Reasons{{"load.concurrency=4",
                 "at most 1 request shared a step, load.concurrency asks for 4"}});

  const Plan chunk = grid({"engine.chunked_prefill=off,16"});
  FakeFaults ignores;
  ignores.ignores_chunking = true;
  CHECK(reasons(chunk, ignores).at("engine.chunked_prefill=16").find("a piece of 40 tokens") !=
        std::string::npos);
  FakeFaults always;
  always.chunks_always = true;
  CHECK(reasons(chunk, always).at("reference").find("with chunked prefill off") !=
        std::string::npos);
  CHECK(reasons(load, always).size() == 2);  // off unless the plan says otherwise
  CHECK(reasons(chunk, {}, prompts({16, 3})) ==
        Reasons{{"engine.chunked_prefill=16", "no prompt is longer than the chunk of 16 tokens"}});
  CHECK(reasons(chunk, {}, prompts({17, 3})).empty());

  FakeFaults separate;
  separate.separates_prefill = true;
  const Plan mixed = grid({"load.concurrency=1,4", "load.batch_shape=uniform,mixed"});
  CHECK(reasons(mixed, separate)
            .at("load.concurrency=4,load.batch_shape=mixed")
            .find("0 of 10 samples") == 0);

  const Plan ragged = grid({"load.concurrency=1,4", "load.batch_shape=uniform,ragged"});
  CHECK(reasons(ragged, {}, prompts({7, 6}))
            .at("load.concurrency=4,load.batch_shape=ragged")
            .find("from 4 to 7 tokens") != std::string::npos);
  CHECK(reasons(ragged, {}, prompts({8, 9})).empty());
  CHECK(reasons(ragged, {}, prompts({2, 4})).empty());

  FakeFaults silent;
  silent.reports_nothing = true;
  CHECK(reasons(load, silent).size() == 2);
  CHECK(reasons(load, silent).at("reference").find("did not report") != std::string::npos);
}

TEST_CASE("position needs rows that differ, chunks need all of the prompt") {
  const auto requests = prompts({20, 20, 20, 20});
  const CellRecord cell = cell_with(
      {{"load.concurrency", "4"}, {"load.position", "last"}, {"engine.chunked_prefill", "16"}});
  const BuiltWorkload built = build_workload(cell, requests, {}, neighbour_text, 0);
  std::vector<SampleRecord> samples(4);
  for (int32_t i = 0; i < 4; ++i) {
    samples[static_cast<size_t>(i)].prompt_index = i;
    samples[static_cast<size_t>(i)].trace.scheduling = {.max_batch_requests = 4,
                                                        .min_batch_requests = 4,
                                                        .first_row = 3 - i,
                                                        .prefill_chunks_tokens = {16, 4}};
  }
  const auto judge = [&](const std::vector<SampleRecord>& recorded) {
    std::vector<const SampleRecord*> seen;
    for (const SampleRecord& s : recorded) seen.push_back(&s);
    return judge_exercised(cell, seen, built);
  };
  CHECK(judge(samples).exercised);
  const auto reason_with = [&](const auto& change) {
    auto changed = samples;
    change(changed);
    const Exercised judged = judge(changed);
    CHECK_FALSE(judged.exercised);
    return judged.reason;
  };
  CHECK(reason_with([](auto& s) {
          for (auto& one : s) one.trace.scheduling.first_row = 2;
        }).find("row 2") != std::string::npos);
  CHECK(reason_with([](auto& s) {
          s[1].trace.scheduling.prefill_chunks_tokens = {16};
        }).find("was not cut") != std::string::npos);
  CHECK(reason_with([](auto& s) {
          s[1].trace.scheduling.prefill_chunks_tokens = {8, 8};
        }).find("16 tokens together") != std::string::npos);
  CHECK(reason_with([](auto& s) {
          s[1].trace.scheduling.prefill_chunks_tokens = {17, 3};
        }).find("a piece of 17") != std::string::npos);
  CHECK(reason_with([](auto& s) {
          s[1].trace.scheduling.max_batch_requests = 5;
        }).find("at most 5") != std::string::npos);
  CHECK(reason_with([](auto& s) { s.clear(); }).find("no sample") != std::string::npos);
  CHECK(reason_with([](auto& s) {
          for (auto& one : s) one.trace.finish_reason = FinishReason::kError;
        }).find("error") != std::string::npos);
}

TEST_CASE("planted faults reach the sink as they are: finding them is the comparison's work") {
  const Plan plan = grid({"load.concurrency=1,4"});
  const auto differing = [&](FakeFaults faults) {
    const Ran ran = run(plan, std::move(faults));
    size_t n = 0;
    for (const auto& [key, s] : ran.sink.samples) {
      const SampleRecord& reference = ran.sink.samples.at({0, s.prompt_index, 0, 0});
      bool same = s.trace.positions.size() == reference.trace.positions.size();
      for (size_t i = 0; same && i < s.trace.positions.size(); ++i) {
        same = s.trace.positions[i].token_id == reference.trace.positions[i].token_id &&
               s.trace.positions[i].logprob == reference.trace.positions[i].logprob;
      }
      n += !same;
    }
    return n;
  };
  FakeFaults diverges, shifts;
  diverges.diverge_above_batch = 2;
  diverges.diverge_at = 3;
  shifts.shift_ulp_above_batch = 2;
  CHECK(differing({}) == 0);
  CHECK(differing(diverges) == 10);
  CHECK(differing(shifts) == 10);
}

TEST_CASE("a sample in error is recorded, and the cell still counts by the others") {
  FakeFaults faults;
  faults.error_for = "p3";
  const Ran ran = run(grid({"load.concurrency=1,4"}), faults);
  CHECK(ran.outcome.n_not_exercised == 0);
  CHECK(ran.sink.samples.at({0, 3, 0, 0}).trace.finish_reason == FinishReason::kError);
}

TEST_CASE("a missing sample leaves the cell incomplete, a wrong delivery is a bug") {
  FakeFaults skips, twice, reorders;
  skips.skip_first_answer = true;
  const Ran ran = run(make_plan({}), skips);
  CHECK(ran.outcome.n_incomplete == 1);
  CHECK(ran.outcome.n_cells_done == 0);
  CHECK(ran.sink.cells.at(0).not_exercised_reason == "the target returned 9 of 10 samples");
  twice.deliver_twice = true;
  CHECK(error_of([&] { run(make_plan({}), twice); }).message().find("twice") != std::string::npos);
}

TEST_CASE("an axis that the target cannot set is refused before anything is sent") {
  class Plain : public FakeTarget {
    Capabilities capabilities() const override { return {}; }
  };
  Plain target;
  MemorySink sink;
  const Error e = error_of([&] {
    run_plan(grid({"engine.chunked_prefill=off,16"}), target, sink, options_for(default_prompts()));
  });
  CHECK(e.code() == ErrorCode::unsupported);
  CHECK(e.message().find("engine.chunked_prefill=16") != std::string::npos);
  CHECK(sink.begun.empty());
  CHECK(target.workloads().empty());
  run_plan(make_plan(spec_of({}, {"engine.chunked_prefill=off"})), target, sink,
           options_for(default_prompts()));
  CHECK(target.workloads().at(0).settings.empty());
}

TEST_CASE("an impossible cell anywhere in the plan stops it before anything is sent") {
  FakeTarget target;
  MemorySink sink;
  RunOptions options = options_for(default_prompts());
  options.limits.max_concurrency = 16;
  CHECK(error_of([&] {
          run_plan(grid({"load.concurrency=1,8,32"}), target, sink, options);
        }).code() == ErrorCode::usage);
  CHECK(target.workloads().empty());
}

TEST_CASE("a failure after samples have landed makes the run incomplete, before it is itself") {
  FakeFaults faults;
  faults.fail_after = 0;
  CHECK(error_of([&] { run(make_plan({}), faults); }).code() == ErrorCode::environment);
  faults.fail_after = 4;
  const Error e = error_of([&] { run(make_plan({}), faults); });
  CHECK(e.code() == ErrorCode::incomplete);
  CHECK(e.message().find("after 4 samples") != std::string::npos);
  CHECK(e.hint().find("--resume") != std::string::npos);
}

TEST_CASE("a stopped run ends after the sample in hand and a resumed one is like an unbroken one") {
  const Plan plan = grid({"load.concurrency=1,4", "engine.chunked_prefill=off,16"});
  const Ran unbroken = run(plan);
  for (size_t stop_after = 1; stop_after < 40; stop_after += 3) {
    CAPTURE(stop_after);
    MemorySink sink;
    std::atomic<bool> stop{false};
    FakeTarget target;
    RunOptions options = options_for(default_prompts());
    options.stop = &stop;
    size_t n_reported = 0;
    options.on_progress = [&](const RunProgress& p) {
      n_reported += !p.cell_ended;
      if (sink.samples.size() == stop_after) stop = true;
    };
    const RunOutcome first = run_plan(plan, target, sink, options);
    CHECK(first.interrupted);
    CHECK(first.n_samples == stop_after);
    CHECK(n_reported == stop_after);
    CHECK(sink.samples.size() == stop_after);
    stop = false;
    options.on_progress = nullptr;
    options.done_cells = sink.complete();
    CHECK(options.done_cells.size() == first.n_cells_done);
    const RunOutcome second = run_plan(plan, target, sink, options);
    CHECK_FALSE(second.interrupted);
    CHECK(second.n_changed_on_rerun == 0);
    CHECK(sink.complete().size() == 4);
    REQUIRE(sink.samples.size() == unbroken.sink.samples.size());
    for (const auto& [key, s] : sink.samples)
      CHECK(s.trace.text == unbroken.sink.samples.at(key).trace.text);
  }
}

TEST_CASE("a rerun that answers otherwise is counted and does not replace what was stored") {
  MemorySink sink;
  std::atomic<bool> stop{false};
  FakeFaults faults;
  faults.unstable_from_run = 1;
  FakeTarget target(faults);
  RunOptions options = options_for(default_prompts());
  options.stop = &stop;
  options.on_progress = [&](const RunProgress&) { stop = sink.samples.size() >= 6; };
  CHECK(run_plan(make_plan({}), target, sink, options).interrupted);
  const auto before = sink.samples;
  options.stop = nullptr;
  const RunOutcome outcome = run_plan(make_plan({}), target, sink, options);
  CHECK(outcome.n_changed_on_rerun == 6);
  for (const auto& [key, s] : before) CHECK(sink.samples.at(key).trace.text == s.trace.text);
}
