#include "report/report_figures.h"
#include "report/report_phrases.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "report/report.h"
#include "report/untrusted_text.h"
#include "tests/compare/recorded_answers.h"
#include "tests/report/schema_check.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

RunComparison full(const RunRecord& run) {
  return compare_within_run(run, {.detail = Detail::kFull});
}

void flip(RunRecord& run, int32_t cell, int32_t prompt, size_t at, float margin) {
  trace_of(run, cell, prompt).positions[at] = position(900 + cell, -0.875f, margin, 4711 + at);
}

// Flips, narrow and wide, drift, texts, embeddings, times, a redacted side's worth of gaps.
RunRecord busy_run() {
  RunRecord run = clean_run(40);
  for (SampleRecord& sample : run.samples) {
    sample.trace.text = "an answer";
    sample.trace.embedding = {1, 2};
    sample.trace.ttft_ms = 2;
    sample.trace.total_ms = 10 + sample.cell_index;
  }
  for (size_t c = 0; c < 3; ++c)
    run.cells[c].generated_tokens_per_s = 100 * (1 + static_cast<double>(c));
  for (int32_t p = 0; p < 40; ++p) {
    trace_of(run, 0, p).positions[1].margin = p < 12 ? 0.001f : 0.25f;
    TracePosition& row = trace_of(run, 1, p).positions[1];
    row.logits_hash = row_hash(static_cast<uint64_t>(p) + 5000);
    row.top[1].logprob += 0.002f;
    row.margin = 0.001f;
    if (p < 12) std::swap(row.top[0], row.top[1]);
    row.token_id = row.top[0].token_id;
  }
  flip(run, 2, 30, 2, 3.0f);
  flip(run, 2, 31, 2, 3.0f);
  trace_of(run, 2, 31).total_ms = -1;
  return run;
}

bool has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

std::string on_one_line(std::string text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == ' ') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a clean comparison has little to say") {
  const std::string text = figures_text(full(clean_run()));
  CHECK(on_one_line(text) ==
        "certificates none: no drift was seen in 32 rows, so nothing can be said of the prompts "
        "that one could flip ");
  CHECK(figures_text(compare_within_run(clean_run())).empty());
}

TEST_CASE("every figure that has something to say is said") {
  const std::string text = on_one_line(figures_text(full(busy_run())));
  CHECK(has(text, "why answers differ batch_size: 42 drifted, 14 flipped"));
  CHECK(has(text,
            "the reference cell was not repeated: differences from run to run are not ruled out"));
  CHECK(has(text, "suspicious flips 2 at a margin that rounding does not close"));
  CHECK(has(text,
            "load.concurrency=32: 2 requests together around position 2, p30 among them: "
            "possible state corruption"));
  CHECK(
      has(text, "flip law at the median drift of 0.002 nat, 25 % of choices flip at a margin of"));
  CHECK(has(text, "flips in 14 prompts"));
  CHECK(has(text, "certificates 0 of 40 prompts"));
  CHECK(has(text, "(load.concurrency=32, p30 at position 2)"));
  CHECK(has(text, "40 fragile, the narrowest p0 (0.001 nat at position 1)"));
  CHECK(has(text,
            "distinct outputs load.concurrency=8: p0 gave 2 outputs in 2 answers (the "
            "commonest 1 times), first split at position 1; prompts with more than one: 12"));
  CHECK(has(text, "how long answers stay the same"));
  CHECK(has(text, "70.0 % after 1"));
  CHECK(has(text, "how much alike answers are (mean / least)"));
  CHECK(has(text, "1.000 / 1.000"));  // the texts were left the same
  CHECK(has(text, "price (ms at p50 / p95 / p99; x: beside the reference cell)"));
  CHECK(has(text, "x 2.00"));
  CHECK(has(text, "clock jumps: the times of 1 answer cannot be and are left out"));
}

TEST_CASE("beside another run the words are of the base run, not of a reference") {
  RunRecord candidate = busy_run();
  candidate.id = "run-b";
  const RunComparison comparison =
      compare_runs(clean_run(40), candidate, {.detail = Detail::kFull});
  const std::string text = on_one_line(cells_table(comparison) + figures_text(comparison));
  CHECK(has(text, "the base run was not repeated"));
  CHECK(has(text, "x: beside the base run"));
  CHECK_FALSE(has(text.substr(text.find("why answers differ")), "the reference"));
  const std::string table = cells_table(comparison);
  CHECK(has(on_one_line(table), "reference 40 "));       // the cell's name
  CHECK(table.find(" reference") == std::string::npos);  // no state of that name
}

TEST_CASE("the goodness of fit of a flip law is said in a sentence") {
  RunComparison comparison = full(busy_run());
  REQUIRE(comparison.flip_law);
  REQUIRE(comparison.flip_law->law);
  comparison.flip_law->law->fit = GoodnessOfFit{.p_value = 0.25};
  CHECK(has(on_one_line(figures_text(comparison)),
            "were this the law, choices would stray from it as far with probability 0.25"));
}

TEST_CASE("what cannot be fitted or certified says why, and an undecided kind is not guessed") {
  RunRecord run = clean_run(4, 2);
  flip(run, 1, 0, 1, 0.1f);
  trace_of(run, 0, 3, 1).positions[2].logits_hash = row_hash(3);  // the reference is not steady
  std::string text = on_one_line(figures_text(full(run)));
  CHECK(has(text, "not decided: run_to_run or batch_size: 1 drifted, 1 flipped"));
  CHECK(has(text, "flip law none: "));
  for (SampleRecord& sample : run.samples) sample.trace = tokens_only(sample.trace);
  text = on_one_line(figures_text(full(run)));
  CHECK(has(text,
            "flip law none: no compared row has a margin and two tokens' logprobs on both sides"));
  CHECK(has(text, "certificates none: no compared row lists two tokens on both sides"));
}

TEST_CASE("the figures fit 80 columns, whatever runs are called") {
  RunRecord run = busy_run();
  run.cells[1].name = std::string(300, 'x') + "\x1b[31m";
  for (Request& request : run.requests) request.id += "\x1b]0;title\x07";
  const std::string text = figures_text(full(run));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    INFO(line);
    CHECK(display_width(line) <= 80);
  }
}

TEST_CASE("a paragraph breaks between words and indents what follows") {
  CHECK(paragraph("one two three", 9) == "one two\n  three\n");
  CHECK(paragraph("  one two three", 11) == "  one two\n    three\n");
  CHECK(paragraph("unbreakably-long-word", 9) == "unbreakably-long-word\n");
  CHECK(paragraph("") == "\n");
}

TEST_CASE("all figures keep to the schema") {
  const Json comparison = parse_json(json_line(comparison_json(full(busy_run()))), "comparison");
  for (const std::string& error : SchemaCheck("comparison.schema.json").errors(comparison))
    FAIL_CHECK(error);
  CHECK(comparison.at("flip_law").at("law").at("slope").at("value") < 0);
  CHECK(comparison.at("certificates").at("prompts").size() == 40);
  CHECK(comparison.at("kinds")[0].at("kinds")[0] == "batch_size");
  const Json& cell = comparison.at("cells")[1];
  CHECK(cell.at("survival")[0].at("position") == 1);
  CHECK(cell.at("agreement").at("edit_similarity").at("min") == 0.75);
  CHECK(cell.at("price_ratio").at("tokens_per_s") == 2.0);
  CHECK(cell.at("distinct").size() == 12);
  CHECK(cell.at("first_divergences")[0].at("token").at("reference_margin_percentile") > 0);
  CHECK(comparison.at("cells")[2].at("shared_suspicions")[0].at("requests").size() == 2);
}

TEST_CASE("the Markdown report has the figures as a list") {
  const RunComparison comparison = full(busy_run());
  const std::string report = markdown_report(
      {.comparison = comparison, .verdict = check_run(comparison, Level::kBitwise)});
  CHECK(has(report, "<summary>Figures</summary>\n\n- why answers differ: <code>batch"));
  CHECK(has(report, "\n- suspicious flips: <code>2 at a margin"));
  CHECK(has(report, "\n- flip law: <code>at the median drift"));
}

TEST_CASE("quantities are never powers of ten") {
  CHECK(quantity_text(37.44) == "37.4");
  CHECK(quantity_text(0.0123) == "0.0123");
  CHECK(quantity_text(999.4) == "999");
  CHECK(quantity_text(999.6) == "1000");
  CHECK(quantity_text(2364.5) == "2364");
  CHECK(quantity_text(1234567) == "1234567");
}
