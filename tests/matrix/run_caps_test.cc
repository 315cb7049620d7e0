// A cap stops a run between two answers, in the same state as any interruption, and never one that
// has just become complete.
#include "matrix/run_caps.h"

#include <doctest/doctest.h>

#include <map>

#include "matrix/runner.h"
#include "tests/matrix/matrix_support.h"
#include "tests/support/fake_target.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

using AnswerKey = std::tuple<int32_t, int32_t, int32_t, int32_t>;

// Keeps the first answer of each kind, as the store does, and lets a watch see what landed.
class WatchedSink : public RunSink {
 public:
  void begin_cell(const CellRecord&) override {}
  Landing sample(const SampleRecord& s) override {
    const bool is_new =
        answers
            .emplace(AnswerKey{s.cell_index, s.prompt_index, s.repeat, s.trace.sample_index},
                     s.trace.text)
            .second;
    const Landing landing = is_new ? Landing::kStored : Landing::kAlreadySame;
    if (watch) watch->landed(s, landing);
    return landing;
  }
  void forced(const ForcedRecord&) override {}
  void end_cell(const CellRecord& cell) override {
    if (cell.complete) complete.insert(cell.index);
  }

  std::map<AnswerKey, std::string> answers;
  std::set<int32_t> complete;
  CapWatch* watch = nullptr;
};

const std::vector<Request>& six_prompts() {
  static const std::vector<Request> set = prompts({4, 9, 6, 3, 7, 5}, 5);
  return set;
}

// One session under these caps; a clock of 10 ms a look.
RunOutcome session(const Plan& plan, WatchedSink& sink, const RunCaps& caps,
                   const std::vector<Request>& requests = six_prompts()) {
  FakeTarget target;
  RunOptions options;
  options.requests = requests;
  options.neighbour_tokens = neighbour_text;
  options.now_ms = [now = 0.0]() mutable { return now += 10; };
  options.done_cells = sink.complete;
  CapWatch watch(caps, options.now_ms);
  sink.watch = &watch;
  options.stop_reason = [&watch] { return watch.reached(); };
  const RunOutcome outcome = run_plan(plan, target, sink, options);
  sink.watch = nullptr;
  return outcome;
}

}  // namespace

TEST_CASE("a cap on requests stops after exactly that many answers and says which cap it was") {
  const Plan plan = grid({"load.concurrency=1,3"});
  WatchedSink sink;
  const RunOutcome outcome = session(plan, sink, {.requests = 4});
  CHECK(sink.answers.size() == 4);
  CHECK(outcome.stop_reason == "--max-requests 4");
  CHECK_FALSE(outcome.interrupted);
}

TEST_CASE("a cap that is reached by the very last answer leaves a complete run") {
  const Plan plan = grid({"load.concurrency=1,3"});
  WatchedSink sink;
  const RunOutcome outcome = session(plan, sink, {.requests = 12, .tokens = 12 * 5});
  CHECK(outcome.stop_reason.empty());
  CHECK(sink.answers.size() == 12);
  CHECK(sink.complete.size() == 2);
}

TEST_CASE("a cap that is reached by the last answer of a cell lets that cell become complete") {
  const Plan plan = grid({"load.concurrency=1,3"});
  WatchedSink sink;
  const RunOutcome outcome = session(plan, sink, {.requests = 6});
  CHECK(outcome.stop_reason == "--max-requests 6");
  CHECK(sink.answers.size() == 6);
  CHECK(sink.complete.size() == 1);
}

TEST_CASE("sessions that are each cut short add up to the run that nobody stopped") {
  const Plan plan = grid({"load.concurrency=1,3", "engine.chunked_prefill=off,16"});
  WatchedSink whole, pieces;
  session(plan, whole, {});
  size_t n_sessions = 0;
  for (RunOutcome outcome; n_sessions < 50; ++n_sessions) {
    outcome = session(plan, pieces, {.requests = 1});
    if (outcome.stop_reason.empty()) break;
  }
  CHECK(n_sessions == 23);  // 24 answers; the last session finishes
  CHECK(pieces.answers == whole.answers);
  CHECK(pieces.complete == whole.complete);
}

TEST_CASE("tokens are counted over recorded answers") {
  const Plan plan = grid({"load.concurrency=1,3"});
  WatchedSink sink;
  CHECK(session(plan, sink, {.tokens = 11}).stop_reason == "--max-total-tokens 11");
  CHECK(sink.answers.size() == 3);  // 5, 10, 15
}

TEST_CASE("a request for several choices is one request") {
  std::vector<Request> requests = six_prompts();
  for (Request& r : requests) r.sampling.n = 2;
  WatchedSink sink;
  const RunOutcome outcome = session(make_plan({}), sink, {.requests = 6}, requests);
  CHECK(sink.answers.size() == 11);  // the sixth request counts with its first choice
  CHECK(outcome.stop_reason == "--max-requests 6");
}

TEST_CASE("seconds are those of the clock that was handed in, and no other") {
  double now = 1e9;
  const CapWatch watch({.seconds = 2.5}, [&] { return now; });
  now += 2499;
  CHECK(watch.reached().empty());
  now += 1;
  CHECK(watch.reached() == "--max-seconds 2.5");
  const Plan plan = grid({"load.concurrency=1,3"});
  WatchedSink sink;
  const RunOutcome outcome = session(plan, sink, {.seconds = 0.1});
  CHECK(outcome.stop_reason == "--max-seconds 0.1");
  CHECK(sink.answers.size() > 0);
  CHECK(sink.answers.size() < 12);
}

TEST_CASE("an answer that the store had already counts for nothing") {
  CapWatch watch({.requests = 1, .tokens = 1}, [] { return 0.0; });
  SampleRecord sample;
  sample.trace.positions.resize(3);
  watch.landed(sample, Landing::kAlreadySame);
  watch.landed(sample, Landing::kAlreadyDifferent);
  CHECK(watch.reached().empty());
  CHECK_FALSE(watch.anything_new());
  watch.landed(sample, Landing::kStored);
  CHECK(watch.reached() == "--max-requests 1");
  CHECK(watch.anything_new());
}
