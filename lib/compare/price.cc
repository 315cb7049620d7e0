#include "compare/price.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isobit {
namespace {

bool possible(double ms) {
  return std::isfinite(ms) && ms >= 0;
}

bool clock_jumped(const Trace& trace) {
  if (!possible(trace.ttft_ms) || !possible(trace.total_ms)) return true;
  return trace.total_ms > 0 && trace.ttft_ms > trace.total_ms;
}

double nearest_rank(const std::vector<double>& ascending, double percent) {
  const auto rank =
      static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(ascending.size()) - 1e-9));
  return ascending[std::max<size_t>(rank, 1) - 1];
}

std::optional<Times> times(std::vector<double> ms) {
  if (ms.empty()) return std::nullopt;
  std::sort(ms.begin(), ms.end());
  return Times{.mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size()),
               .p50 = nearest_rank(ms, 50),
               .p95 = nearest_rank(ms, 95),
               .p99 = nearest_rank(ms, 99)};
}

std::optional<double> ratio(std::optional<double> reference, std::optional<double> candidate) {
  if (!reference || !candidate || *reference <= 0) return std::nullopt;
  return *candidate / *reference;
}

std::optional<double> member(const std::optional<Times>& times, double Times::*which) {
  return times ? std::optional((*times).*which) : std::nullopt;
}

}  // namespace

CellPrice price_of(const CellRecord& cell, const std::vector<const Trace*>& answers) {
  CellPrice price;
  std::vector<double> ttft, latency;
  for (const Trace* trace : answers) {
    if (trace->finish_reason == FinishReason::kError) continue;
    if (clock_jumped(*trace)) {
      ++price.n_clock_jumps;
      continue;
    }
    if (trace->ttft_ms > 0) ttft.push_back(trace->ttft_ms);
    if (trace->total_ms > 0) latency.push_back(trace->total_ms);
    price.n_timed += trace->total_ms > 0 ? 1 : 0;
  }
  if (std::isfinite(cell.generated_tokens_per_s) && cell.generated_tokens_per_s > 0)
    price.tokens_per_s = cell.generated_tokens_per_s;
  price.ttft_ms = times(std::move(ttft));
  price.latency_ms = times(std::move(latency));
  return price;
}

PriceRatio price_ratio(const CellPrice& reference, const CellPrice& candidate) {
  const auto of = [&](auto part, double Times::*which) {
    return ratio(member(reference.*part, which), member(candidate.*part, which));
  };
  return {.tokens_per_s = ratio(reference.tokens_per_s, candidate.tokens_per_s),
          .ttft_p50 = of(&CellPrice::ttft_ms, &Times::p50),
          .latency_p50 = of(&CellPrice::latency_ms, &Times::p50),
          .latency_p95 = of(&CellPrice::latency_ms, &Times::p95)};
}

}  // namespace isobit
