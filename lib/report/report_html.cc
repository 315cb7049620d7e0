// The HTML report: one file, whole without a network or a script, the same bytes for the same
// input.
#include <fmt/format.h>

#include "report/html_page.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/report.h"

namespace isobit {
namespace {

std::string plots_section(const RunComparison& comparison) {
  const std::string figures = raster_figure(comparison) + survival_figure(comparison) +
                              margins_figure(comparison) + drift_figure(comparison) +
                              positions_figure(comparison) + price_figure(comparison);
  if (figures.empty()) return {};
  return "<section aria-labelledby=\"plots\"><h2 id=\"plots\">In pictures</h2><div "
         "class=\"plots\">" +
         figures + "</div></section>\n";
}

}  // namespace

std::string html_report(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  std::string body =
      "<a class=\"skip\" href=\"#main\">Skip to the verdict</a><div class=\"page\"><div "
      "class=\"bar\"><strong>isobit</strong><span>determinism of LLM inference</span></div><main "
      "id=\"main\">\n";
  body += verdict_section(input);
  body += reasons_section(input.verdict);
  body += changes_section(comparison);
  body += cells_section(comparison);
  body += axes_figure(comparison);
  body += plots_section(comparison);
  body += divergences_section(input);
  body += reading_section(input);
  body +=
      "</main><footer>Written by isobit from a recorded run. Everything here is in the store and "
      "in the .json report.</footer></div>";
  const std::string title = fmt::format("isobit: {} at level {}", name(input.verdict.outcome),
                                        number(input.verdict.level));
  return html_page(title, body);
}

}  // namespace isobit
