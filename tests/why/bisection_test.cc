// bisect finds the planted change: one of several, a pair where only two together matter, and says
// so where nothing that can be set here explains it.
#include "why/bisection.h"

#include <doctest/doctest.h>

#include <set>

#include "base/error.h"
#include "tests/report/schema_check.h"
#include "tests/support/fake_target.h"
#include "tests/why/recorded_audit.h"
#include "why/run_changes.h"
#include "why/why_json.h"
#include "why/why_text.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

std::vector<Change> changes(size_t n) {
  std::vector<Change> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back({.name = "axis." + std::to_string(i), .from = "a", .to = "b", .effect = {}});
  return out;
}

AskWith guilty(std::set<std::set<size_t>> sets) {
  return [sets](const ChangeSet& applied) -> ProbeResult {
    for (const auto& set : sets) {
      if (std::includes(applied.begin(), applied.end(), set.begin(), set.end()))
        return {.outcome = ProbeOutcome::kDiffers, .note = {}};
    }
    return {};
  };
}

void check_schema(const Bisection& b) {
  for (const std::string& error :
       SchemaCheck("why.schema.json").errors(bisection_json(b, "base", "cand")))
    FAIL_CHECK(error);
}

// Answers otherwise only where two settings are as said.
class TwoSettingsFault : public Target {
 public:
  std::string name() const override { return "fake"; }
  Capabilities capabilities() const override { return good_.capabilities(); }
  void run(const Workload& workload, const std::function<void(size_t, Trace)>& on_trace) override {
    const auto is = [&](const char* key, const char* value) {
      const auto at = workload.settings.find(key);
      return at != workload.settings.end() && at->second == value;
    };
    const bool both = is("engine.kv_dtype", "bf16") && is("engine.threads", "2");
    (both ? bad_ : good_).run(workload, on_trace);
  }

 private:
  FakeTarget good_, bad_{{.diverge_above_batch = 0}};
};

Bisection bisection_of(Target& target, const RunRecord& base, const RunRecord& candidate,
                       std::optional<int32_t> cell = {}) {
  const CellPair pair =
      diverging_pair({.base = base, .candidate = candidate}, cell, {}, Level::kBitwise);
  const RunChanges found = changes_between(pair, false);
  const AskSource source{.target = [&](bool) -> Target& { return target; },
                         .traffic = traffic_source(target),
                         .level = Level::kBitwise,
                         .between_answers = {}};
  Bisection b;
  if (pair.answer) b = bisect(found.applicable, asking(pair, found.applicable, source));
  b.answer = pair.answer;
  b.suspects = found.suspects;
  check_schema(b);
  return b;
}

}  // namespace

TEST_CASE("the one change of many that matters is found") {
  for (size_t i = 0; i < 6; ++i) {
    const Bisection b = bisect(changes(6), guilty({{i}}));
    CHECK(b.result == BisectionResult::kFound);
    CHECK(b.explanations == std::vector<ChangeSet>{{i}});
    check_schema(b);
  }
}

TEST_CASE("every change that suffices alone is listed, and then no pair") {
  const Bisection b = bisect(changes(4), guilty({{0}, {3}, {1, 2}}));
  CHECK(b.explanations == std::vector<ChangeSet>{{0}, {3}});
}

TEST_CASE("a pair and a triple are found where nothing smaller matters") {
  CHECK(bisect(changes(5), guilty({{1, 4}})).explanations == std::vector<ChangeSet>{{1, 4}});
  const Bisection three = bisect(changes(5), guilty({{0, 2, 4}}));
  CHECK(three.explanations == std::vector<ChangeSet>{{0, 2, 4}});
  CHECK(bisection_text(three).find("these together make it: axis.0: a -> b, axis.2") !=
        std::string::npos);
}

TEST_CASE("a base that moves and a difference that does not show are answers of their own") {
  const Bisection moved = bisect(changes(3), guilty({{}}));
  CHECK(moved.result == BisectionResult::kBaseMoves);
  CHECK(moved.probes.size() == 1);
  const Bisection hidden = bisect(changes(3), guilty({}));
  CHECK(hidden.result == BisectionResult::kNotShown);
  CHECK(hidden.probes.size() == 2);
  CHECK(bisect({}, guilty({})).result == BisectionResult::kNotShown);
}

TEST_CASE("a budget that is spent is said, with the smallest set so far") {
  const Bisection b = bisect(changes(5), guilty({{1, 4}}), {.max_runs = 4});
  CHECK(b.result == BisectionResult::kOutOfRuns);
  CHECK(b.probes.size() == 4);
  CHECK(b.explanations == std::vector<ChangeSet>{{0, 1, 2, 3, 4}});
  CHECK(bisection_text(b).find("--max-runs") != std::string::npos);
}

TEST_CASE("no subset is asked twice, and each is shown") {
  std::set<ChangeSet> asked;
  int n_shown = 0;
  const AskWith ask = [&](const ChangeSet& applied) {
    CHECK(asked.insert(applied).second);
    return guilty({{0, 1, 2}})(applied);
  };
  bisect(changes(4), ask, {.on_probe = [&](const BisectionProbe&) { ++n_shown; }});
  CHECK(static_cast<size_t>(n_shown) == asked.size());
}

TEST_CASE("the axis value of a cell that diverges is found") {
  FakeTarget target({.diverge_above_batch = 2});
  const RunRecord run = recorded(
      target,
      plan_of({"load.concurrency=1,4", "engine.chunked_prefill=off,16", "load.position=first,last"},
              {}, Design::kGrid),
      drawn_prompts(4));
  for (const CellRecord& cell : run.cells) {
    if (axis_value(cell, "load.concurrency") != "4" || cell.is_reference()) continue;
    const Bisection b = bisection_of(target, run, run, cell.index);
    INFO(cell.name, "\n", bisection_text(b));
    CHECK(b.result == BisectionResult::kFound);
    REQUIRE(b.explanations.size() == 1);
    CHECK(change_set_text(b, b.explanations[0]) == "load.concurrency: 1 -> 4");
  }
}

TEST_CASE("a position that cannot be without company is impossible, not the same") {
  FakeTarget target({.diverge_above_batch = 2});
  const RunRecord run =
      recorded(target, plan_of({"load.concurrency=4", "load.position=last"}), drawn_prompts(4));
  for (const CellRecord& cell : run.cells) {
    if (axis_value(cell, "load.position") != "last") continue;
    const Bisection b = bisection_of(target, run, run, cell.index);
    CHECK(b.result == BisectionResult::kFound);
    CHECK(std::any_of(b.probes.begin(), b.probes.end(), [](const BisectionProbe& p) {
      return p.result.outcome == ProbeOutcome::kImpossible && !p.result.note.empty();
    }));
  }
}

TEST_CASE("two settings that matter only together are found between two runs") {
  TwoSettingsFault target;
  const auto prompts = drawn_prompts(3);
  const RunRecord base = recorded(target, plan_of({"load.concurrency=1"}), prompts, "base");
  const RunRecord candidate =
      recorded(target,
               plan_of({"load.concurrency=1"},
                       {"engine.kv_dtype=bf16", "engine.threads=2", "engine.chunked_prefill=32"}),
               prompts, "cand");
  const Bisection b = bisection_of(target, base, candidate);
  INFO(bisection_text(b));
  CHECK(b.result == BisectionResult::kFound);
  REQUIRE(b.explanations.size() == 1);
  CHECK(change_set_text(b, b.explanations[0]) ==
        "engine.threads: all -> 2, engine.kv_dtype: f16 -> bf16");
}

TEST_CASE("runs that do not differ have nothing to find") {
  FakeTarget target;
  const RunRecord base = recorded(target, plan_of({}), drawn_prompts(3), "base"),
                  candidate = recorded(target, plan_of({}), drawn_prompts(3), "cand");
  const Bisection b = bisection_of(target, base, candidate);
  CHECK(b.result == BisectionResult::kNoDifference);
  CHECK(bisection_text(b).find("no difference") != std::string::npos);
}

TEST_CASE("what cannot be set here remains a suspect, with what it can do") {
  FakeTarget target;
  FakeTarget elsewhere({.diverge_above_batch = 0});
  RunRecord base = recorded(target, plan_of({}), drawn_prompts(3), "base");
  RunRecord candidate = recorded(elsewhere, plan_of({}), drawn_prompts(3), "cand");
  base.fingerprint.items = {
      {.item_class = FingerprintClass::kSoftware, .name = "driver", .value = "550", .reason = {}}};
  candidate.fingerprint.items = base.fingerprint.items;
  candidate.fingerprint.items[0].value = "560";
  const Bisection b = bisection_of(target, base, candidate);
  CHECK(b.result == BisectionResult::kNotShown);
  REQUIRE(b.suspects.size() == 1);
  const std::string text = bisection_text(b);
  CHECK(text.find("software.driver: 550 -> 560") != std::string::npos);
  CHECK(text.find("cannot be set here") != std::string::npos);
}

TEST_CASE("a checkpoint that can be switched is a change like any other") {
  FakeTarget target, other({.diverge_above_batch = 0});
  const RunRecord base = recorded(target, plan_of({}), drawn_prompts(3), "base"),
                  candidate = recorded(other, plan_of({}, {"engine.chunked_prefill=8"}),
                                       drawn_prompts(3), "cand");
  const CellPair pair =
      diverging_pair({.base = base, .candidate = candidate}, {}, {}, Level::kBitwise);
  const RunChanges found = changes_between(pair, true);
  const AskSource source{
      .target = [&](bool candidates) -> Target& { return candidates ? other : target; },
      .traffic = traffic_source(target),
      .level = Level::kBitwise,
      .between_answers = {}};
  const Bisection b = bisect(found.applicable, asking(pair, found.applicable, source));
  REQUIRE(b.explanations.size() == 1);
  CHECK(b.changes[b.explanations[0][0]].name == kModelChange);
}

namespace {

// Another token at a position of one answer, or other bits only.
void change(RunRecord& run, int32_t prompt, size_t at, DifferenceIn what) {
  for (SampleRecord& sample : run.samples) {
    if (sample.prompt_index != prompt) continue;
    TracePosition& p = sample.trace.positions[at];
    if (what == DifferenceIn::kTokens) p.token_id += 1;
    (*p.logits_hash)[0] ^= 1;
  }
}

std::optional<DivergingAnswer> chosen(const RunRecord& base, const RunRecord& candidate,
                                      Level level = Level::kBitwise,
                                      std::optional<int32_t> prompt = {}) {
  return diverging_pair({.base = base, .candidate = candidate}, {}, prompt, level).answer;
}

}  // namespace

TEST_CASE("the answer whose tokens part earliest is explained, then one whose bits do") {
  FakeTarget target;
  const RunRecord base = recorded(target, plan_of({}), drawn_prompts(4), "base");
  RunRecord candidate = recorded(target, plan_of({}), drawn_prompts(4), "cand");
  CHECK_FALSE(chosen(base, candidate));
  change(candidate, 0, 3, DifferenceIn::kBits);
  change(candidate, 1, 2, DifferenceIn::kBits);
  REQUIRE(chosen(base, candidate));
  CHECK(chosen(base, candidate)->request_id == "prompt-1");
  CHECK(chosen(base, candidate)->in == DifferenceIn::kBits);
  change(candidate, 2, 6, DifferenceIn::kTokens);
  change(candidate, 3, 5, DifferenceIn::kTokens);
  const DivergingAnswer answer = *chosen(base, candidate);
  CHECK(answer.request_id == "prompt-3");
  CHECK(answer.in == DifferenceIn::kTokens);
  CHECK(answer.position == 5);
  CHECK(answer.n_diverging == 4);
  CHECK(chosen(base, candidate, Level::kRequestReproducible)->n_diverging == 2);
  CHECK(chosen(base, candidate, Level::kBitwise, 0)->request_id == "prompt-0");
}

TEST_CASE("bisect says which answer it explains and why that one") {
  Bisection b = bisect(changes(2), guilty({{1}}));
  b.answer = DivergingAnswer{.request_id = "p7", .in = DifferenceIn::kTokens, .position = 12};
  b.answer->n_diverging = 9;
  CHECK(bisection_text(b).find("answer p7: its tokens part at position 12; chosen because of 9 "
                               "answers that differ no other parts earlier in tokens") !=
        std::string::npos);
  b.answer->in = DifferenceIn::kBits;
  CHECK(bisection_text(b).find("its bits differ from position 12, its tokens do not") !=
        std::string::npos);
  b.answer->n_diverging = 1;
  CHECK(bisection_text(b).find("it is the only one that differs") != std::string::npos);
  check_schema(b);
}

TEST_CASE("runs with nothing in common are refused") {
  FakeTarget target;
  const RunRecord base = recorded(target, plan_of({}), drawn_prompts(2), "base");
  auto others = drawn_prompts(2);
  for (Request& r : others) r.id += "-other";
  const RunRecord candidate = recorded(target, plan_of({}), others, "cand");
  try {
    diverging_pair({.base = base, .candidate = candidate}, {}, {}, Level::kBitwise);
    FAIL_CHECK("no error");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::unsupported);
  }
}
