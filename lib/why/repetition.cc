#include "why/repetition.h"

#include <algorithm>

#include "base/error.h"

namespace isobit {
namespace {

std::optional<Split> split_of(const Trace& recorded, const Trace& found) {
  if (same_answer(recorded, found)) return std::nullopt;
  const Divergence d = compare_samples(recorded, found);
  const auto shorter =
      static_cast<int32_t>(std::min(recorded.positions.size(), found.positions.size()));
  Split split{.position = shorter};
  if (d.token) {
    split.token_position = d.token->position;
  } else if (d.finish_differs || recorded.positions.size() != found.positions.size()) {
    split.token_position = shorter;
  }
  split.position = split.token_position.value_or(shorter);
  if (d.numeric) split.position = std::min(split.position, d.numeric->position);
  return split;
}

bool same_tokens(const Trace& a, const Trace& b) {
  return a.finish_reason == b.finish_reason &&
         std::equal(a.positions.begin(), a.positions.end(), b.positions.begin(), b.positions.end(),
                    [](const auto& x, const auto& y) { return x.token_id == y.token_id; });
}

using Same = bool (*)(const Trace&, const Trace&);

bool is_new(const std::vector<Trace>& kept, const Trace& trace, Same same) {
  return std::none_of(kept.begin(), kept.end(),
                      [&](const Trace& other) { return same(other, trace); });
}

}  // namespace

Repetition repeat(Target& target, const Execution& execution, const Trace& recorded,
                  const RepeatOptions& options) {
  ISOBIT_REQUIRE(options.n >= 1);
  Repetition out{
      .n = options.n, .first_split = std::nullopt, .first_token_split = std::nullopt, .runs = {}};
  std::vector<Trace> distinct_tokens, distinct_bits;
  for (int32_t i = 0; i < options.n; ++i) {
    const Trace found = answer_of(target, execution, options.between_answers);
    const auto split = split_of(recorded, found);
    out.runs.push_back(split);
    out.n_same_bits += !split;
    out.n_same_tokens += same_tokens(recorded, found);
    if (split && (!out.first_split || split->position < out.first_split->position))
      out.first_split = split;
    if (split && split->token_position)
      out.first_token_split =
          std::min(out.first_token_split.value_or(INT32_MAX), *split->token_position);
    if (is_new(distinct_tokens, found, same_tokens)) distinct_tokens.push_back(found);
    if (is_new(distinct_bits, found, same_answer)) distinct_bits.push_back(found);
    if (options.on_progress) options.on_progress(i + 1);
  }
  out.n_distinct_tokens = static_cast<int32_t>(distinct_tokens.size());
  out.n_distinct_bits = static_cast<int32_t>(distinct_bits.size());
  return out;
}

}  // namespace isobit
