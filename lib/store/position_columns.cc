#include "store/position_columns.h"

#include <algorithm>
#include <limits>

#include "store/packed_numbers.h"
#include "store/rows.h"

namespace isobit {
namespace {

constexpr uint8_t kHasMargin = 1, kHasHash = 2;

void add_blob_or_null(Statement& statement, bool present, std::string_view bytes) {
  present ? statement.add_blob(bytes) : statement.add_null();
}

class PositionReader {
 public:
  PositionReader(const Database& database, const Statement& row, int first,
                 const std::string& row_name)
      : database_(database), row_(row), first_(first), row_name_(row_name) {}

  std::vector<TracePosition> read() {
    const int64_t stored = row_.integer(first_ + kPositions);
    if (stored < 0 || stored > std::numeric_limits<int32_t>::max())
      refuse("n_positions is " + std::to_string(stored));
    const auto n = static_cast<size_t>(stored);
    const std::string_view tokens = blob(kTokens, n, 4, "tokens"),
                           logprobs = blob(kLogprobs, n, 4, "logprobs"),
                           evidence = blob(kEvidence, n, 1, "evidence");
    const bool margins_there = !row_.is_null(first_ + kMargins),
               hashes_there = !row_.is_null(first_ + kHashes);
    const std::string_view margins =
                               margins_there ? blob(kMargins, n, 4, "margins") : std::string_view(),
                           hashes = hashes_there ? blob(kHashes, n, 16, "logits_hashes")
                                                 : std::string_view();
    std::vector<TracePosition> positions(n);  // n is small enough: the blobs above have that length
    for (size_t i = 0; i < n; ++i) {
      TracePosition& p = positions[i];
      p.token_id = packed_at<int32_t>(tokens, i);
      p.logprob = packed_at<float>(logprobs, i);
      const auto bits = static_cast<uint8_t>(evidence[i]);
      if (bits & ~(kHasMargin | kHasHash))
        refuse("evidence of position " + std::to_string(i) + " is unknown");
      if ((bits & kHasMargin && !margins_there) || (bits & kHasHash && !hashes_there)) {
        refuse("position " + std::to_string(i) + " claims evidence that is not stored");
      }
      if (bits & kHasMargin) p.margin = packed_at<float>(margins, i);
      if (bits & kHasHash)
        std::copy_n(hashes.begin() + static_cast<ptrdiff_t>(16 * i), 16,
                    p.logits_hash.emplace().begin());
    }
    read_top(positions);
    return positions;
  }

 private:
  // In the order of kPositionColumns.
  enum Column {
    kPositions,
    kTokens,
    kLogprobs,
    kEvidence,
    kMargins,
    kHashes,
    kTopCounts,
    kTopIds,
    kTopLogprobs
  };

  [[noreturn]] void refuse(const std::string& what) const {
    refuse_row(database_, row_name_, what);
  }

  std::string_view blob(Column column, size_t n, size_t item_bytes, const char* what) const {
    const std::string_view bytes = row_.blob(first_ + column);
    if (bytes.size() != n * item_bytes) {
      refuse(std::string(what) + " has " + std::to_string(bytes.size()) + " bytes, expected " +
             std::to_string(n * item_bytes));
    }
    return bytes;
  }

  void read_top(std::vector<TracePosition>& positions) {
    const bool there = !row_.is_null(first_ + kTopCounts);
    const std::string_view counts =
        there ? blob(kTopCounts, positions.size(), 4, "top_counts") : std::string_view();
    const std::string_view ids = row_.blob(first_ + kTopIds);
    if (ids.size() % 4 != 0) refuse("top_ids has " + std::to_string(ids.size()) + " bytes");
    const size_t n_scores = ids.size() / 4;
    const std::string_view logprobs = blob(kTopLogprobs, n_scores, 4, "top_logprobs");
    size_t at = 0;
    for (size_t i = 0; there && i < positions.size(); ++i) {
      const auto n = packed_at<int32_t>(counts, i);
      if (n < 0 || static_cast<size_t>(n) > n_scores - at)
        refuse("top_counts name more alternatives than there are");
      for (int32_t k = 0; k < n; ++k, ++at) {
        positions[i].top.push_back({packed_at<int32_t>(ids, at), packed_at<float>(logprobs, at)});
      }
    }
    if (at != n_scores) refuse("there are more alternatives than top_counts name");
  }

  const Database& database_;
  const Statement& row_;
  const int first_;
  const std::string& row_name_;
};

}  // namespace

PackedPositions::PackedPositions(const std::vector<TracePosition>& positions)
    : n_positions(static_cast<int64_t>(positions.size())) {
  for (const TracePosition& p : positions) {
    append_packed(tokens, p.token_id);
    append_packed(logprobs, p.logprob);
    evidence += static_cast<char>((p.margin ? kHasMargin : 0) | (p.logits_hash ? kHasHash : 0));
    append_packed(margins, p.margin.value_or(0.0f));
    const Hash128 hash = p.logits_hash.value_or(Hash128{});
    hashes.append(reinterpret_cast<const char*>(hash.data()), hash.size());
    any_margin |= p.margin.has_value();
    any_hash |= p.logits_hash.has_value();
    append_packed(top_counts, static_cast<int32_t>(p.top.size()));
    for (const TokenScore& score : p.top) {
      append_packed(top_ids, score.token_id);
      append_packed(top_logprobs, score.logprob);
    }
  }
}

void add_positions(Statement& statement, const PackedPositions& packed) {
  statement.add(packed.n_positions);
  statement.add_blob(packed.tokens).add_blob(packed.logprobs).add_blob(packed.evidence);
  add_blob_or_null(statement, packed.any_margin, packed.margins);
  add_blob_or_null(statement, packed.any_hash, packed.hashes);
  add_blob_or_null(statement, !packed.top_ids.empty(), packed.top_counts);
  statement.add_blob(packed.top_ids).add_blob(packed.top_logprobs);
}

std::vector<TracePosition> read_positions(const Database& database, const Statement& row, int first,
                                          const std::string& row_name) {
  return PositionReader(database, row, first, row_name).read();
}

}  // namespace isobit
