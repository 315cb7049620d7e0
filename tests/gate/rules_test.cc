// Every kind of rule holds and breaks; what decides it is named; adding one never helps.
#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "gate/metrics.h"
#include "tests/gate/gated_runs.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

std::string rule(const std::string& members) {
  return "\"rules\": [{\"id\": \"r\", " + members + "}]";
}

// Differences of every kind between two runs of 8 prompts and 3 cells with 2 repeats.
struct Pair {
  RunRecord base = clean_run(8, 2), candidate = clean_run(8, 2);
};

void set_times(RunRecord& run, double factor) {
  for (CellRecord& cell : run.cells) cell.generated_tokens_per_s = 100 / factor;
  for (SampleRecord& s : run.samples) {
    s.trace.ttft_ms = 10 * factor;
    s.trace.total_ms = 50 * factor;
  }
}

Pair eventful() {
  Pair p;
  flip(p.candidate, 1, 0);
  flip(p.candidate, 2, 3);
  flip_suspiciously(p.base, p.candidate, 2, 4);
  drift(p.candidate, 2, 5, 0.5f);
  trace_of(p.candidate, 2, 5).positions[1].top[1].logprob -= 0.25f;
  trace_of(p.candidate, 1, 6).finish_reason = FinishReason::kStopToken;
  trace_of(p.candidate, 2, 7).finish_reason = FinishReason::kError;
  set_times(p.base, 1);
  set_times(p.candidate, 2);
  return p;
}

double figure(const std::string& metric, const Pair& p, const std::string& scope = "run",
              const std::string& where = "") {
  const Verdict verdict =
      gate_with(p.base, p.candidate,
                rule("\"metric\": \"" + metric + "\", \"scope\": \"" + scope + "\", \"max\": 1" +
                     (where.empty() ? "" : ", \"where\": {" + where + "}")));
  return result_of(verdict, "r").units.at(0).figure.value;
}

}  // namespace

TEST_CASE("every metric gives the figure that a hand gives") {
  const Pair p = eventful();
  // Prompts 0, 3 and 4 differ in tokens, 6 in its ending, 7 failed and is no trial.
  CHECK(figure("token_mismatch_rate", p) == doctest::Approx(4.0 / 7));
  CHECK(figure("token_match_rate", p) == doctest::Approx(3.0 / 7));
  CHECK(figure("bit_mismatch_rate", p) == doctest::Approx(5.0 / 7));
  CHECK(figure("bit_match_rate", p) == doctest::Approx(2.0 / 7));
  CHECK(figure("missing_rate", p) == doctest::Approx(1.0 / 48));
  CHECK(figure("token_flips", p) == 3);
  CHECK(figure("suspicious_flips", p) == 1);
  CHECK(figure("drift_flips", p) == 2);
  CHECK(figure("sampling_flips", p) == 0);
  CHECK(figure("tie_flips", p) == 0);
  CHECK(figure("drifted_answers", p) == 4);
  CHECK(figure("finish_differences", p) == 1);
  CHECK(figure("failed_answers", p) == 1);
  CHECK(figure("distinct_outputs", p) == 2);
  CHECK(figure("first_flip_position", p) == 1);
  CHECK(figure("max_drift_nats", p) == doctest::Approx(0.5).epsilon(1e-6));
  CHECK(figure("max_drift_ulp", p) > 1000);
  CHECK(figure("max_flip_margin", p) == doctest::Approx(9));
  CHECK(figure("top_agreement", p) > 0.9);
  // The suspicious flip: 20 led 99 by 9 at least, then 99 led 20 by 9.
  CHECK(figure("max_gap_drift", p) == doctest::Approx(18));
  CHECK(figure("edit_similarity", p) < 1);
  CHECK(figure("edit_similarity", p) > 0.9);
  // Of 16 pairs of the last cell one failed and two split, both where 15 were at risk.
  CHECK(figure("survival_share", p, "cell", "\"cells\": \"load.concurrency=32\"") ==
        doctest::Approx(13.0 / 15));
  // Nothing changed between the runs, so what differs does so from run to run, and is decided.
  CHECK(figure("undecided_divergences", p) == 0);
  CHECK(figure("run_to_run_divergences", p) == 4);
  CHECK(figure("throughput_ratio", p, "cell") == doctest::Approx(0.5));
  CHECK(figure("std_length", p, "cell") == 0);
  CHECK(figure("std_top1_prob", p, "cell") == doctest::Approx(0));
  CHECK(figure("ttft_p50_ratio", p) == doctest::Approx(2));
  CHECK(figure("ttft_p95_ratio", p) == doctest::Approx(2));
  CHECK(figure("latency_p50_ratio", p) == doctest::Approx(2));
  CHECK(figure("latency_p95_ratio", p) == doctest::Approx(2));
  CHECK(figure("request_speed_ratio", p) == doctest::Approx(0.5));
}

TEST_CASE(
    "the flip law and certificates as figures: what a rule sees is what the comparison says") {
  Pair p = eventful();
  const RunComparison full = compare_runs(p.base, p.candidate, {.detail = Detail::kFull});
  CHECK(figure("certified_rate", p) ==
        doctest::Approx(static_cast<double>(full.certificates->certified.matches) /
                        static_cast<double>(full.certificates->certified.trials)));
  REQUIRE_FALSE(full.flip_law->law);
  const Verdict few =
      gate_with(p.base, p.candidate, rule("\"metric\": \"flip_margin_1_percent\", \"max\": 1"));
  CHECK(result_of(few, "r").outcome == Outcome::kInconclusive);
  CHECK(result_of(few, "r").units.at(0).figure.missing.find("too few flips") != std::string::npos);
}

TEST_CASE("a fitted law's margin comes with its interval") {
  RunComparison comparison = compare_runs(clean_run(), clean_run(), {.detail = Detail::kFull});
  FlipLaw law;
  law.ratio_1_percent = {.value = 2, .interval95 = {.low = 1.5, .high = 3}};
  law.median_drift_nats = 0.1;
  comparison.flip_law = FlipLawResult{};
  comparison.flip_law->n_rows = 500;
  comparison.flip_law->n_flips = 20;
  comparison.flip_law->law = law;
  Selection selection;
  selection.comparison = &comparison;
  const Figure figure = flip_margin_1_percent(selection);
  CHECK(figure.value == doctest::Approx(0.2));
  CHECK(figure.interval95->low == doctest::Approx(0.15));
  CHECK(figure.interval95->high == doctest::Approx(0.3));
  CHECK(figure.counted.find("20 flips in 500 rows") != std::string::npos);
}

TEST_CASE("every metric of the table is a rule that holds on clean runs and can be broken") {
  const Pair clean = [] {
    Pair p;
    set_times(p.base, 1);
    set_times(p.candidate, 1);
    return p;
  }();
  for (const Metric& metric : metrics()) {
    for (const Scope scope : metric.scopes) {
      const std::string head =
          std::string("\"metric\": \"") + metric.name + "\", \"scope\": \"" + name(scope) + "\", ";
      CAPTURE(head);
      RunRecord base = clean.base, candidate = clean.candidate;
      for (RunRecord* run : {&base, &candidate}) {
        for (Request& request : run->requests) request.tags = {"t"};
        for (SampleRecord& s : run->samples) {
          s.trace.text = "an answer";
          s.trace.embedding = {1, 2};
        }
      }
      const bool never = std::string(metric.name) == "first_flip_position";
      const Verdict holds =
          gate_with(base, candidate, rule(head + "\"min\": -1" + (never ? "" : ", \"max\": 1")));
      // Distinct outputs of one prompt are at least one.
      CHECK(result_of(holds, "r").outcome == Outcome::kPass);
      const Verdict breaks =
          gate_with(base, candidate, rule(head + (never ? "\"max\": 1000000" : "\"max\": -2")));
      CHECK(result_of(breaks, "r").outcome == Outcome::kFail);
      CHECK(breaks.outcome == Outcome::kFail);
      const Verdict warns = gate_with(
          base, candidate,
          rule(head + "\"severity\": \"warn\", " + (never ? "\"max\": 1000000" : "\"max\": -2")));
      CHECK(warns.outcome == Outcome::kWarn);
      const Verdict informs = gate_with(
          base, candidate,
          rule(head + "\"severity\": \"info\", " + (never ? "\"max\": 1000000" : "\"max\": -2")));
      CHECK(informs.outcome == Outcome::kPass);
      CHECK(informs.notes.size() > 0);
    }
  }
}

TEST_CASE("a rule names the samples that decide it, a few and how many more") {
  RunRecord candidate = clean_run(8);
  for (int32_t prompt = 0; prompt < 5; ++prompt) flip(candidate, 2, prompt);
  const Verdict verdict =
      gate_with(clean_run(8), candidate,
                rule("\"metric\": \"token_flips\", \"scope\": \"cell\", \"max\": 1"));
  const std::string text = reasons_text(verdict);
  CHECK(contains(text,
                 "fail: r: token_flips of load.concurrency=32 is 5 (5 of 8 answers have "
                 "another token), at most 1; decided by load.concurrency=32 p0 at position "
                 "1, load.concurrency=32 p1 at position 1, load.concurrency=32 p2 at "
                 "position 1, and 2 more"));
  const RuleUnit* deciding = result_of(verdict, "r").deciding();
  REQUIRE(deciding != nullptr);
  CHECK(deciding->unit == "load.concurrency=32");
  CHECK(deciding->figure.n_deciding == 5);
}

TEST_CASE("a bound that too few samples allow is inconclusive, and says how many would do") {
  const std::string text =
      rule("\"metric\": \"token_mismatch_rate\", \"max\": 0.05, \"confidence\": \"bound\"");
  const Verdict few = gate_with(clean_run(8), clean_run(8), text);
  CHECK(few.outcome == Outcome::kInconclusive);
  // 1 - 0.05^(1/8) = 31.23 %; ln 0.05 / ln 0.95 = 58.4.
  CHECK(contains(reasons_text(few),
                 "is 0 % (0 of 8 prompts differ), at most 5 % with its 95 % bound; with 95 % "
                 "confidence only at most 31.23 %; 59 prompts without a difference would show it"));
  CHECK(gate_with(clean_run(58), clean_run(58), text).outcome == Outcome::kInconclusive);
  CHECK(gate_with(clean_run(59), clean_run(59), text).outcome == Outcome::kPass);
  RunRecord candidate = clean_run(59);
  for (int32_t prompt = 0; prompt < 3; ++prompt) flip(candidate, 1, prompt);
  CHECK(gate_with(clean_run(59), candidate, text).outcome == Outcome::kFail);
}

TEST_CASE("scopes and selectors look where they say and nowhere else") {
  RunRecord base = clean_run(4), candidate = clean_run(4);
  for (RunRecord* run : {&base, &candidate}) {
    run->requests[0].tags = {"a", "both"};
    run->requests[1].tags = {"b", "both"};
  }
  flip(candidate, 1, 0);
  const auto outcome = [&](const std::string& members) {
    return result_of(gate_with(base, candidate,
                               rule("\"metric\": \"token_flips\", \"max\": 0, " + members)),
                     "r")
        .outcome;
  };
  CHECK(outcome("\"scope\": \"run\"") == Outcome::kFail);
  CHECK(outcome("\"where\": {\"cells\": \"load.concurrency=32\"}") == Outcome::kPass);
  CHECK(outcome("\"where\": {\"cells\": \"load.*=8\"}") == Outcome::kFail);
  CHECK(outcome("\"where\": {\"axes\": {\"load.concurrency\": [\"1\", \"32\"]}}") ==
        Outcome::kPass);
  CHECK(outcome("\"where\": {\"axes\": {\"load.concurrency\": \"8\"}}") == Outcome::kFail);
  CHECK(outcome("\"where\": {\"tags\": \"b\"}") == Outcome::kPass);
  CHECK(outcome("\"where\": {\"tags\": [\"b\", \"both\"]}") == Outcome::kFail);
  CHECK(outcome("\"where\": {\"prompts\": [\"p1\", \"p2\", \"p3\"]}") == Outcome::kPass);
  CHECK(outcome("\"scope\": \"prompt\"") == Outcome::kFail);
  CHECK(outcome("\"against\": \"reference\"") == Outcome::kFail);

  const Verdict axis = gate_with(
      base, candidate, rule("\"metric\": \"token_flips\", \"scope\": \"axis\", \"max\": 0"));
  const auto& units = result_of(axis, "r").units;
  REQUIRE(units.size() == 3);
  CHECK(units[1].unit == "load.concurrency=8");
  CHECK(units[1].outcome == Outcome::kFail);
  CHECK(units[2].outcome == Outcome::kPass);
  const Verdict tags = gate_with(
      base, candidate, rule("\"metric\": \"token_flips\", \"scope\": \"tag\", \"max\": 0"));
  REQUIRE(result_of(tags, "r").units.size() == 3);
  CHECK(result_of(tags, "r").units[0].unit == "a");
  CHECK(result_of(tags, "r").units[1].outcome == Outcome::kPass);
}

TEST_CASE("a rule that selects nothing is inconclusive") {
  for (const char* where :
       {"\"cells\": \"load.concurrency=64\"", "\"prompts\": \"p9\"", "\"tags\": \"nobody\""}) {
    const Verdict verdict = gate_with(
        clean_run(), clean_run(),
        rule("\"metric\": \"token_flips\", \"scope\": \"cell\", \"max\": 0, \"where\": {" +
             std::string(where) + "}"));
    CAPTURE(where);
    CHECK(verdict.outcome == Outcome::kInconclusive);
    CHECK(contains(reasons_text(verdict), "nothing in scope cell for "));
  }
}

TEST_CASE("a metric that the target cannot give is unsupported, by name") {
  RunRecord bare = clean_run();
  for (SampleRecord& s : bare.samples) s.trace = tokens_only(s.trace);
  for (const char* metric : {"bit_mismatch_rate", "bit_match_rate", "drifted_answers",
                             "ttft_p50_ratio", "latency_p95_ratio", "request_speed_ratio"}) {
    const Verdict verdict =
        gate_with(bare, bare, rule(std::string("\"metric\": \"") + metric + "\", \"max\": 1"));
    CAPTURE(metric);
    CHECK(verdict.outcome == Outcome::kUnsupported);
    CHECK(contains(reasons_text(verdict), std::string("unsupported: r: metric ") + metric +
                                              " cannot be computed for run: n"));
  }
  RunRecord flipped = bare;
  trace_of(flipped, 1, 0).positions[1].token_id = 77;
  const Verdict margin =
      gate_with(bare, flipped, rule("\"metric\": \"max_flip_margin\", \"max\": 1"));
  CHECK(contains(reasons_text(margin), "no margins at the flips"));
}

TEST_CASE("a clock that jumped gives no times") {
  RunRecord base = clean_run(), candidate = clean_run();
  set_times(base, 1);
  set_times(candidate, 1);
  trace_of(candidate, 1, 0).ttft_ms = -5;
  trace_of(candidate, 1, 1).total_ms = 3;  // before the first token
  trace_of(candidate, 1, 2).total_ms = std::numeric_limits<double>::infinity();
  const Verdict some =
      gate_with(base, candidate, rule("\"metric\": \"latency_p95_ratio\", \"max\": 1.01"));
  CHECK(result_of(some, "r").outcome == Outcome::kPass);
  set_times(candidate, -1);
  const Verdict none =
      gate_with(base, candidate, rule("\"metric\": \"latency_p95_ratio\", \"max\": 1.01"));
  CHECK(none.outcome == Outcome::kUnsupported);
}

TEST_CASE("adding a rule never improves a verdict, one that fails makes it no better than a fail") {
  constexpr uint64_t kSeed = 20260617;
  MESSAGE("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto chance = [&](int n) {
    return static_cast<int32_t>(random() % static_cast<uint64_t>(n));
  };
  for (int i = 0; i < 150; ++i) {
    RunRecord base = clean_run(6, 2), candidate = clean_run(6, 2);
    for (int32_t n = chance(4); n > 0; --n) flip(candidate, chance(3), chance(6), chance(2));
    for (int32_t n = chance(3); n > 0; --n) drift(candidate, chance(3), chance(6));
    if (chance(4) == 0) candidate.cells[1].exercised = false;
    if (chance(6) == 0) candidate.status = "running";
    if (chance(6) == 0) candidate.fingerprint.items[0].value = "other";
    const int level = chance(3);
    const Metric& metric =
        metrics()[static_cast<size_t>(chance(static_cast<int>(metrics().size())))];
    const std::string limit = "\"max\": 0." + std::to_string(chance(10));
    const Verdict before = gate_with(base, candidate, "", level);
    const Verdict after =
        gate_with(base, candidate,
                  rule(std::string("\"metric\": \"") + metric.name + "\", \"scope\": \"" +
                       name(metric.scopes.front()) + "\", " + limit),
                  level);
    CHECK(precedence(after.outcome) >= precedence(before.outcome));
    const Verdict failing =
        gate_with(base, candidate, rule("\"metric\": \"token_flips\", \"max\": -1"), level);
    CHECK(precedence(failing.outcome) >= precedence(Outcome::kFail));
    CHECK(precedence(failing.outcome) >= precedence(before.outcome));
  }
}

TEST_CASE("1,000 clean pairs pass at every level") {
  constexpr uint64_t kSeed = 20260618;
  MESSAGE("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 1000; ++i) {
    const auto n_prompts = static_cast<int32_t>(1 + random() % 6);
    RunRecord run = clean_run(n_prompts, static_cast<int32_t>(1 + random() % 2));
    for (SampleRecord& s : run.samples) {
      std::mt19937_64 of_prompt(kSeed + static_cast<uint64_t>(1000 * i + s.prompt_index));
      for (TracePosition& p : s.trace.positions)
        p = position(static_cast<int32_t>(of_prompt() % 500), -0.25f,
                     static_cast<float>(of_prompt() % 64) / 16, of_prompt());
    }
    const Verdict verdict = gate_with(run, run, "", static_cast<int>(i % 3));
    if (verdict.outcome != Outcome::kPass) FAIL_CHECK(i << ": " << reasons_text(verdict));
  }
}
