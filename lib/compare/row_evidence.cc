#include "compare/row_evidence.h"

#include <algorithm>
#include <cmath>

#include "compare/bits.h"

namespace isobit {
namespace {

bool same_score(const TokenScore& a, const TokenScore& b) {
  return a.token_id == b.token_id && bits_of(a.logprob) == bits_of(b.logprob);
}

}  // namespace

bool has_logprob_evidence(std::span<const TracePosition> positions) {
  return std::any_of(positions.begin(), positions.end(),
                     [](const TracePosition& p) { return p.logprob != 0 || !p.top.empty(); });
}

bool top_lists_differ(const TracePosition& a, const TracePosition& b) {
  const size_t n = std::min(a.top.size(), b.top.size());
  for (size_t i = 0; i < n; ++i) {
    if (!same_score(a.top[i], b.top[i])) return true;
  }
  return false;
}

std::optional<double> top_agreement(const TracePosition& a, const TracePosition& b) {
  if (a.top.empty() || b.top.empty()) return std::nullopt;
  if (std::ranges::equal(a.top, b.top, {}, &TokenScore::token_id, &TokenScore::token_id)) return 1;
  const auto n_common = std::count_if(a.top.begin(), a.top.end(), [&](const TokenScore& x) {
    return std::any_of(b.top.begin(), b.top.end(),
                       [&](const TokenScore& y) { return x.token_id == y.token_id; });
  });
  return static_cast<double>(n_common) / static_cast<double>(std::max(a.top.size(), b.top.size()));
}

std::optional<int32_t> rank_of(int32_t token_id, const TracePosition& position) {
  for (size_t i = 0; i < position.top.size(); ++i) {
    if (position.top[i].token_id == token_id) return static_cast<int32_t>(i) + 1;
  }
  return std::nullopt;
}

std::optional<float> margin_of(const TracePosition& position) {
  if (!position.margin && position.top.size() < 2) return std::nullopt;
  const float margin =
      position.margin ? *position.margin : position.top[0].logprob - position.top[1].logprob;
  return std::isnan(margin) ? std::nullopt : std::optional(margin);
}

std::optional<float> logprob_of(int32_t token_id, const TracePosition& position,
                                bool has_logprobs) {
  if (!has_logprobs) return std::nullopt;
  if (position.token_id == token_id) return position.logprob;
  const auto rank = rank_of(token_id, position);
  return rank ? std::optional(position.top[static_cast<size_t>(*rank) - 1].logprob) : std::nullopt;
}

std::optional<double> gap_drift(const TracePosition& a, const TracePosition& b) {
  double lowest = 0;
  double highest = 0;
  int n_tokens = 0;
  for (const TokenScore& x : a.top) {
    const auto y = std::find_if(b.top.begin(), b.top.end(),
                                [&](const TokenScore& s) { return s.token_id == x.token_id; });
    if (y == b.top.end() || !std::isfinite(x.logprob) || !std::isfinite(y->logprob)) continue;
    const double move = static_cast<double>(y->logprob) - static_cast<double>(x.logprob);
    lowest = n_tokens == 0 ? move : std::min(lowest, move);
    highest = n_tokens == 0 ? move : std::max(highest, move);
    ++n_tokens;
  }
  return n_tokens < 2 ? std::nullopt : std::optional(highest - lowest);
}

}  // namespace isobit
