#include "compare/row_histograms.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace isobit {
namespace {

constexpr int kBinsPerDecade = 4;
constexpr int kLimit = 20 * kBinsPerDecade;  // 1e-20 to 1e20: what lies beyond counts at the end

int bin_of(double x) {
  return static_cast<int>(
      std::clamp(std::floor(kBinsPerDecade * std::log10(x)), -double(kLimit), double(kLimit)));
}

double edge(int bin) {
  return std::pow(10.0, static_cast<double>(bin) / kBinsPerDecade);
}

std::vector<RowBin> filled(const std::map<int, RowBin>& found) {
  std::vector<RowBin> out;
  if (found.empty()) return out;
  for (int bin = found.begin()->first; bin <= found.rbegin()->first; ++bin) {
    const auto at = found.find(bin);
    RowBin row = at == found.end() ? RowBin{} : at->second;
    row.low = edge(bin);
    row.high = edge(bin + 1);
    out.push_back(row);
  }
  return out;
}

}  // namespace

RowHistograms row_histograms(const std::vector<RowObservation>& rows,
                             const std::optional<FlipLaw>& law) {
  RowHistograms out;
  std::map<int, RowBin> margins, ratios;
  for (const RowObservation& row : rows) {
    out.n_ties += row.margin == 0;
    if (!(row.margin > 0) || !std::isfinite(row.margin)) continue;
    RowBin& by_margin = margins[bin_of(row.margin)];
    ++by_margin.n_rows;
    by_margin.n_flips += row.flipped;
    if (!(row.gap_drift > 0) || !std::isfinite(row.gap_drift)) continue;
    RowBin& by_ratio = ratios[bin_of(double(row.margin) / double(row.gap_drift))];
    ++by_ratio.n_rows;
    by_ratio.n_flips += row.flipped;
    if (law) by_ratio.expected_flips += law->chance(row.margin, row.gap_drift);
  }
  out.by_margin = filled(margins);
  out.by_ratio = filled(ratios);
  return out;
}

}  // namespace isobit
