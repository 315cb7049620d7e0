// Facts of a record that contradict one another: planted one at a time into runs that have none.
#include "matrix/recorded_cells.h"

#include <doctest/doctest.h>

#include "matrix/runner.h"
#include "tests/matrix/matrix_support.h"
#include "tests/support/fake_target.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int32_t kEos = 7777;

struct Recorded {
  Plan plan;
  RunRecord run;
};

Recorded record(Plan plan, std::vector<Request> requests) {
  MemorySink sink;
  FakeTarget target;
  RunOptions options;
  options.requests = requests;
  options.neighbour_tokens = neighbour_text;
  options.now_ms = [now = 0.0]() mutable { return now += 10; };
  run_plan(plan, target, sink, options);
  Recorded out{.plan = std::move(plan), .run = {}};
  out.run.requests = std::move(requests);
  FingerprintItem& eos = out.run.fingerprint.items.emplace_back();
  eos.name = "config.eos_token_ids";
  eos.value = "6666," + std::to_string(kEos);
  for (const auto& [index, cell] : sink.cells) out.run.cells.push_back(cell);
  for (const auto& [key, sample] : sink.samples) out.run.samples.push_back(sample);
  return out;
}

std::vector<std::string> faults(const Recorded& r) {
  return answers_unlike_cells(r.run, r.plan, {});
}

// Of the same change to the first answer, or to all answers, of a clean run.
std::string fault_after(const Recorded& clean, const std::function<void(Trace&)>& change,
                        bool all = false) {
  Recorded edited = clean;
  for (SampleRecord& s : edited.run.samples) {
    change(s.trace);
    if (!all) break;
  }
  const auto found = faults(edited);
  return found.empty() ? "" : found.front();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Ends it at a stop token after `n` tokens, with facts that fit.
void stop_after(Trace& trace, size_t n, int32_t stop_token) {
  trace.scheduling.n_steps -= static_cast<int32_t>(trace.positions.size() - n);
  trace.positions.resize(n);
  trace.positions.back().token_id = stop_token;
  trace.finish_reason = FinishReason::kStopToken;
}

}  // namespace

TEST_CASE("runs of every kind of cell contradict nothing") {
  std::vector<Request> requests = prompts({40, 10, 25, 7, 60, 12, 33, 18, 21, 5});
  requests[1].sampling.n = 3;
  requests[2].max_tokens = 1;
  for (const Plan& plan : {grid({"load.concurrency=1,4", "load.batch_shape=uniform,ragged,mixed"}),
                           grid({"load.concurrency=4", "load.position=first,middle,permuted",
                                 "prompt.length=as-given,9"}),
                           one_at_a_time({"engine.chunked_prefill=off,16", "load.concurrency=8",
                                          "load.batch_shape=needle", "output.length=3,12",
                                          "load.neighbours=shorter"})}) {
    const Recorded r = record(plan, requests);
    for (const std::string& sentence : faults(r)) FAIL_CHECK(sentence);
    CHECK(r.run.samples.size() == 12 * r.run.cells.size());
  }
}

TEST_CASE("answers that were cut say so by their steps, their ending or their length") {
  const Recorded clean = record(grid({"load.concurrency=1,4"}), prompts({9, 12, 30}));
  REQUIRE(faults(clean).empty());
  CHECK(has(fault_after(clean, [](Trace& t) { t.positions.pop_back(); }), "take 7"));
  CHECK(fault_after(clean, [](Trace& t) { t.positions.clear(); }) ==
        "cell 'reference', repeat 0, prompt 0: has no tokens and says that it ended well");
  CHECK(has(fault_after(clean, [](Trace& t) { t.positions.push_back(t.positions.back()); }),
            "has 9 tokens, asked for were 8"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.finish_reason = FinishReason::kStopString; }),
            "its request has none"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.finish_reason = FinishReason::kStopToken; }),
            "ended at a stop token, and its last token"));
  CHECK(has(fault_after(clean, [](Trace& t) { stop_after(t, 4, 12); }), "last token 12 is none"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.positions[2].token_id = kEos; }),
            "goes on past the stop token 7777 at position 2"));
  CHECK(has(fault_after(
                clean, [](Trace& t) { ++t.scheduling.n_steps; }, true),
            "prompt 0: took"));
}

TEST_CASE("an answer may end early where a stop token or string says so") {
  std::vector<Request> requests = prompts({9, 12, 30});
  requests[0].stop.token_ids = {55};
  requests[0].stop.strings = {"end"};
  const Recorded clean = record(grid({"load.concurrency=1,4"}), requests);
  CHECK(fault_after(clean, [](Trace& t) { stop_after(t, 4, kEos); }).empty());
  CHECK(fault_after(clean, [](Trace& t) { stop_after(t, 1, 6666); }).empty());
  CHECK(fault_after(clean, [](Trace& t) { stop_after(t, 4, 55); }).empty());
  CHECK(fault_after(clean, [](Trace& t) { t.finish_reason = FinishReason::kStopString; }).empty());
  requests[0].stop.ignore_eos = true;
  const Recorded deaf = record(grid({"load.concurrency=1,4"}), requests);
  CHECK(has(fault_after(deaf, [](Trace& t) { stop_after(t, 4, kEos); }), "7777 is none"));
  CHECK(fault_after(deaf, [](Trace& t) { t.positions[2].token_id = kEos; }).empty());
}

TEST_CASE("what an answer that broke off, or whose ids are digests, cannot show is not asked") {
  const Recorded clean = record(grid({"load.concurrency=1,4"}), prompts({9, 12, 30}));
  for (const FinishReason finish : {FinishReason::kError, FinishReason::kCancelled}) {
    CHECK(fault_after(clean, [&](Trace& t) {
            t.finish_reason = finish;
            t.positions.clear();
          }).empty());
  }
  Recorded redacted = clean;
  redacted.run.redacted = true;
  CHECK(fault_after(redacted, [](Trace& t) { stop_after(t, 4, 12); }).empty());
  CHECK(has(fault_after(redacted, [](Trace& t) { t.positions.clear(); }), "has no tokens"));
  CHECK(fault_after(clean, [](Trace& t) {
          t.positions.resize(2);  // computed twice, in part
          t.scheduling.n_preemptions = 1;
        }).empty());
}

TEST_CASE("a cell was exercised only if each repeat of it shows that") {
  PlanSpec spec = spec_of({"load.concurrency=1,4"});
  spec.repeats = 2;
  const Recorded clean = record(make_plan(spec), prompts({9, 12, 30, 8}));
  REQUIRE(faults(clean).empty());
  Recorded edited = clean;
  for (SampleRecord& s : edited.run.samples) {
    if (s.cell_index == 1 && s.repeat == 1) s.trace.scheduling.max_batch_requests = 1;
  }
  CHECK(faults(edited) == std::vector<std::string>{
                              "cell 'load.concurrency=4', repeat 1: is said to be exercised, but "
                              "at most 1 request shared a step, load.concurrency asks for 4"});
  edited.run.cells[1].exercised = false;
  CHECK(faults(edited).empty());
  edited.run.cells[1].exercised = true;
  edited.run.samples.pop_back();  // answers that a store lost are counted elsewhere
  CHECK(faults(edited).empty());
}
