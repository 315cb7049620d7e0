#include <doctest/doctest.h>

#include <algorithm>

#include "compare/request_identity.h"
#include "compare/run_comparison.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

RunRecord candidate_run(int32_t n_prompts = 4, int32_t n_repeats = 1) {
  RunRecord run = clean_run(n_prompts, n_repeats);
  run.id = "run-b";
  return run;
}

}  // namespace

TEST_CASE("two runs with the same answers match cell by cell, the reference cells included") {
  const RunComparison comparison = compare_runs(clean_run(), candidate_run());
  CHECK(comparison.kind == ComparisonKind::kBetweenRuns);
  CHECK(comparison.base.id == "run-a");
  CHECK(comparison.candidate.id == "run-b");
  REQUIRE(comparison.cells.size() == 3);
  for (const CellComparison& cell : comparison.cells) CHECK(cell.counts.bit_matches == 4);
  CHECK(comparison.fingerprint_changes.empty());
  CHECK(comparison.group_changes.empty());
}

TEST_CASE("prompts are matched by what they ask, not by their place") {
  const RunRecord base = clean_run();
  RunRecord candidate = candidate_run();
  std::reverse(candidate.requests.begin(), candidate.requests.end());
  for (SampleRecord& s : candidate.samples) s.prompt_index = 3 - s.prompt_index;
  trace_of(candidate, 1, 0).positions[2].token_id =
      31;  // the candidate's request 0 is the base's p3
  const RunComparison comparison = compare_runs(base, candidate);
  CHECK(comparison.totals.token_divergences == 1);
  const auto& pairs = comparison.cells[1].pairs;
  const auto at = std::find_if(pairs.begin(), pairs.end(), [](const PairComparison& p) {
    return p.divergence.token.has_value();
  });
  REQUIRE(at != pairs.end());
  CHECK(at->request_id == "p3");
  CHECK(at->prompt_index == 3);
  CHECK(at->divergence.token->reference_token == 30);
  CHECK(at->divergence.token->candidate_token == 31);
}

TEST_CASE("a prompt with other token ids or parameters is another prompt") {
  const RunRecord base = clean_run();
  RunRecord candidate = candidate_run();
  candidate.requests[0].prompt_token_ids.push_back(4);
  candidate.requests[1].sampling.temperature = 0.5;
  const RunComparison comparison = compare_runs(base, candidate);
  CHECK(comparison.prompts_only_in_base == std::vector<std::string>{"p0", "p1"});
  CHECK(comparison.prompts_only_in_candidate == std::vector<std::string>{"p0", "p1"});
  CHECK(comparison.cells[0].counts.n_pairs == 2);
}

TEST_CASE("every answer-changing field is part of a request's identity, and nothing else") {
  const Request base;
  const auto differs = [&](auto&& change) {
    Request other = base;
    change(other);
    return identity_text(other) != identity_text(base);
  };
  CHECK(differs([](Request& r) { r.id = "x"; }));
  CHECK(differs([](Request& r) { r.max_tokens = 17; }));
  CHECK(differs([](Request& r) { r.sampling.seed = 1; }));
  CHECK(differs([](Request& r) { r.sampling.top_k = 1; }));
  CHECK(differs([](Request& r) { r.sampling.top_p = 0.9; }));
  CHECK(differs([](Request& r) { r.sampling.min_p = 0.1; }));
  CHECK(differs([](Request& r) { r.sampling.presence_penalty = 0.1; }));
  CHECK(differs([](Request& r) { r.sampling.frequency_penalty = 0.1; }));
  CHECK(differs([](Request& r) { r.sampling.repetition_penalty = 1.1; }));
  CHECK(differs([](Request& r) { r.sampling.logit_bias = {{1, 2.0}}; }));
  CHECK(differs([](Request& r) { r.sampling.n = 2; }));
  CHECK(differs([](Request& r) { r.stop.ignore_eos = true; }));
  CHECK(differs([](Request& r) { r.stop.strings = {"a"}; }));
  CHECK(differs([](Request& r) { r.stop.token_ids = {1}; }));
  CHECK(differs([](Request& r) { r.forced_token_ids = {1}; }));
  CHECK_FALSE(differs([](Request& r) { r.n_top = 9; }));
  CHECK_FALSE(differs([](Request& r) { r.tags = {"x"}; }));
  Request ab, a_b;
  ab.stop.strings = {"ab"};
  a_b.stop.strings = {"a", "b"};
  CHECK(identity_text(ab) != identity_text(a_b));
}

TEST_CASE("the same request asked twice is matched in order") {
  const std::vector<Request> twice(2);
  const RequestMatch match = match_requests(twice, std::vector<Request>(3));
  CHECK(match.base_to_candidate == std::map<int32_t, int32_t>{{0, 0}, {1, 1}});
  CHECK(match.only_in_base.empty());
  CHECK(match.only_in_candidate.size() == 1);
}

TEST_CASE("cells that only one run has are named") {
  RunRecord candidate = candidate_run();
  candidate.cells[2].name = "load.concurrency=64";
  candidate.cells[2].values["load.concurrency"] = "64";
  const RunComparison comparison = compare_runs(clean_run(), candidate);
  CHECK(comparison.cells.size() == 2);
  CHECK(comparison.cells_only_in_base == std::vector<std::string>{"load.concurrency=32"});
  CHECK(comparison.cells_only_in_candidate == std::vector<std::string>{"load.concurrency=64"});
}

TEST_CASE("a setting that one run changed for all its cells does not hide that they correspond") {
  RunRecord candidate = candidate_run();
  for (CellRecord& cell : candidate.cells) {
    cell.name = "engine.kernel_set=cpu-adaptive," + cell.name;
    cell.values["engine.kernel_set"] = "cpu-adaptive";
  }
  const RunComparison comparison = compare_runs(clean_run(), candidate);
  CHECK(comparison.cells.size() == 3);
  CHECK(comparison.cells_only_in_base.empty());
  CHECK(comparison.cells[1].changed_values ==
        std::vector<std::string>{"engine.kernel_set: not set -> cpu-adaptive"});
  CHECK(comparison.totals.bit_matches == 12);
}

TEST_CASE("cells of one name at other values of an axis are not the same cell") {
  RunRecord candidate = candidate_run();  // recorded from the other end: its reference is at 32
  const char* values[] = {"32", "8", "1"};
  for (size_t i = 0; i < 3; ++i) candidate.cells[i].values["load.concurrency"] = values[i];
  candidate.cells[2].name = "load.concurrency=1";
  const RunComparison comparison = compare_runs(clean_run(), candidate);
  REQUIRE(comparison.cells.size() == 3);
  for (const CellComparison& cell : comparison.cells) CHECK(cell.changed_values.empty());
}

TEST_CASE("a cell keeps its counterpart by name where the other run varies more axes") {
  RunRecord candidate = candidate_run();
  for (CellRecord& cell : candidate.cells) cell.values["engine.chunked_prefill"] = "off";
  CellRecord more = candidate.cells[0];
  more.index = 3;
  more.name = "engine.chunked_prefill=16";
  more.values["engine.chunked_prefill"] = "16";
  candidate.cells.push_back(more);
  const RunComparison comparison = compare_runs(clean_run(), candidate);
  CHECK(comparison.cells.size() == 3);
  CHECK(comparison.cells_only_in_base.empty());
  CHECK(comparison.cells_only_in_candidate ==
        std::vector<std::string>{"engine.chunked_prefill=16"});
}

TEST_CASE("scenarios correspond by name, whatever their values have become") {
  RunRecord base = clean_run(), candidate = candidate_run();
  for (RunRecord* run : {&base, &candidate}) run->cells[2].name = "rush hour";
  candidate.cells[2].values["load.concurrency"] = "64";
  CHECK(compare_runs(base, candidate).cells.size() == 3);
}

TEST_CASE("what every cell was given alike is told of a run, since names leave it out") {
  RunRecord run = clean_run();
  for (CellRecord& cell : run.cells) cell.values["engine.threads"] = "1";
  CHECK(compare_within_run(run).candidate.settings == std::vector<std::string>{"engine.threads=1"});
  CHECK(compare_within_run(clean_run()).candidate.settings.empty());
}

TEST_CASE(
    "a sample that the candidate lost is missing, and so is one that only the candidate has") {
  RunRecord candidate = candidate_run();
  std::erase_if(candidate.samples,
                [](const SampleRecord& s) { return s.cell_index == 1 && s.prompt_index == 2; });
  RunComparison comparison = compare_runs(clean_run(), candidate);
  CHECK(comparison.cells[1].counts.missing == 1);
  CHECK(comparison.cells[1].counts.n_pairs == 4);
  comparison = compare_runs(candidate, clean_run());
  CHECK(comparison.cells[1].counts.missing == 1);
  CHECK(comparison.cells[1].counts.n_pairs == 4);
}

TEST_CASE("repeats that only the candidate was asked for are held to the base's first") {
  RunRecord candidate = candidate_run(4, 3);
  CHECK(compare_runs(clean_run(4, 1), candidate).totals.bit_matches == 36);
  trace_of(candidate, 1, 2, 2).positions[1].token_id = 99;
  const RunComparison comparison = compare_runs(clean_run(4, 1), candidate);
  CHECK(comparison.totals.n_pairs == 36);
  CHECK(comparison.totals.missing == 0);
  CHECK(comparison.cells[1].counts.token_divergences == 1);
  CHECK(comparison.token_match.matches == 3);
}

TEST_CASE("repeats that only the base run was asked for are its own noise, not missing pairs") {
  const RunComparison comparison = compare_runs(clean_run(4, 3), candidate_run(4, 1));
  CHECK(comparison.totals.missing == 0);
  CHECK(comparison.totals.n_pairs == 12);
  CHECK(comparison.noise.n_pairs == 8);
  CHECK(compare_runs(clean_run(4, 3), candidate_run(4, 2)).totals.n_pairs == 24);
}

TEST_CASE("comparing the other way round gives the same counts") {
  RunRecord candidate = candidate_run();
  trace_of(candidate, 1, 2).positions[1].token_id = 99;
  trace_of(candidate, 2, 0).positions[3].logits_hash = row_hash(1);
  trace_of(candidate, 2, 1).positions.pop_back();
  const RunComparison ab = compare_runs(clean_run(), candidate);
  const RunComparison ba = compare_runs(candidate, clean_run());
  CHECK(ab.totals.token_divergences == 1);
  CHECK(ab.totals.numeric_divergences == 1);
  CHECK(ab.totals.missing == 1);
  CHECK(ba.totals.token_divergences == ab.totals.token_divergences);
  CHECK(ba.totals.numeric_divergences == ab.totals.numeric_divergences);
  CHECK(ba.totals.missing == ab.totals.missing);
  CHECK(ba.totals.bit_matches == ab.totals.bit_matches);
}

TEST_CASE("fingerprint items that changed, appeared or became unknown are listed in order") {
  RunRecord base = clean_run();
  RunRecord candidate = candidate_run();
  base.fingerprint.items.push_back(item(FingerprintClass::kSoftware, "openblas", "0.3.21"));
  candidate.fingerprint.items.push_back(item(FingerprintClass::kSoftware, "openblas", "0.3.26"));
  candidate.fingerprint.items.push_back(item(FingerprintClass::kHardware, "cpu.model", "x"));
  candidate.fingerprint.items[1].source = FingerprintSource::kUnknown;  // chat_template
  const auto changes = compare_runs(base, candidate).fingerprint_changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].name == "chat_template");
  CHECK(changes[0].base == "cc33");
  CHECK_FALSE(changes[0].candidate);
  CHECK(changes[1].name == "openblas");
  CHECK(changes[1].candidate == "0.3.26");
  CHECK(changes[2].name == "cpu.model");
  CHECK_FALSE(changes[2].base);
}

TEST_CASE("an answer that both complete runs lost is missing, in every repeat and choice") {
  RunRecord run = clean_run(4, 2);
  std::erase_if(run.samples, [](const SampleRecord& s) {
    return s.cell_index == 1 && s.prompt_index == 2 && s.repeat == 1;
  });
  CHECK(compare_runs(run, run).totals.missing == 1);
  CHECK(compare_within_run(run).totals.missing == 1);
  run = clean_run();
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.prompt_index == 2; });
  CHECK(compare_runs(run, run).totals.missing == 3);
  run = clean_run();
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.cell_index == 1; });
  CHECK(compare_runs(run, run).totals.missing == 4);
  run.cells[1].complete = false;  // it can still come
  CHECK(compare_runs(run, run).totals.missing == 0);
  run = clean_run();
  for (Request& r : run.requests) r.sampling.n = 2;
  CHECK(compare_runs(run, run).totals.missing == 12);
}
