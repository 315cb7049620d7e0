// The per-position part of an answer, as the BLOB columns of the tables `sample` and `forced` hold
// it.
#pragma once

#include <string>
#include <vector>

#include "record/trace.h"
#include "store/database.h"

namespace isobit {

// In the order in which add_positions binds them and read_positions reads them.
inline constexpr const char* kPositionColumns =
    "n_positions, tokens, logprobs, evidence, margins, logits_hashes, top_counts, top_ids, "
    "top_logprobs";
inline constexpr int kPositionColumnCount = 9;

struct PackedPositions {
  explicit PackedPositions(const std::vector<TracePosition>& positions);

  int64_t n_positions = 0;
  std::string tokens, logprobs, evidence, margins, hashes, top_counts, top_ids, top_logprobs;
  bool any_margin = false, any_hash = false;
};

void add_positions(Statement& statement, const PackedPositions& packed);

// From the columns `first` to `first` + kPositionColumnCount - 1 of a row. Throws
// Error(environment) naming the row where lengths or counts contradict each other.
std::vector<TracePosition> read_positions(const Database& database, const Statement& row, int first,
                                          const std::string& row_name);

}  // namespace isobit
