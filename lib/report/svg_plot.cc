#include "report/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/html_text.h"

namespace isobit {
namespace {

constexpr double kLeft = 62, kRight = 12, kTop = 14, kBottom = 42;

// At most two digits after the point: a tenth of a pixel on any screen.
std::string at(double coordinate) {
  std::string out = fmt::format("{:.2f}", coordinate);
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

double position(const PlotAxis& axis, double value) {
  const double clamped = std::clamp(value, axis.low, axis.high);
  if (axis.high <= axis.low) return 0.5;
  if (axis.scale == Scale::kLinear) return (clamped - axis.low) / (axis.high - axis.low);
  return std::log10(clamped / axis.low) / std::log10(axis.high / axis.low);
}

std::string tick_text(const PlotAxis& axis, double value) {
  return axis.is_percent ? fmt::format("{:.0f} %", value * 100) : short_number(value);
}

}  // namespace

std::string short_number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e-3 && size < 1e6) {
    std::string out = fmt::format("{:.4g}", value);
    return out.find('e') == std::string::npos ? out : fmt::format("{:.0f}", value);
  }
  return fmt::format("{:.2g}", value);
}

std::vector<double> tick_values(const PlotAxis& axis, int n) {
  std::vector<double> out;
  if (axis.scale == Scale::kLog10) {
    const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
    const int stride = std::max(1, (last - first + n) / n);
    for (int e = first; e <= last; e += stride) out.push_back(std::pow(10.0, e));
    return out;
  }
  const double span = axis.high - axis.low;
  if (!(span > 0)) return {axis.low};
  const double rough = span / n;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double ratio = rough / power;
  const double round = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  const double step = axis.is_whole ? std::max(round, 1.0) : round;
  const auto first = static_cast<int64_t>(std::ceil(axis.low / step - 1e-9));
  for (int64_t i = first; static_cast<double>(i) * step <= axis.high + step * 1e-9; ++i)
    out.push_back(static_cast<double>(i) * step);
  return out;
}

PlotAxis log_axis(std::string label, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double first = std::floor(std::log10(*low)), last = std::ceil(std::log10(*high));
  return {.label = std::move(label),
          .low = std::pow(10.0, first),
          .high = std::pow(10.0, last > first ? last : first + 1),
          .scale = Scale::kLog10};
}

PlotAxis share_axis(std::string label, double least) {
  return {.label = std::move(label),
          .low = std::clamp(std::floor(least * 5) / 5, 0.0, 0.8),
          .high = 1,
          .is_percent = true};
}

SvgPlot::SvgPlot(std::string id, std::string title, std::string description, PlotAxis x, PlotAxis y)
    : id_(std::move(id)),
      title_(std::move(title)),
      description_(std::move(description)),
      x_axis_(std::move(x)),
      y_axis_(std::move(y)) {
  frame();
}

double SvgPlot::x(double value) const {
  return kLeft + position(x_axis_, value) * (kWidth - kLeft - kRight);
}

double SvgPlot::y(double value) const {
  return kHeight - kBottom - position(y_axis_, value) * (kHeight - kTop - kBottom);
}

void SvgPlot::frame() {
  for (const double tick : tick_values(y_axis_, 5)) {
    body_ += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>", at(kLeft), at(y(tick)),
                         at(kWidth - kRight));
    text(kLeft - 6, y(tick) + 4, tick_text(y_axis_, tick), "end");
  }
  for (const double tick : tick_values(x_axis_, 5)) {
    body_ +=
        fmt::format("<path class=\"tick\" d=\"M{} {}v4\"/>", at(x(tick)), at(kHeight - kBottom));
    text(x(tick), kHeight - kBottom + 17, tick_text(x_axis_, tick), "middle");
  }
  body_ += fmt::format("<path class=\"axis\" d=\"M{} {}V{}H{}\"/>", at(kLeft), at(kTop),
                       at(kHeight - kBottom), at(kWidth - kRight));
  text((kLeft + kWidth - kRight) / 2, kHeight - 6, x_axis_.label, "middle");
  body_ += fmt::format(
      "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(12 {}) "
      "rotate(-90)\">{}</text>",
      at((kTop + kHeight - kBottom) / 2), html_text(y_axis_.label));
}

void SvgPlot::line(const std::vector<std::pair<double, double>>& points,
                   std::string_view css_class) {
  if (points.empty()) return;
  std::string d;
  for (const auto& [px, py] : points)
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L", at(x(px)), at(y(py)));
  body_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>", css_class, d);
}

void SvgPlot::steps(const std::vector<std::pair<double, double>>& points,
                    std::string_view css_class) {
  if (points.empty()) return;
  std::string d = fmt::format("M{} {}", at(x(points[0].first)), at(y(points[0].second)));
  for (size_t i = 1; i < points.size(); ++i)
    d += fmt::format("H{}V{}", at(x(points[i].first)), at(y(points[i].second)));
  body_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>", css_class, d);
}

void SvgPlot::band(const std::vector<BandPoint>& points, std::string_view css_class) {
  if (points.size() < 2) return;
  std::string d;
  for (const BandPoint& p : points)
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L", at(x(p.x)), at(y(p.high)));
  for (size_t i = points.size(); i-- > 0;)
    d += fmt::format("L{} {}", at(x(points[i].x)), at(y(points[i].low)));
  body_ += fmt::format("<path class=\"band {}\" d=\"{}Z\"/>", css_class, d);
}

void SvgPlot::bar(double x_low, double x_high, double y_low, double y_high,
                  std::string_view css_class, std::string_view tooltip) {
  const double top = y(y_high), bottom = y(y_low);
  if (!(bottom > top)) return;
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
      css_class, at(x(x_low)), at(top), at(std::max(0.5, x(x_high) - x(x_low))), at(bottom - top),
      html_text(tooltip));
}

void SvgPlot::dot(double at_x, double at_y, std::string_view css_class, std::string_view tooltip) {
  body_ +=
      fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"4\"><title>{}</title></circle>",
                  css_class, at(x(at_x)), at(y(at_y)), html_text(tooltip));
}

void SvgPlot::text(double at_x, double at_y, std::string_view words, std::string_view anchor) {
  body_ += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>",
                       at(at_x), at(at_y), anchor, html_text(words));
}

void SvgPlot::whisker(double at_x, double low, double high, std::string_view css_class) {
  body_ += fmt::format("<path class=\"line thin {}\" d=\"M{} {}V{}\"/>", css_class, at(x(at_x)),
                       at(y(high)), at(y(low)));
}

std::string SvgPlot::svg() const {
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-t {}-d\"><title "
      "id=\"{}-t\">{}</title><desc id=\"{}-d\">{}</desc>{}</svg>",
      at(kWidth), at(kHeight), id_, id_, id_, html_text(title_), id_, html_text(description_),
      body_);
}

}  // namespace isobit
