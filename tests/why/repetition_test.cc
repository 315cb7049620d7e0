#include "why/repetition.h"

#include <doctest/doctest.h>

#include "tests/report/schema_check.h"
#include "tests/support/fake_target.h"
#include "tests/why/recorded_audit.h"
#include "why/why_json.h"
#include "why/why_text.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

Repetition repetition_of(Target& target, const RunRecord& run, int32_t n, bool by_itself) {
  const SampleAddress address{.cell_index = 1, .key = {.prompt_index = 1}};
  Execution execution = recorded_execution(run, address, traffic_source(target));
  if (by_itself) execution = alone(execution);
  const Repetition r = repeat(target, execution, trace_at(run, address), {.n = n});
  for (const std::string& error :
       SchemaCheck("why.schema.json").errors(repetition_json(r, "4f2a/1/p", by_itself, "recorded")))
    FAIL_CHECK(error);
  return r;
}

}  // namespace

TEST_CASE("the engine gives the recorded answer every time, in its schedule and alone") {
  BuiltinTarget target = bundled_target();
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts(4));
  for (const bool by_itself : {false, true}) {
    const Repetition r = repetition_of(target, run, 5, by_itself);
    CHECK(r.n_same_tokens == 5);
    CHECK(r.n_same_bits == 5);
    CHECK(r.n_distinct_bits == 1);
    CHECK(r.all_as_recorded());
    CHECK_FALSE(r.first_split);
  }
}

TEST_CASE("an unstable target is found") {
  FakeTarget target({.unstable_from_run = 4});  // the record takes two, two more are stable
  const RunRecord run = recorded(target, plan_of({"load.concurrency=4"}), drawn_prompts(4));
  const Repetition r = repetition_of(target, run, 5, false);
  CHECK(r.n_same_bits == 2);
  CHECK(r.n_distinct_tokens == 4);  // the recorded one, and three that are all different
  CHECK_FALSE(r.all_as_recorded());
  REQUIRE(r.first_split);
  CHECK(r.first_split->position == 0);
  CHECK(r.first_split->in_tokens());
  CHECK_FALSE(r.runs[0]);
  CHECK(r.runs[4]);
  CHECK(repetition_text(r, "x", "recorded").find("first split: position 0, in tokens") !=
        std::string::npos);
}

TEST_CASE("a request that is answered otherwise alone is told apart in bits and tokens") {
  FakeTarget bits({.shift_ulp_above_batch = 2}),
      tokens({.diverge_above_batch = 2, .diverge_at = 5});
  for (FakeTarget* target : {&bits, &tokens}) {
    const RunRecord run = recorded(*target, plan_of({"load.concurrency=4"}), drawn_prompts(4));
    CHECK(repetition_of(*target, run, 3, false).all_as_recorded());
    const Repetition r = repetition_of(*target, run, 3, true);
    CHECK(r.n_same_bits == 0);
    CHECK(r.n_same_tokens == (target == &bits ? 3 : 0));
    CHECK(r.n_distinct_bits == 1);
    CHECK(r.first_split->in_tokens() == (target == &tokens));
    CHECK(r.first_split->position == (target == &bits ? 0 : 5));
    CHECK(r.first_token_split == (target == &bits ? std::nullopt : std::optional<int32_t>(5)));
  }
}

TEST_CASE("a shortened answer splits where it ends") {
  FakeTarget whole, cut({.drop_last_token = true});
  const RunRecord run = recorded(whole, plan_of({"load.concurrency=4"}), drawn_prompts(4));
  const Repetition r = repetition_of(cut, run, 2, false);
  CHECK(r.n_same_tokens == 0);
  CHECK(r.first_split->position == 7);
  CHECK(r.first_split->in_tokens());
}
