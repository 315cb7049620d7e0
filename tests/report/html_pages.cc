// Writes HTML reports of made-up runs into a folder, to look at in a browser: html_pages FOLDER.
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>

#include "base/file.h"
#include "report/report.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr int32_t kPositions = 16;

// Cells by prompts; an answer has another token from some position on where `flips` says so, and
// else other bits where `drifts` does.
template <typename Flips, typename Drifts>
RunRecord made_run(int32_t n_cells, int32_t n_prompts, const Flips& flips, const Drifts& drifts) {
  RunRecord run = clean_run(n_prompts);
  run.cells.clear();
  run.samples.clear();
  std::mt19937 random(7);
  for (int32_t c = 0; c < n_cells; ++c) {
    CellRecord& cell = run.cells.emplace_back();
    cell.index = c;
    cell.name = c == 0 ? "reference" : "load.concurrency=" + std::to_string(1 + c);
    cell.values = {{"load.concurrency", std::to_string(1 + c)}};
    cell.complete = cell.exercised = true;
    cell.generated_tokens_per_s = 100 + 10 * c;
    for (int32_t p = 0; p < n_prompts; ++p) {
      std::vector<int32_t> tokens;
      for (int32_t i = 0; i < kPositions; ++i) tokens.push_back(10 * i + p);
      const auto at = static_cast<int32_t>(random() % kPositions);
      const bool flipped = c > 0 && flips(c, p), drifted = c > 0 && (flipped || drifts(c, p));
      for (int32_t i = at; flipped && i < kPositions; ++i) ++tokens[static_cast<size_t>(i)];
      SampleRecord sample{.cell_index = c, .prompt_index = p, .repeat = 0, .trace = answer(tokens)};
      sample.trace.request_id = run.requests[static_cast<size_t>(p)].id;
      sample.trace.ttft_ms = 5 + c;
      sample.trace.total_ms = 50 + 3 * c;
      for (int32_t i = at; drifted && i < kPositions; ++i) {
        TracePosition& position = sample.trace.positions[static_cast<size_t>(i)];
        position.logprob *= 1 + 1e-5f * static_cast<float>(random() % 100);
        position.logits_hash = row_hash(random());
      }
      run.samples.push_back(std::move(sample));
    }
  }
  for (Request& request : run.requests) request.max_tokens = kPositions;
  return run;
}

void write_page(const std::filesystem::path& folder, const std::string& name, const RunRecord& run,
                std::string next = "isobit replay latest/1/p0 --n 20") {
  const RunComparison comparison = compare_within_run(run);
  const Verdict verdict = check_run(comparison, Level::kBitwise);
  std::map<int32_t, std::string> texts;
  for (int32_t id = 0; id < 300; id += 2) texts[id] = " word" + std::to_string(id);
  const ReportInput input{.comparison = comparison,
                          .verdict = verdict,
                          .token_texts = texts,
                          .tails = divergence_tails(run, run, comparison, 12),
                          .next_command = std::move(next)};
  write_file_atomically(folder / (name + ".html"), html_report(input));
}

std::string hostile() {
  return std::string(
             "<script>alert(1)</script></style><img src=x onerror=alert(1)><svg onload=alert(1)>"
             "\" onmouseover=\"alert(1)' ]]> --> \x1b[31m ::error::x \u202e=1+1") +
         "\xff" + std::string(5000, 'x');
}

RunRecord hostile_run() {
  RunRecord run = made_run(
      3, 4, [](int32_t, int32_t p) { return p == 0; }, [](int32_t, int32_t) { return true; });
  run.id = run.target = run.label = run.fingerprint.id = hostile();
  for (Request& request : run.requests) request.id = hostile() + request.id;
  for (SampleRecord& s : run.samples)
    s.trace.request_id = run.requests[static_cast<size_t>(s.prompt_index)].id;
  for (CellRecord& cell : run.cells) {
    cell.name = hostile() + std::to_string(cell.index);
    cell.values = {{hostile(), std::to_string(cell.index)}};
  }
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: html_pages FOLDER\n", stderr), 2;
  const std::filesystem::path folder = argv[1];
  const auto never = [](int32_t, int32_t) { return false; };
  const auto always = [](int32_t, int32_t) { return true; };
  write_page(folder, "clean", made_run(5, 16, never, never));
  write_page(folder, "few",
             made_run(
                 9, 32, [](int32_t c, int32_t p) { return (c * 7 + p) % 29 == 0; },
                 [](int32_t c, int32_t p) { return (c + p) % 5 == 0; }));
  write_page(folder, "all", made_run(6, 24, always, always));
  write_page(folder, "large",
             made_run(
                 100, 100, [](int32_t c, int32_t p) { return (c + p) % 3 == 0; },
                 [](int32_t c, int32_t p) { return (c + p) % 3 == 1; }));
  write_page(folder, "hostile", hostile_run(), hostile());
}
