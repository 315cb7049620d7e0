#include "gate/verdict.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

void flip(RunRecord& run, int32_t cell, int32_t prompt) {
  Trace& trace = trace_of(run, cell, prompt);
  trace.positions[1] = position(99, -0.25f, 0.0625f, 4711);
}

void drift(RunRecord& run, int32_t cell, int32_t prompt) {
  Trace& trace = trace_of(run, cell, prompt);
  trace.positions[1].logprob -= 0.001f;
  trace.positions[1].logits_hash = row_hash(4712);
}

void drop_sample(RunRecord& run, int32_t cell, int32_t prompt) {
  std::erase_if(run.samples, [&](const SampleRecord& s) {
    return s.cell_index == cell && s.prompt_index == prompt;
  });
}

void strip_hashes(RunRecord& run) {
  for (SampleRecord& s : run.samples) s.trace = tokens_only(s.trace);
}

Verdict check(const RunRecord& run, int level) {
  return check_run(compare_within_run(run), *level_from_number(level));
}

Verdict gate_at(const RunRecord& base, const RunRecord& candidate, int level) {
  const RunComparison within = compare_within_run(candidate);
  GateRequest request;
  request.level = *level_from_number(level);
  request.candidate_within = &within;
  return gate(compare_runs(base, candidate), request);
}

std::string first_reason(const Verdict& verdict) {
  return verdict.reasons.empty() ? "" : verdict.reasons[0].subject + ": " + verdict.reasons[0].text;
}

void rename_item(RunRecord& run, size_t i, const std::string& value) {
  run.fingerprint.items[i].value = value;
}

}  // namespace

TEST_CASE("a clean run passes at both levels and says what the evidence allows") {
  for (int level : {1, 2}) {
    const Verdict verdict = check(clean_run(64), level);
    CHECK(verdict.outcome == Outcome::kPass);
    CHECK(verdict.reasons.empty());
    CHECK(verdict.sentence.find(
              "64 of 64 prompts match (95 % bound: at most 4.6 % of such prompts differ)") !=
          std::string::npos);
  }
}

TEST_CASE("drift fails level 2 only, a flip fails both") {
  RunRecord run = clean_run();
  drift(run, 1, 0);
  CHECK(check(run, 1).outcome == Outcome::kPass);
  CHECK(check(run, 2).outcome == Outcome::kFail);
  CHECK(first_reason(check(run, 2)) ==
        "load.concurrency=8: 1 of 4 answers differ from cell reference: 0 in tokens, 1 in bits");
  flip(run, 2, 3);
  CHECK(check(run, 1).outcome == Outcome::kFail);
}

TEST_CASE("repeats of the reference that differ fail the run as well") {
  RunRecord run = clean_run(4, 2);
  trace_of(run, 0, 1, 1).positions[2].token_id = 31;
  const Verdict verdict = check(run, 1);
  CHECK(verdict.outcome == Outcome::kFail);
  CHECK(verdict.reasons[0].subject == "reference");
}

TEST_CASE("a cell that was not exercised is never a pass") {
  RunRecord run = clean_run();
  run.cells[2].exercised = false;
  run.cells[2].not_exercised_reason = "achieved batch 7 of 32";
  const Verdict verdict = check(run, 1);
  CHECK(verdict.outcome == Outcome::kInconclusive);
  CHECK(first_reason(verdict) == "load.concurrency=32: not exercised: achieved batch 7 of 32");
}

TEST_CASE("a missing, failed or truncated answer is inconclusive") {
  RunRecord run = clean_run();
  drop_sample(run, 1, 2);
  CHECK(check(run, 1).outcome == Outcome::kInconclusive);
  run = clean_run();
  trace_of(run, 1, 2).finish_reason = FinishReason::kError;
  CHECK(check(run, 2).outcome == Outcome::kInconclusive);
  run = clean_run();
  trace_of(run, 1, 2).positions.pop_back();
  CHECK(check(run, 1).outcome == Outcome::kInconclusive);
  run = clean_run();
  trace_of(run, 1, 2).non_finite = true;
  CHECK(check(run, 1).outcome == Outcome::kInconclusive);
  run = clean_run();
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.prompt_index == 3; });
  CHECK(check(run, 1).outcome == Outcome::kInconclusive);
}

TEST_CASE("level 2 without bits is unsupported, level 1 is not") {
  RunRecord run = clean_run();
  strip_hashes(run);
  CHECK(check(run, 1).outcome == Outcome::kPass);
  CHECK(check(run, 2).outcome == Outcome::kUnsupported);
}

TEST_CASE("hashes that one answer lost are missing evidence, and hide no difference") {
  RunRecord run = clean_run();
  trace_of(run, 1, 2) = tokens_only(trace_of(run, 1, 2));
  CHECK(check(run, 1).outcome == Outcome::kPass);
  CHECK(check(run, 2).outcome == Outcome::kInconclusive);
  flip(run, 1, 1);
  CHECK(check(run, 2).outcome == Outcome::kFail);
}

TEST_CASE("a run with nothing to compare is unsupported") {
  RunRecord run = clean_run();
  run.cells.resize(1);
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.cell_index != 0; });
  CHECK(check(run, 1).outcome == Outcome::kUnsupported);
}

TEST_CASE("a run that can be resumed is incomplete, whatever is missing so far") {
  RunRecord run = clean_run();
  run.status = "running";
  CHECK(check(run, 1).outcome == Outcome::kIncomplete);
  drop_sample(run, 2, 0);
  CHECK(check(run, 1).outcome == Outcome::kIncomplete);
  run.samples.clear();
  CHECK(check(run, 1).outcome == Outcome::kIncomplete);
  run = clean_run();
  run.cells[1].complete = false;
  CHECK(check(run, 1).outcome == Outcome::kIncomplete);
}

TEST_CASE("an unchanged candidate passes the gate") {
  const Verdict verdict = gate_at(clean_run(), clean_run(), 2);
  CHECK(verdict.outcome == Outcome::kPass);
  CHECK(verdict.reasons.empty());
  CHECK(verdict.level == Level::kBitwise);
}

TEST_CASE("a candidate whose answers differ fails the gate at the level it breaks") {
  RunRecord candidate = clean_run();
  for (int32_t c = 0; c < 3; ++c) drift(candidate, c, 1);
  CHECK(gate_at(clean_run(), candidate, 1).outcome == Outcome::kPass);
  const Verdict verdict = gate_at(clean_run(), candidate, 2);
  CHECK(verdict.outcome == Outcome::kFail);
  CHECK(verdict.reasons.size() == 3);
  CHECK(verdict.reasons[0].text.find("the base run") != std::string::npos);
}

TEST_CASE("a candidate that repeats the base run's dependence on load fails too") {
  RunRecord run = clean_run();
  flip(run, 1, 0);
  CHECK(gate(compare_runs(run, run), {}).outcome ==
        Outcome::kPass);  // nothing changed since the base
  const Verdict verdict = gate_at(run, run, 1);
  CHECK(verdict.outcome == Outcome::kFail);
  CHECK(first_reason(verdict) ==
        "load.concurrency=8: within the candidate, 1 of 4 answers differ from cell reference: 1 in "
        "tokens");
}

TEST_CASE(
    "other weights, tokenizer, template or prompts make runs incomparable, with both values") {
  const char* subjects[] = {"model.weights.stored_root", "text.chat_template", "text.tokenizer"};
  for (size_t i = 0; i < 3; ++i) {
    RunRecord candidate = clean_run();
    rename_item(candidate, i, "ee55");
    flip(candidate, 1, 0);  // a failure besides changes nothing
    const Verdict verdict = gate_at(clean_run(), candidate, 1);
    CHECK(verdict.outcome == Outcome::kIncomparable);
    CHECK(verdict.reasons[0].subject == subjects[i]);
    CHECK(verdict.reasons[0].text.find("candidate ee55") != std::string::npos);
    CHECK(verdict.reasons[0].text.find("base " + clean_run().fingerprint.items[i].value) !=
          std::string::npos);
  }
  RunRecord candidate = clean_run();
  candidate.prompts_digest = "0000";
  CHECK(gate_at(clean_run(), candidate, 1).outcome == Outcome::kIncomparable);
  candidate.prompts_digest.clear();
  CHECK(gate_at(candidate, candidate, 1).outcome == Outcome::kIncomparable);
}

TEST_CASE("anything else in the fingerprint may change: that is what a gate is for") {
  RunRecord candidate = clean_run();
  candidate.fingerprint.items.push_back(item(FingerprintClass::kHardware, "cpu.model", "another"));
  CHECK(gate_at(clean_run(), candidate, 2).outcome == Outcome::kPass);
}

TEST_CASE("a must-match item known on one side only cannot be shown to match") {
  for (size_t i = 0; i < 3; ++i) {
    RunRecord candidate = clean_run();
    candidate.fingerprint.items[i].source = FingerprintSource::kUnknown;
    candidate.fingerprint.items[i].reason = "the server does not say";
    const Verdict verdict = gate_at(clean_run(), candidate, 1);
    CHECK(verdict.outcome == Outcome::kIncomparable);
    CHECK(verdict.reasons[0].text.find("unknown (the server does not say)") != std::string::npos);
  }
}

TEST_CASE("weights unknown on both sides are a warning, a template that neither has is not") {
  RunRecord run = clean_run();
  run.fingerprint.items[1].source = FingerprintSource::kUnknown;
  CHECK(gate_at(run, run, 1).outcome == Outcome::kPass);
  run.fingerprint.items[0].source = FingerprintSource::kUnknown;
  const Verdict verdict = gate_at(run, run, 1);
  CHECK(verdict.outcome == Outcome::kWarn);
  CHECK(verdict.reasons[0].subject == "model.weights.stored_root");
}

TEST_CASE("a cell that the candidate skipped is inconclusive, one that it added a warning") {
  RunRecord fewer = clean_run();
  fewer.cells.pop_back();
  std::erase_if(fewer.samples, [](const SampleRecord& s) { return s.cell_index == 2; });
  CHECK(gate_at(clean_run(), fewer, 1).outcome == Outcome::kInconclusive);
  CHECK(gate_at(fewer, clean_run(), 1).outcome == Outcome::kWarn);
}

TEST_CASE("nothing in common is unsupported") {
  RunRecord candidate = clean_run();
  for (Request& request : candidate.requests) request.id += "x";
  const Verdict verdict = gate_at(clean_run(), candidate, 1);  // the digest claims the same prompts
  CHECK(verdict.outcome == Outcome::kUnsupported);
  CHECK(verdict.sentence.find("no prompt could be judged") != std::string::npos);
}

TEST_CASE(
    "where several outcomes apply: incomparable, unsupported, fail, incomplete, inconclusive, "
    "warn") {
  CHECK(precedence(Outcome::kIncomparable) > precedence(Outcome::kUnsupported));
  CHECK(precedence(Outcome::kUnsupported) > precedence(Outcome::kFail));
  CHECK(precedence(Outcome::kFail) > precedence(Outcome::kIncomplete));
  CHECK(precedence(Outcome::kIncomplete) > precedence(Outcome::kInconclusive));
  CHECK(precedence(Outcome::kInconclusive) > precedence(Outcome::kWarn));
  CHECK(precedence(Outcome::kWarn) > precedence(Outcome::kPass));

  RunRecord run = clean_run();
  drop_sample(run, 2, 0);  // 5
  run.status = "running";  // 8
  flip(run, 1, 0);         // 1
  CHECK(check(run, 2).outcome == Outcome::kFail);
  strip_hashes(run);  // 4
  const Verdict verdict = check(run, 2);
  CHECK(verdict.outcome == Outcome::kUnsupported);
  std::vector<int> order;
  for (const Reason& reason : verdict.reasons) order.push_back(precedence(reason.outcome));
  CHECK(std::is_sorted(order.rbegin(), order.rend()));
  CHECK(std::set<int>(order.begin(), order.end()).size() == 4);
}

TEST_CASE("prompts that were taken out of one run are missed, whatever the digest says") {
  const RunRecord base = clean_run(4);
  RunRecord candidate = clean_run(4);
  std::erase_if(candidate.samples, [](const SampleRecord& s) { return s.prompt_index == 3; });
  candidate.requests.pop_back();
  candidate.prompt_texts.pop_back();
  for (const Level level : {Level::kRequestReproducible, Level::kBitwise}) {
    GateRequest request;
    request.level = level;
    CHECK(gate(compare_runs(base, candidate), request).outcome == Outcome::kInconclusive);
    CHECK(gate(compare_runs(candidate, base), request).outcome == Outcome::kInconclusive);
  }
}

TEST_CASE("a comparison of the wrong kind is a bug in the caller") {
  CHECK_THROWS_AS(check_run(compare_runs(clean_run(), clean_run()), Level::kBitwise), Error);
  CHECK_THROWS_AS(gate(compare_within_run(clean_run()), {}), Error);
}
