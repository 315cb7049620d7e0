// A small plot in SVG: a frame with ticks, a scale for each axis, and marks placed by value. No
// colours and no sizes of text: classes, which the page's style gives both themes.
//
// Every plot has a title and a description for screen readers; the page sets the figures beside it
// in a table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isobit {

enum class Scale { kLinear, kLog10 };

struct PlotAxis {
  std::string label;
  double low = 0;
  double high = 1;
  Scale scale = Scale::kLinear;
  bool is_percent = false;  // ticks as "50 %" of values 0 to 1
  bool is_whole = false;    // counts: no ticks between whole numbers
};

// Round values inside [low, high], at most about `n`: 1, 2 or 5 times a power of ten; on a log
// scale powers of ten.
std::vector<double> tick_values(const PlotAxis& axis, int n);

// Of positive values, to whole powers of ten. REQUIRES: values, each above 0.
PlotAxis log_axis(std::string label, const std::vector<double>& values);
// Shares as per cent, from the last multiple of 20 % at or below `least`.
PlotAxis share_axis(std::string label, double least = 0);

class SvgPlot {
 public:
  // Units of the view box; the page scales the plot to the width it has.
  static constexpr double kWidth = 420, kHeight = 260;

  SvgPlot(std::string id, std::string title, std::string description, PlotAxis x, PlotAxis y);

  double x(double value) const;  // clamped to the frame
  double y(double value) const;

  void line(const std::vector<std::pair<double, double>>& points, std::string_view css_class);
  // As line, held at each value until the next x.
  void steps(const std::vector<std::pair<double, double>>& points, std::string_view css_class);
  // Between two curves over the same x.
  struct BandPoint {
    double x = 0, low = 0, high = 0;
  };
  void band(const std::vector<BandPoint>& points, std::string_view css_class);
  void bar(double x_low, double x_high, double y_low, double y_high, std::string_view css_class,
           std::string_view tooltip);
  void dot(double at_x, double at_y, std::string_view css_class, std::string_view tooltip);
  // In units of the view box: "start", "middle" or "end".
  void text(double at_x, double at_y, std::string_view words, std::string_view anchor = "start");
  // From low to high at one x: an interval.
  void whisker(double at_x, double low, double high, std::string_view css_class);

  std::string svg() const;

 private:
  void frame();
  std::string id_, title_, description_;
  PlotAxis x_axis_, y_axis_;
  std::string body_;
};

// "12", "0.5", "1e-05": a coordinate or a tick without needless digits.
std::string short_number(double value);

}  // namespace isobit
