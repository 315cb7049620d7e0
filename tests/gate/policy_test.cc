// What else a policy says: coverage, overrides, tiers, expected changes, levels.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/gate/gated_runs.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

RunRecord tagged_run() {
  RunRecord run = clean_run(4);
  run.requests[0].tags = {"billing"};
  run.requests[1].tags = {"eval", "chat"};
  run.requests[2].tags = {"chat"};
  for (SampleRecord& s : run.samples) {
    s.trace.ttft_ms = 10;
    s.trace.total_ms = 40;
  }
  return run;
}

constexpr const char* kTiers =
    "\"tiers\": [{\"name\": \"exact\", \"tags\": [\"billing\", \"eval\"], \"level\": 2}, "
    "{\"name\": \"rest\", \"level\": 0}]";

std::string override_of(const std::string& members, const std::string& expires = "2026-06-15") {
  return "\"overrides\": [{" + members + ", \"reason\": \"known\", \"expires\": \"" + expires +
         "\"}]";
}

RunRecord with_item(RunRecord run, FingerprintClass c, const char* item_name, const char* value) {
  run.fingerprint.items.push_back(item(c, item_name, value));
  return run;
}

}  // namespace

TEST_CASE("less than the policy wants covered is inconclusive") {
  const RunRecord run = clean_run(4);
  CHECK(gate_with(run, run, "\"coverage\": {\"min_prompts\": 4, \"min_samples\": 12}").outcome ==
        Outcome::kPass);
  const Verdict prompts = gate_with(run, run, "\"coverage\": {\"min_prompts\": 5}");
  CHECK(prompts.outcome == Outcome::kInconclusive);
  CHECK(contains(reasons_text(prompts),
                 "coverage: 4 prompts were compared, the policy wants 5 or more"));
  CHECK(gate_with(run, run, "\"coverage\": {\"min_samples\": 13}").outcome ==
        Outcome::kInconclusive);
  CHECK(gate_with(run, run, "\"coverage\": {\"cells\": [\"load.concurrency=*\"]}").outcome ==
        Outcome::kPass);
  const Verdict cell = gate_with(run, run, "\"coverage\": {\"cells\": [\"load.concurrency=31\"]}");
  CHECK(contains(reasons_text(cell),
                 "no cell 'load.concurrency=31' was exercised and compared "
                 "(did you mean 'load.concurrency=32'?)"));
  RunRecord idle = run;
  idle.cells[2].exercised = false;
  CHECK(contains(
      reasons_text(gate_with(run, idle, "\"coverage\": {\"cells\": [\"load.concurrency=32\"]}")),
      "no cell 'load.concurrency=32' was exercised"));
}

TEST_CASE("an override lets through what it names and nothing else") {
  RunRecord candidate = clean_run();
  flip(candidate, 1, 0);
  const auto outcome = [&](const std::string& members) {
    return gate_with(clean_run(), candidate, override_of(members), 1).outcome;
  };
  CHECK(outcome("\"cell\": \"load.concurrency=8\"") == Outcome::kPass);
  CHECK(outcome("\"cell\": \"load.concurrency=32\"") == Outcome::kFail);
  CHECK(outcome("\"prompt\": \"p0\"") == Outcome::kPass);
  CHECK(outcome("\"prompt\": \"p1\"") == Outcome::kFail);
  CHECK(outcome("\"prompt\": \"p0\", \"cell\": \"load.concurrency=32\"") == Outcome::kFail);
  CHECK(outcome("\"prompt\": \"p0\", \"rule\": \"same-tokens\"") == Outcome::kFail);  // -loaded
  const Verdict both = gate_with(
      clean_run(), candidate,
      "\"overrides\": ["
      "{\"rule\": \"same-tokens\", \"reason\": \"a\", \"expires\": \"2026-06-15\"},"
      "{\"rule\": \"same-tokens-loaded\", \"reason\": \"b\", \"expires\": \"2026-07-01\"}]",
      1);
  CHECK(both.outcome == Outcome::kPass);
  CHECK(result_of(both, "same-tokens").let_through == "a");
  REQUIRE(both.notes.size() == 4);
  CHECK(both.notes[0].text == "would be fail, and is let through");
  CHECK(both.notes[2].text == "what rule same-tokens finds let through until 2026-06-15: a");
}

TEST_CASE("an override of a cell or prompt covers missing evidence too") {
  RunRecord candidate = clean_run();
  candidate.cells[1].exercised = false;
  CHECK(gate_with(clean_run(), candidate, override_of("\"cell\": \"load.concurrency=8\""), 1)
            .outcome == Outcome::kPass);
  RunRecord dropped = clean_run();
  drop_sample(dropped, 2, 3);
  CHECK(gate_with(clean_run(), dropped, override_of("\"prompt\": \"p2\""), 1).outcome ==
        Outcome::kInconclusive);
  CHECK(gate_with(clean_run(), dropped, override_of("\"prompt\": \"p3\""), 1).outcome ==
        Outcome::kPass);
}

TEST_CASE("an override holds through its day and is an error the day after") {
  CHECK_NOTHROW(gate_with(clean_run(), clean_run(), override_of("\"cell\": \"c\""), 1));
  try {
    gate_with(clean_run(), clean_run(), override_of("\"cell\": \"c\"", "2026-06-14"), 1);
    FAIL("an expired override was taken");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::usage);
    CHECK(e.message() ==
          "p.json, line 1, column 41: the override \"known\" expired on 2026-06-14 "
          "(today is 2026-06-15)");
  }
}

TEST_CASE("suspicious flips fail at every level, and only an override of that rule lets them go") {
  RunRecord base = clean_run(4, 2), candidate = clean_run(4, 2);
  flip_suspiciously(base, candidate, 1, 0);
  for (const int level : {0, 1, 2}) {
    const Verdict verdict = gate_with(base, candidate, "", level);
    CHECK(verdict.outcome == Outcome::kFail);
    CHECK(result_of(verdict, "suspicious-flips").outcome == Outcome::kFail);
  }
  CHECK(contains(gate_with(base, candidate, "").sentence, "FAIL at level 0"));
  CHECK(gate_with(base, candidate, override_of("\"prompt\": \"p0\"")).outcome == Outcome::kFail);
  CHECK(
      gate_with(base, candidate,
                "\"overrides\": [{\"rule\": \"suspicious-flips\", \"prompt\": \"p0\", \"reason\": "
                "\"r\", \"expires\": \"2026-06-15\"}, {\"rule\": \"suspicious-flips-loaded\", "
                "\"reason\": \"r\", \"expires\": \"2026-06-15\"}]")
          .outcome == Outcome::kPass);
}

TEST_CASE("level 0 holds the candidate against the noise of the base's own repeats") {
  const int32_t n = 40;
  RunRecord base = clean_run(n, 2), candidate = clean_run(n, 2);
  for (int32_t p = 0; p < 8; ++p) flip(base, 0, p, 1);  // noise: 8 of 40
  for (int32_t p = 10; p < 18; ++p) flip(candidate, 1, p);
  CHECK(gate_with(base, candidate, "").outcome == Outcome::kPass);
  CHECK(result_of(gate_with(base, candidate, ""), "within-noise").deciding()->figure.counted ==
        "8 of 40 prompts differ, 8 of 40 between repeats");
  for (int32_t p = 10; p < 36; ++p) flip(candidate, 1, p);  // 26 of 40 is more than noise
  const Verdict verdict = gate_with(base, candidate, "");
  CHECK(verdict.outcome == Outcome::kFail);
  CHECK(contains(verdict.sentence, "answers differ more than the base run's own repeats do"));
  CHECK(contains(reasons_text(verdict), "26 of 40 prompts differ, 8 of 40 between repeats"));
}

TEST_CASE("without repeats level 0 knows no noise: clean passes, a difference is inconclusive") {
  RunRecord candidate = clean_run();
  CHECK(gate_with(clean_run(), candidate, "").outcome == Outcome::kPass);
  flip(candidate, 1, 0);
  const Verdict verdict = gate_with(clean_run(), candidate, "");
  CHECK(verdict.outcome == Outcome::kInconclusive);
  CHECK(contains(reasons_text(verdict), "the base run has no repeats"));
}

TEST_CASE(
    "a candidate asked more often than the base has no repeat in which it may differ unseen") {
  RunRecord candidate = clean_run(8, 5);
  CHECK(gate_with(clean_run(8, 1), candidate, "").outcome == Outcome::kPass);
  for (int32_t p = 0; p < 8; ++p) flip(candidate, 1, p, 4);
  CHECK(gate_with(clean_run(8, 1), candidate, "").outcome == Outcome::kInconclusive);
  CHECK(gate_with(clean_run(8, 2), candidate, "").outcome == Outcome::kFail);
  CHECK(gate_with(clean_run(8, 1), candidate,
                  "\"rules\": [{\"id\": \"r\", \"metric\": \"token_flips\", \"max\": 0}]")
            .outcome == Outcome::kFail);
}

TEST_CASE("one misspelt name among others is told: it would drop what it promises without a word") {
  RunRecord base = clean_run();
  base.requests[0].tags = {"billing"};
  const auto judged = [&](const std::string& policy) { return gate_with(base, base, policy); };
  CHECK(
      judged("\"tiers\": [{\"name\": \"exact\", \"tags\": [\"billing\"], \"level\": 2}]").outcome ==
      Outcome::kPass);
  const Verdict tier =
      judged("\"tiers\": [{\"name\": \"exact\", \"tags\": [\"billing\", \"evl\"], \"level\": 2}]");
  CHECK(tier.outcome == Outcome::kWarn);
  CHECK(contains(reasons_text(tier), "names the tag evl, which was not recorded"));
  const auto rule = [&](const std::string& where) {
    return judged(
        "\"rules\": [{\"id\": \"r\", \"metric\": \"token_flips\", \"scope\": \"run\", "
        "\"max\": 0, \"where\": " +
        where + "}]");
  };
  CHECK(rule("{\"tags\": \"billing\", \"cells\": \"*\", \"prompts\": [\"p0\", \"p*\"]}").outcome ==
        Outcome::kPass);
  for (const char* where : {"{\"tags\": [\"billing\", \"bilng\"]}",
                            "{\"cells\": [\"*\", \"lod*\"]}", "{\"prompts\": [\"p0\", \"p99\"]}"}) {
    CAPTURE(where);
    const Verdict verdict = rule(where);
    CHECK(verdict.outcome == Outcome::kWarn);
    CHECK(contains(reasons_text(verdict), "which was not recorded"));
  }
}

TEST_CASE("a tier that takes no request, an override that lets nothing through: a warning each") {
  const Verdict tier =
      gate_with(clean_run(), clean_run(),
                "\"tiers\": [{\"name\": \"exact\", \"tags\": [\"exct\"], \"level\": 2}]");
  CHECK(tier.outcome == Outcome::kWarn);
  CHECK(contains(reasons_text(tier), "takes no request: none has the tag exct"));
  for (const char* name : {"\"prompt\": \"p99\"", "\"cell\": \"load.concurrency=9\""}) {
    const Verdict verdict = gate_with(clean_run(), clean_run(), override_of(name));
    CHECK(verdict.outcome == Outcome::kWarn);
    CHECK(contains(reasons_text(verdict), "which is in no cell that was compared"));
  }
}

TEST_CASE("a verdict that passes over differences says what lets them through") {
  RunRecord candidate = clean_run();
  flip(candidate, 1, 0);
  const Verdict waived = gate_with(clean_run(), candidate, override_of("\"prompt\": \"p0\""), 1);
  CHECK(waived.outcome == Outcome::kPass);
  CHECK(contains(waived.sentence, "answers differ, and overrides let it through; 3 of 4"));
}

TEST_CASE("level 0 of one run holds its cells against its own repeats") {
  RunRecord run = clean_run(40, 2);
  for (int32_t p = 0; p < 20; ++p) flip(run, 2, p);
  CHECK(check_run(compare_within_run(run), Level::kStatistical).outcome == Outcome::kFail);
  for (int32_t p = 0; p < 20; ++p) flip(run, 0, p, 1);
  CHECK(check_run(compare_within_run(run), Level::kStatistical).outcome == Outcome::kPass);
}

TEST_CASE("each tier is judged at its own level, by the first tag that fits") {
  RunRecord candidate = tagged_run();
  flip(candidate, 1, 2);  // of the rest, whose level 0 has no repeats to measure by
  const Verdict rest = gate_with(tagged_run(), candidate, kTiers);
  CHECK(rest.outcome == Outcome::kInconclusive);
  candidate = tagged_run();
  drift(candidate, 1, 1);  // of "exact", although "chat" is a tag of it too
  const Verdict exact = gate_with(tagged_run(), candidate, kTiers);
  CHECK(exact.outcome == Outcome::kFail);
  CHECK(contains(reasons_text(exact),
                 "fail: load.concurrency=8: tier exact: 1 of 2 answers differ "
                 "from the base run: 0 in tokens, 1 in bits"));
  drift(candidate = tagged_run(), 1, 2);
  CHECK(gate_with(tagged_run(), candidate, kTiers).outcome == Outcome::kPass);
}

TEST_CASE("the tier table says what each tier gets and what it costs") {
  RunRecord candidate = tagged_run();
  drift(candidate, 1, 1);
  for (SampleRecord& s : candidate.samples) {
    if (s.prompt_index < 2) s.trace.total_ms = 80;
  }
  const Verdict verdict = gate_with(tagged_run(), candidate, kTiers);
  REQUIRE(verdict.tiers.size() == 2);
  const TierResult& exact = verdict.tiers[0];
  CHECK(exact.n_prompts == 2);
  CHECK(exact.match.value == 0.5);
  CHECK(exact.base->latency_p95_ms == 40);
  CHECK(exact.candidate->latency_p95_ms == 80);
  CHECK(exact.candidate->tokens_per_s == doctest::Approx(50));  // 4 tokens in 80 ms
  CHECK(verdict.tiers[1].n_prompts == 2);
  CHECK(verdict.tiers[1].match.value == 1);
  CHECK(verdict.tiers[1].candidate->latency_p95_ms == 40);
  const Verdict open =
      gate_with(tagged_run(), tagged_run(),
                "\"tiers\": [{\"name\": \"exact\", \"tags\": \"billing\", \"level\": 2}]", 1);
  REQUIRE(open.tiers.size() == 2);
  CHECK(open.tiers[1].tier.name == "other requests");
  CHECK(open.tiers[1].tier.level == Level::kRequestReproducible);
  CHECK(gate_with(tagged_run(), tagged_run(), "").tiers.empty());
}

TEST_CASE("an expected change that did not happen warns, an unexpected one is what it is called") {
  const RunRecord base = with_item(clean_run(), FingerprintClass::kSoftware, "openblas", "1");
  const RunRecord upgraded = with_item(clean_run(), FingerprintClass::kSoftware, "openblas", "2");
  const auto outcome = [&](const RunRecord& candidate, const std::string& members) {
    return gate_with(base, candidate, "\"expected_changes\": {" + members + "}").outcome;
  };
  CHECK(outcome(upgraded, "\"expected\": [\"software.openblas\"], \"unexpected\": \"fail\"") ==
        Outcome::kPass);
  CHECK(outcome(upgraded, "\"allowed\": [\"software.*\"], \"unexpected\": \"fail\"") ==
        Outcome::kPass);
  CHECK(outcome(upgraded, "\"allowed\": [\"hardware.*\"], \"unexpected\": \"fail\"") ==
        Outcome::kFail);
  CHECK(outcome(upgraded, "\"unexpected\": \"warn\"") == Outcome::kWarn);
  CHECK(outcome(upgraded, "\"expected\": []") == Outcome::kPass);
  CHECK(outcome(base, "\"expected\": [\"software.openblas\"]") == Outcome::kWarn);
  const Verdict typo = gate_with(base, upgraded,
                                 "\"expected_changes\": {\"expected\": "
                                 "[\"software.openbla\"]}");
  CHECK(contains(reasons_text(typo), "did you mean 'software.openblas'"));
  const Verdict changed = gate_with(base, upgraded, "");
  REQUIRE(changed.changes.size() == 1);
  CHECK(changed.changes[0].change.name == "openblas");
  CHECK(changed.changes[0].expectation == Expectation::kUnexpected);
}

TEST_CASE("a policy chooses what must match") {
  RunRecord other = clean_run();
  other.fingerprint.items[0].value = "ee55";
  other.prompts_digest = "0000";
  CHECK(gate_with(clean_run(), other, "\"must_match\": []", 1).outcome == Outcome::kPass);
  CHECK(gate_with(clean_run(), other, "\"must_match\": [\"prompts\"]", 1).outcome ==
        Outcome::kIncomparable);
  CHECK(
      gate_with(clean_run(), other, "\"must_match\": [\"model.weights.stored_root\"]", 1).outcome ==
      Outcome::kIncomparable);
  const Verdict unknown =
      gate_with(clean_run(), clean_run(), "\"must_match\": [\"text.tokeniser\"]", 1);
  CHECK(unknown.outcome == Outcome::kInconclusive);
  CHECK(contains(reasons_text(unknown), "did you mean 'text.tokenizer'"));
}

TEST_CASE("what a change can affect is asked of whoever knows") {
  GateRequest request;
  request.effect_of = [](FingerprintClass, const std::string& item) { return "effect of " + item; };
  const RunRecord upgraded = with_item(clean_run(), FingerprintClass::kHardware, "gpu", "B");
  const Verdict verdict = gate(compare_runs(clean_run(), upgraded), request);
  REQUIRE(verdict.changes.size() == 1);
  CHECK(verdict.changes[0].effect == "effect of gpu");
}

TEST_CASE("a rule against the reference cell needs the candidate's own comparison") {
  const Policy policy = policy_of(
      "\"rules\": [{\"id\": \"r\", \"metric\": \"token_flips\", \"against\": \"reference\", "
      "\"max\": 0}]");
  GateRequest request;
  request.policy = &policy;
  const Verdict verdict = gate(compare_runs(clean_run(), clean_run()), request);
  CHECK(verdict.outcome == Outcome::kInconclusive);
}
