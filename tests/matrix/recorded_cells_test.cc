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

void put_token(TracePosition& row, int32_t token) {
  row.token_id = row.top[0].token_id = token;
}

// Ends it at a stop token after `n` tokens, with facts that fit.
void stop_after(Trace& trace, size_t n, int32_t stop_token) {
  trace.scheduling.n_steps -= static_cast<int32_t>(trace.positions.size() - n);
  trace.positions.resize(n);
  put_token(trace.positions.back(), stop_token);
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
  CHECK(has(fault_after(clean, [](Trace& t) { t.positions.pop_back(); }),
            "has 7 tokens and ended at its length, asked for were 8"));
  CHECK(fault_after(clean, [](Trace& t) { t.positions.clear(); }) ==
        "cell 'reference', repeat 0, prompt 0: has no tokens and says that it ended well");
  CHECK(has(fault_after(clean, [](Trace& t) { t.positions.push_back(t.positions.back()); }),
            "has 9 tokens, asked for were 8"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.finish_reason = FinishReason::kStopString; }),
            "its request has none"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.finish_reason = FinishReason::kStopToken; }),
            "ended at a stop token, and its last token"));
  CHECK(has(fault_after(clean, [](Trace& t) { stop_after(t, 4, 12); }), "last token 12 is none"));
  CHECK(has(fault_after(clean, [](Trace& t) { put_token(t.positions[2], kEos); }),
            "goes on past the stop token 7777 at position 2"));
  CHECK(has(fault_after(
                clean, [](Trace& t) { ++t.scheduling.n_steps; }, true),
            "prompt 0: took"));
}

TEST_CASE("rows whose token, logprob, margin and alternatives contradict one another are told") {
  const Recorded clean = record(grid({"load.concurrency=1,4"}), prompts({9, 12, 30}));
  const auto row_fault = [&](const std::function<void(TracePosition&)>& change) {
    return fault_after(clean, [&](Trace& t) { change(t.positions[3]); });
  };
  CHECK(has(row_fault([](TracePosition& p) { p.margin = *p.margin + 0.5F; }),
            "position 3 has a margin of"));
  CHECK(has(row_fault([](TracePosition& p) { p.token_id = p.top[1].token_id; }), "two logprobs"));
  CHECK(has(row_fault([](TracePosition& p) {
              p.token_id = p.top[1].token_id;
              p.logprob = p.top[1].logprob;
            }),
            "at temperature 0, and another is likelier"));
  CHECK(has(row_fault([](TracePosition& p) { p.token_id = 999999; }), "does not list it"));
  CHECK(
      has(row_fault([](TracePosition& p) { p.top.push_back(p.top.back()); }), "asked for were 5"));
  CHECK(has(row_fault([](TracePosition& p) { p.top[2] = p.top[1]; }), "an alternative twice"));
  CHECK(has(row_fault([](TracePosition& p) { std::swap(p.top[2], p.top[3]); }),
            "a likelier alternative"));
  CHECK(row_fault([](TracePosition& p) { p.margin.reset(); }).empty());
  CHECK(row_fault([](TracePosition& p) { p.top.clear(); }).empty());
  CHECK(row_fault([](TracePosition& p) { p.margin = *p.margin + 1e-6F; }).empty());
  CHECK(fault_after(clean, [](Trace& t) {
          t.positions[3].margin = 77;
          t.non_finite = true;  // then its scores are none
        }).empty());
}

TEST_CASE("what was asked for may be another token than the likeliest") {
  std::vector<Request> requests = prompts({9, 12, 30});
  const auto after_second = [&](const std::function<void(Sampling&)>& ask) {
    std::vector<Request> asked = requests;
    ask(asked[0].sampling);
    return fault_after(record(grid({"load.concurrency=1,4"}), asked), [](Trace& t) {
      t.positions[3].token_id = t.positions[3].top[1].token_id;
      t.positions[3].logprob = t.positions[3].top[1].logprob;
    });
  };
  CHECK(!after_second([](Sampling&) {}).empty());
  CHECK(after_second([](Sampling& s) { s.temperature = 0.7; }).empty());
  CHECK(after_second([](Sampling& s) { s.repetition_penalty = 1.2; }).empty());
  CHECK(after_second([](Sampling& s) { s.frequency_penalty = 0.1; }).empty());
  CHECK(after_second([](Sampling& s) { s.presence_penalty = 0.1; }).empty());
  CHECK(after_second([](Sampling& s) { s.logit_bias = {{5, 1.0}}; }).empty());
}

TEST_CASE("scheduling facts that are more than their whole are told") {
  const Recorded clean = record(grid({"load.concurrency=1,4"}), prompts({9, 12, 30}));
  const auto fact_fault = [&](const std::function<void(SchedulingFacts&)>& change) {
    return fault_after(clean, [&](Trace& t) { change(t.scheduling); });
  };
  CHECK(has(fact_fault([](SchedulingFacts& f) { f.min_batch_requests = 99; }),
            "more than the whole"));
  CHECK(has(fact_fault([](SchedulingFacts& f) { f.n_mixed_steps = 99; }), "more than the whole"));
  CHECK(has(fact_fault([](SchedulingFacts& f) { f.prefill_chunks_tokens = {1}; }),
            "a prompt of 1 tokens, it has 9"));
  CHECK(has(fact_fault([](SchedulingFacts& f) { f.n_steps = 0; }), "took part in 0 steps"));
  CHECK(has(fault_after(clean, [](Trace& t) { t.request_id = "p2"; }),
            "is said to answer 'p2', its prompt is 'p0'"));
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
  CHECK(
      has(fault_after(clean, [](Trace& t) { t.text += "the end"; }), "goes on past a stop string"));
  requests[0].stop.ignore_eos = true;
  const Recorded deaf = record(grid({"load.concurrency=1,4"}), requests);
  CHECK(has(fault_after(deaf, [](Trace& t) { stop_after(t, 4, kEos); }), "7777 is none"));
  CHECK(fault_after(deaf, [](Trace& t) { put_token(t.positions[2], kEos); }).empty());
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
          t.scheduling.n_steps += 5;  // computed twice, in part
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
    SchedulingFacts& facts = s.trace.scheduling;
    if (s.cell_index == 1 && s.repeat == 1) facts.min_batch_requests = facts.max_batch_requests = 1;
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
