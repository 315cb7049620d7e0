// The HTML report as text: what it may hold and what it may not. tests/browser drives it.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#include "report/html_page.h"
#include "report/html_plots.h"
#include "report/html_text.h"
#include "report/report.h"
#include "report/svg_plot.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

RunRecord flipped_run() {
  RunRecord run = clean_run(6);
  trace_of(run, 1, 0).positions[1] = position(21, -0.875f, 0.01f, 777);
  trace_of(run, 1, 1).positions[2].logprob = -0.75001f;
  trace_of(run, 1, 1).positions[2].logits_hash = row_hash(5);
  return run;
}

std::string page_of(const RunRecord& run, std::vector<TrendPoint> trend = {}) {
  const RunComparison comparison = compare_within_run(run);
  const Verdict verdict = check_run(comparison, Level::kBitwise);
  return html_report({.comparison = comparison,
                      .verdict = verdict,
                      .token_texts = {{20, " light"}, {21, " dark"}},
                      .tails = divergence_tails(run, run, comparison, 8),
                      .next_command = "isobit explain latest",
                      .trend = std::move(trend),
                      .store_option = " --store 'a b.db'"});
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the verdict comes first, in words, and the same run gives the same bytes") {
  const std::string page = page_of(flipped_run());
  CHECK(page == page_of(flipped_run()));
  CHECK(page.find("FAIL at level 2") < page.find("<h2"));
  CHECK(page.find("Answers depend on how the target was loaded") != std::string::npos);
  CHECK(page.find("<mark><code> dark</code></mark>") != std::string::npos);
  const std::string clean = page_of(clean_run(6));
  CHECK(clean.find("PASS at level 2") != std::string::npos);
  CHECK(count(clean, "<article") == 0);
}

TEST_CASE("the page lets in its own style and script by digest, and nothing else") {
  const std::string page = page_of(flipped_run());
  CHECK(page.find("default-src 'none'; style-src '" + csp_hash(report_style()) + "'; script-src '" +
                  csp_hash(report_script()) + "'") != std::string::npos);
  CHECK(count(page, "<script") == 1);
  CHECK(count(page, "<style") == 1);
  for (const char* outside : {"http://", "https://", "url(", "@import", " style=", "<link", "<img",
                              "<iframe", "javascript:", " onload=", " onclick="})
    CHECK_MESSAGE(count(page, outside) == 0, outside);
}

TEST_CASE("csp_hash is SHA-256 in base64, as openssl gives it") {
  CHECK(csp_hash("") == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  CHECK(csp_hash("abc") == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST_CASE("text from outside cannot leave its element or attribute") {
  CHECK(html_text("<b a=\"1\" c='2'>&amp;") == "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
  CHECK(html_text("a\x1b\u202e\xff\n") == "a\\x1b\\u{202e}\\xff\\n");
  RunRecord run = flipped_run();
  const std::string text = "</code><script>alert(1)</script>\" onclick=\"x";
  run.id = run.target = run.label = text;
  for (Request& r : run.requests) r.id = text + r.id;
  for (SampleRecord& s : run.samples)
    s.trace.request_id = run.requests[static_cast<size_t>(s.prompt_index)].id;
  for (CellRecord& cell : run.cells) cell.name += text;
  const std::string page = page_of(run);
  CHECK(count(page, "<script") == 1);
  CHECK(count(page, "onclick=\"") == 0);
  CHECK(count(page, "&lt;/code&gt;&lt;script&gt;") > 4);
}

TEST_CASE("each divergence has the commands that look further, or says why it has none") {
  RunRecord run = flipped_run();
  const std::string words =
      std::regex_replace(page_of(run), std::regex("<span class=\"option\">([^<]*)</span>"), "$1");
  CHECK(words.find("isobit explain run-a/load.concurrency=8/p0 --store &#39;a b.db&#39;") !=
        std::string::npos);
  CHECK(words.find("isobit reduce run-a/load.concurrency=8/p0 --tokens --store &#39;a b.db&#39;") !=
        std::string::npos);
  CHECK(count(words, "isobit explain run-a") == 2);
  CHECK(count(words, "isobit reduce ") == 1);  // p1 has other bits only
  CHECK(words.find("other bits from here on; all tokens are the same") != std::string::npos);
  for (Request& r : run.requests) r.id = "it's; rm " + r.id;
  for (SampleRecord& s : run.samples)
    s.trace.request_id = run.requests[static_cast<size_t>(s.prompt_index)].id;
  CHECK(page_of(run).find(
            "isobit explain &#39;run-a/load.concurrency=8/it&#39;\\&#39;&#39;s; rm p0&#39;") !=
        std::string::npos);
  for (CellRecord& cell : run.cells) cell.name += "\x1b[2J";
  const std::string page = page_of(run);
  CHECK(count(page, "isobit explain run-a") + count(page, "isobit explain &#39;") == 0);
  CHECK(count(page, "not safe to paste") == 2);
}

TEST_CASE("a page of two runs speaks of the base run and explains beside it") {
  RunRecord candidate = flipped_run();
  candidate.id = "run-b";
  const RunComparison comparison = compare_runs(clean_run(6), candidate);
  const Verdict verdict = gate(comparison, {});
  ReportInput input{.comparison = comparison, .verdict = verdict};
  const RunRecord base = clean_run(6);
  input.tails = divergence_tails(base, candidate, comparison, 8);
  std::string page = html_report(input);
  CHECK(count(page, "Each cell against the same cell of the base run") == 1);
  CHECK(count(page, "the same tokens as those of the base run") == 1);
  CHECK(count(page, "<b>Base run</b>") == 2);
  CHECK(count(page, "Reference cell") + count(page, "its reference") == 0);
  CHECK(count(page, "--base</span> run-a") == 2);
  CHECK(count(page, "isobit reduce") == 0);
  candidate.fingerprint.items.push_back(item(FingerprintClass::kSoftware, "driver", "560"));
  const RunComparison changed = compare_runs(base, candidate);
  const Verdict of_changed = gate(changed, {});
  const std::string table = html_report({.comparison = changed, .verdict = of_changed});
  CHECK(count(table, "<td class=\"value\" data-label=\"candidate\"") == 1);
  CHECK(count(table, "<td class=\"prose\" data-label=\"what it can affect\"") == 1);
  input.base_ref = "old.db:run-a";
  CHECK(count(html_report(input), "--base</span> old.db:run-a") == 2);
  page = page_of(flipped_run());
  CHECK(count(page, "Each cell against its reference cell") == 1);
  CHECK(count(page, "<b>Reference cell</b>") == 2);
}

TEST_CASE("earlier runs are a trend; one run is none") {
  const TrendPoint good{.run_id = "run-0",
                        .created = "2026-01-01",
                        .label = "<b>",
                        .token_match = proportion(6, 6),
                        .bit_match = proportion(6, 6)};
  CHECK(count(page_of(flipped_run(), {good}), "Trend over runs") == 0);
  const std::string page = page_of(flipped_run(), {good, good});
  CHECK(count(page, "<h3>Trend over runs</h3>") == 1);
  CHECK(count(page, "<td data-label=\"label\"><span>&lt;b&gt;</span></td>") == 2);
}

TEST_CASE("the flip law is drawn where one was fitted, and only there") {
  RunComparison comparison = compare_within_run(flipped_run());
  CHECK(flip_law_figure(comparison).empty());
  CHECK(margins_figure(comparison).find("1 compared choices, 1 of which flipped") !=
        std::string::npos);
  FlipLaw law;
  law.slope.value = -1;
  comparison.flip_law = FlipLawResult{.n_rows = 7, .law = law, .refusal = {}};
  comparison.row_histograms = row_histograms(
      {{.margin = 0.5f, .gap_drift = 0.1f}, {.margin = 0.01f, .gap_drift = 0.1f, .flipped = true}},
      law);
  const std::string figure = flip_law_figure(comparison);
  CHECK(figure.find("fitted to 7 choices") != std::string::npos);
  CHECK(count(figure, "<circle class=\"m-dot\" cx=\"") == 3);  // two groups and the key
  CHECK(count(figure, "class=\"line flip\" d=\"") == 2);       // the curve and the key
}

TEST_CASE("ids are unique and every element that is opened is closed") {
  const std::string page = page_of(flipped_run());
  std::vector<std::string> ids;
  const std::regex id_pattern(" id=\"([^\"]+)\"");
  for (std::sregex_iterator at(page.begin(), page.end(), id_pattern), end; at != end; ++at)
    ids.push_back((*at)[1]);
  std::sort(ids.begin(), ids.end());
  CHECK(ids.size() > 8);
  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  for (const char* name : {"section", "table", "tr", "td", "th", "figure", "svg", "code", "div",
                           "dl", "dt", "dd", "details", "article", "p", "ul", "ol", "li"}) {
    const std::string open = std::string("<") + name;
    CHECK_MESSAGE(count(page, open + ">") + count(page, open + " ") ==
                      count(page, std::string("</") + name + ">"),
                  name);
  }
}

TEST_CASE("ticks are round, inside the axis, and few") {
  const auto ticks = [](double low, double high, Scale scale = Scale::kLinear) {
    return tick_values({.label = "", .low = low, .high = high, .scale = scale}, 5);
  };
  CHECK(ticks(0, 1) == std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1});
  CHECK(ticks(0, 17) == std::vector<double>{0, 5, 10, 15});
  CHECK(ticks(3, 3) == std::vector<double>{3});
  CHECK(ticks(1e-6, 1, Scale::kLog10).size() <= 7);
  CHECK(ticks(1e-6, 1, Scale::kLog10).front() == doctest::Approx(1e-6));
  CHECK(tick_values({.label = "run", .low = 1, .high = 3, .is_whole = true}, 5) ==
        std::vector<double>{1, 2, 3});
  CHECK(short_number(0.00012) == "0.00012");
  CHECK(short_number(12) == "12");
  CHECK(short_number(0) == "0");
}
