// How fast this model is here, measured for an estimate: a short prefill and a short decode of each
// kernel set and concurrency that a plan uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/audit.h"

namespace isobit::app {

// Tokens per second: the median of the rounds, with the slowest and the fastest of them.
struct SpeedRange {
  double slowest = 0, median = 0, fastest = 0;
};

struct MeasuredSpeed {
  std::map<std::string, std::string> settings;  // of the axes that the target sets
  int32_t concurrency = 1;                      // requests together
  SpeedRange prefill, decode;
};

inline constexpr int kSpeedRounds = 3;  // after one that packs weights and warms up
inline constexpr int32_t kSpeedPromptTokens = 32;
inline constexpr int32_t kSpeedOutputTokens = 8;
// Larger batches are estimated by this one: they are hardly faster a token.
inline constexpr int32_t kSpeedMostConcurrency = 32;

class SpeedTable {
 public:
  // Runs what it needs for the cells of the plan, in few changes of kernel set.
  static SpeedTable measure(AuditSetup& setup);

  const MeasuredSpeed& of(const CellRecord& cell) const;
  const std::vector<MeasuredSpeed>& rows() const { return rows_; }

 private:
  std::vector<std::string> axes_;
  std::vector<MeasuredSpeed> rows_;
};

struct SecondsRange {
  double least = 0, likely = 0, most = 0;
};
// What this many tokens take at that speed.
SecondsRange seconds_for(const MeasuredSpeed& speed, int64_t prompt_tokens,
                         int64_t generated_tokens);

}  // namespace isobit::app
