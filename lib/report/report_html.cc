// The HTML report: one file, whole without a network or a script, the same bytes for the same
// input.
#include <fmt/format.h>

#include <array>

#include "report/html_page.h"
#include "report/html_plots.h"
#include "report/html_sections.h"
#include "report/html_text.h"
#include "report/report.h"

namespace isobit {
namespace {

struct Part {
  const char *id, *title;
  std::string html;
};

std::string plots_section(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  const std::string figures = raster_figure(comparison) + survival_figure(comparison) +
                              margins_figure(comparison) + flip_law_figure(comparison) +
                              drift_figure(comparison) + positions_figure(comparison) +
                              price_figure(comparison) + trend_figure(input.trend);
  if (figures.empty()) return {};
  return "<section aria-labelledby=\"plots\"><h2 id=\"plots\">In pictures</h2><div "
         "class=\"plots\">" +
         figures + "</div></section>\n";
}

template <size_t N>
std::string contents(const std::array<Part, N>& parts) {
  std::string out = "<nav aria-label=\"On this page\"><ul class=\"contents\">";
  for (const Part& part : parts) {
    if (part.html.find(fmt::format("<h2 id=\"{}\"", part.id)) != std::string::npos)
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>", part.id, part.title);
  }
  return out + "</ul></nav>\n";
}

}  // namespace

std::string html_report(const ReportInput& input) {
  const RunComparison& comparison = input.comparison;
  const std::array parts = {Part{"why", "Why", reasons_section(input.verdict)},
                            Part{"rules", "Rules", rules_section(input.verdict)},
                            Part{"tiers", "Tiers", tiers_section(input.verdict)},
                            Part{"changed", "What changed", changes_section(input)},
                            Part{"cells", "Cells", cells_section(comparison)},
                            Part{"axes", "By axis", axes_section(comparison)},
                            Part{"plots", "In pictures", plots_section(input)},
                            Part{"worst", "Worst divergences", divergences_section(input)},
                            Part{"reading", "How to read this", reading_section()}};
  std::string body =
      "<a class=\"skip\" href=\"#main\">Skip to the verdict</a><div class=\"page\"><header "
      "class=\"bar\"><strong>isobit</strong><span>determinism of LLM "
      "inference</span></header><main "
      "id=\"main\" tabindex=\"-1\">\n";
  body += verdict_section(input) + contents(parts);
  for (const Part& part : parts) body += part.html;
  body +=
      "</main><footer>Written by isobit from a recorded run. Everything here is in the store and "
      "in the .json report.</footer></div>";
  const std::string title = fmt::format("isobit: {} at level {}", name(input.verdict.outcome),
                                        number(input.verdict.level));
  return html_page(title, body);
}

}  // namespace isobit
