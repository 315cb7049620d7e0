// One recorded request asked again, n times: does it always give the answer that was recorded?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "why/recorded_traffic.h"

namespace isobit {

// Where an answer leaves the recorded one.
struct Split {
  int32_t position = 0;  // of the answer; its length where one ended before the other
  std::optional<int32_t> token_position = {};  // where the tokens part, there or later
  bool in_tokens() const { return token_position == position; }  // else in bits
};

struct Repetition {
  int32_t n = 0;
  int32_t n_same_tokens = 0;      // as recorded: tokens and ending
  int32_t n_same_bits = 0;        // and every score and hash that was recorded
  int32_t n_distinct_tokens = 0;  // answers among the n
  int32_t n_distinct_bits = 0;
  std::optional<Split> first_split;  // the earliest of all
  std::optional<int32_t> first_token_split;
  std::vector<std::optional<Split>> runs;  // per repetition; nullopt: as recorded
  bool all_as_recorded() const { return n_same_bits == n; }
};

struct RepeatOptions {
  int32_t n = 20;
  BetweenAnswers between_answers = {};
  std::function<void(int32_t n_done)> on_progress = {};  // may be empty
};

Repetition repeat(Target& target, const Execution& execution, const Trace& recorded,
                  const RepeatOptions& options);

}  // namespace isobit
