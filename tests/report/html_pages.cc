// Writes HTML reports of made-up runs into a folder: html_pages FOLDER. tests/browser drives them;
// they are to be looked at, too.
//
//   clean, few, all, large   a run with no flips, a few, only flips; 10,000 answers
//   upgrade                  two runs held against a policy, with rules, tiers and changes
//   hostile, tame            one run with and without text that tries to break out; hostile.txt is
//                            that text
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "base/file.h"
#include "gate/policy_file.h"
#include "report/report.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int32_t kPositions = 24;

// The same in every cell: between 0.0003 and 10 nats.
float margin_at(int32_t prompt, int32_t at) {
  const auto mixed = static_cast<uint32_t>(prompt * 7919 + at * 104729) * 2654435761u;
  return static_cast<float>(std::pow(10.0, -3.5 + 4.5 * (mixed >> 8) / double(1 << 24)));
}

TracePosition reference_position(int32_t prompt, int32_t at) {
  return position(2 * ((37 * prompt + 11 * at) % 150), -0.5f - 0.05f * static_cast<float>(at),
                  margin_at(prompt, at), static_cast<uint64_t>(1000 * prompt + at));
}

// Rounding takes from the winner and gives to the second: `drift` nats between them.
void move(TracePosition& p, float drift, uint64_t row) {
  p.logprob -= drift / 2;
  p.top[0].logprob -= drift / 2;
  p.top[1].logprob += drift / 2;
  p.margin = std::fabs(p.top[0].logprob - p.top[1].logprob);
  if (p.top[1].logprob > p.top[0].logprob) {
    std::swap(p.top[0], p.top[1]);
    p.token_id = p.top[0].token_id;
    p.logprob = p.top[0].logprob;
  }
  p.logits_hash = row_hash(row);
}

// An answer whose rows drift from some position on. If it `flips`, one of its narrower choices is
// overturned and other tokens follow.
Trace made_answer(int32_t prompt, bool drifts, bool flips, std::mt19937& random) {
  Trace trace = answer({});
  int32_t narrow = 0;
  const auto first = static_cast<int32_t>(random() % (kPositions - 6));
  for (int32_t i = 0; i < kPositions; ++i) {
    trace.positions.push_back(reference_position(prompt, i));
    if (i < first || i >= first + 6) continue;
    if (i == first || margin_at(prompt, i) < margin_at(prompt, narrow)) narrow = i;
  }
  for (int32_t i = first; drifts && i < kPositions; ++i) {
    TracePosition& p = trace.positions[static_cast<size_t>(i)];
    const double spread = std::pow(10.0, -4.0 + 1.5 * static_cast<double>(random() % 1000) / 1000);
    const auto drift = static_cast<float>(flips && i == narrow ? 1.3 * *p.margin : spread);
    if (flips && i > narrow) {
      p = position(2 * ((53 * prompt + 17 * i + 5) % 150), -0.7f, 0.4f, random());
    } else if (i == narrow || drift < *p.margin) {
      move(p, flips || drift < *p.margin ? drift : *p.margin / 2, random());
    }
  }
  return trace;
}

// Cells by prompts: two axes.
template <typename Flips, typename Drifts>
RunRecord made_run(int32_t n_cells, int32_t n_prompts, const Flips& flips, const Drifts& drifts) {
  RunRecord run = clean_run(n_prompts);
  run.cells.clear();
  run.samples.clear();
  std::mt19937 random(7);
  for (int32_t c = 0; c < n_cells; ++c) {
    CellRecord& cell = run.cells.emplace_back();
    cell.index = c;
    const std::string at_once = std::to_string(1 << (c / 2)), chunk = c % 2 == 0 ? "off" : "64";
    cell.name = c == 0 ? "reference"
                       : "load.concurrency=" + at_once +
                             (c % 2 == 0 ? "" : ",engine.chunked_prefill=" + chunk);
    if (n_cells > 20) cell.name += " #" + std::to_string(c);
    cell.values = {{"load.concurrency", at_once}, {"engine.chunked_prefill", chunk}};
    cell.complete = cell.exercised = true;
    cell.generated_tokens_per_s = 100 + 37 * c - c * c;
    for (int32_t p = 0; p < n_prompts; ++p) {
      const bool flipped = c > 0 && flips(c, p), drifted = c > 0 && (flipped || drifts(c, p));
      SampleRecord sample{.cell_index = c,
                          .prompt_index = p,
                          .repeat = 0,
                          .trace = made_answer(p, drifted, flipped, random)};
      sample.trace.request_id = run.requests[static_cast<size_t>(p)].id;
      sample.trace.ttft_ms = 5 + c;
      sample.trace.total_ms = 50 + 3 * c;
      run.samples.push_back(std::move(sample));
    }
  }
  for (Request& request : run.requests) request.max_tokens = kPositions;
  return run;
}

std::map<int32_t, std::string> words() {
  static constexpr const char* kWords[] = {
      " the",    " light",  " and",   " of",   " heaven", " earth", " was", " upon", " face",
      " waters", " spirit", " moved", " said", " let",    ",",      ".\n",  " it",   " good"};
  std::map<int32_t, std::string> out;
  for (int32_t id = 0; id < 302; ++id)
    out[id] = kWords[static_cast<size_t>(id * 5 % 18)] + (id % 3 == 0 ? std::string("s") : "");
  return out;
}

std::vector<TrendPoint> made_trend(const RunComparison& comparison) {
  std::vector<TrendPoint> out;
  for (int i = 0; i < 5; ++i) {
    const int64_t n = comparison.token_match.trials;
    out.push_back({.run_id = "run-" + std::to_string(i),
                   .created = "2026-06-0" + std::to_string(1 + i) + "T08:00:00Z",
                   .label = "nightly",
                   .token_match = proportion(std::max<int64_t>(0, n - i % 3), n),
                   .bit_match = proportion(std::max<int64_t>(0, n - 2 * (i % 4)), n)});
  }
  out.push_back({.run_id = comparison.candidate.id,
                 .created = "2026-06-06T08:00:00Z",
                 .label = comparison.candidate.label,
                 .token_match = comparison.token_match,
                 .bit_match = comparison.bit_match});
  return out;
}

using Texts = std::map<int32_t, std::string>;
void write_page(const std::filesystem::path& folder, const std::string& name, const RunRecord& run,
                const Texts& texts = words(), std::string next = {}) {
  const RunComparison comparison = compare_within_run(run, {.detail = Detail::kFull});
  const Verdict verdict = check_run(comparison, Level::kBitwise);
  const ReportInput input{.comparison = comparison,
                          .verdict = verdict,
                          .token_texts = texts,
                          .tails = divergence_tails(run, run, comparison, 12),
                          .next_command = std::move(next),
                          .trend = made_trend(comparison)};
  write_file_atomically(folder / (name + ".html"), html_report(input));
}

constexpr std::string_view kPolicy = R"({
  "name": "ship", "level": 1, "description": "What the chat service asks of a new engine.",
  "tiers": [{"name": "audited", "tags": ["audited"], "level": 2}],
  "rules": [
    {"id": "few-flips", "metric": "token_mismatch_rate", "max": 0.02, "confidence": "bound"},
    {"id": "small-drift", "metric": "max_drift_nats", "scope": "cell", "max": 0.01, "severity": "warn"},
    {"id": "not-slower", "metric": "latency_p95_ratio", "max": 1.1, "severity": "warn"}],
  "overrides": [{"rule": "small-drift", "cell": "reference", "reason": "a known change of summation", "expires": "2026-12-31"}]
})";

void write_upgrade(const std::filesystem::path& folder) {
  const auto never = [](int32_t, int32_t) { return false; };
  RunRecord base = made_run(6, 24, never, never);
  RunRecord candidate = made_run(
      6, 24, [](int32_t c, int32_t p) { return (c + p) % 11 == 0; },
      [](int32_t c, int32_t p) { return (c + p) % 3 == 0; });
  candidate.id = "run-b";
  candidate.label = "engine 2.1";
  base.label = "engine 2.0";
  for (RunRecord* run : {&base, &candidate}) {
    for (size_t i = 0; i < run->requests.size(); i += 3) run->requests[i].tags = {"audited"};
    const bool is_base = run == &base;
    run->fingerprint.items.push_back(
        item(FingerprintClass::kSoftware, "engine.version", is_base ? "2.0.4" : "2.1.0"));
    run->fingerprint.items.push_back(
        item(FingerprintClass::kHardware, "driver", is_base ? "570.86" : "575.51"));
  }
  const RunComparison within = compare_within_run(candidate, {.detail = Detail::kFull});
  const RunComparison comparison = compare_runs(base, candidate, {.detail = Detail::kFull});
  const Policy policy = read_policy(kPolicy, "ship.json");
  GateRequest request;
  request.policy = &policy;
  request.today = {.year = 2026, .month = 6, .day = 15};
  request.candidate_within = &within;
  request.effect_of = [](FingerprintClass, const std::string&) {
    return std::string("every number that it computes");
  };
  const Verdict verdict = gate(comparison, request);
  write_file_atomically(folder / "upgrade.html",
                        html_report({.comparison = comparison,
                                     .verdict = verdict,
                                     .token_texts = words(),
                                     .tails = divergence_tails(base, candidate, comparison, 12),
                                     .next_command = "isobit explain run-b/load.concurrency=2/p9",
                                     .trend = made_trend(within)}));
}

// ---- hostile text

std::string hostile() {
  return "<script>alert(1)</script></style></title><img src=x onerror=alert(1)><svg "
         "onload=alert(1)>"
         "\" onmouseover=\"alert(1)' ]]> --> \x1b[31m ::error::x \u202e=1+1 \\ \xff";
}

RunRecord named_run(const std::string& text, const std::string& long_text) {
  RunRecord run = made_run(
      4, 4, [](int32_t c, int32_t p) { return p == c; }, [](int32_t, int32_t) { return true; });
  run.id = run.target = text;
  run.label = text + long_text;
  for (Request& request : run.requests) request.id = text + request.id;
  for (SampleRecord& s : run.samples)
    s.trace.request_id = run.requests[static_cast<size_t>(s.prompt_index)].id;
  for (CellRecord& cell : run.cells) {
    cell.name = text + std::to_string(cell.index);
    for (auto& [axis, value] : cell.values) value += text;
    cell.values[text] = std::to_string(cell.index);
  }
  return run;
}

void write_named(const std::filesystem::path& folder, const std::string& name,
                 const std::string& text, const std::string& long_text) {
  Texts texts = words();
  for (auto& [id, word] : texts) word = text;
  write_page(folder, name, named_run(text, long_text), texts, text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: html_pages FOLDER\n", stderr), 2;
  const std::filesystem::path folder = argv[1];
  const auto never = [](int32_t, int32_t) { return false; };
  const auto always = [](int32_t, int32_t) { return true; };
  write_page(folder, "clean", made_run(6, 16, never, never));
  write_page(folder, "few",
             made_run(
                 8, 32, [](int32_t c, int32_t p) { return (c * 7 + p) % 29 == 0; },
                 [](int32_t c, int32_t p) { return (c + p) % 5 == 0; }),
             words(), "isobit explain run-a/load.concurrency=4/p16");
  write_page(folder, "all", made_run(6, 24, always, always));
  write_page(folder, "large",
             made_run(
                 24, 417, [](int32_t c, int32_t p) { return (c + p) % 3 == 0; },
                 [](int32_t c, int32_t p) { return (c + p) % 3 == 1; }));
  write_upgrade(folder);
  write_named(folder, "hostile", hostile(), std::string(1 << 20, 'x'));
  write_named(folder, "tame", "a \\ name", std::string(1 << 20, 'x'));
  write_file_atomically(folder / "hostile.txt", hostile());
}
