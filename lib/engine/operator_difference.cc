#include "engine/operator_difference.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"

namespace isobit {
namespace {

using RowKey = std::tuple<int32_t, int64_t, Operator>;  // position, layer, operator

struct RowPrint {
  uint64_t digest = 0;
  int64_t step = 0;
};

using RowVisitor = std::function<void(const RowKey&, int64_t step, std::span<const float> row)>;

// Shows every row of the choice.
void visit_rows(const ProbedChoice& choice, const RowVisitor& visit) {
  choice.execute([&](int64_t step, std::span<const ProbedRow> rows, const OperatorOutput& out) {
    for (size_t r = 0; r < rows.size(); ++r) {
      if (rows[r].request_index != choice.request_index ||
          rows[r].sample_index != choice.sample_index)
        continue;
      visit({rows[r].position, out.layer, out.op}, step,
            {out.values + static_cast<int64_t>(r) * out.width, static_cast<size_t>(out.width)});
    }
  });
}

std::map<RowKey, RowPrint> prints_of(const ProbedChoice& choice) {
  std::map<RowKey, RowPrint> prints;
  visit_rows(choice, [&](const RowKey& key, int64_t step, std::span<const float> row) {
    prints[key] = {XXH3_64bits(row.data(), row.size_bytes()), step};
  });
  return prints;
}

std::vector<float> fetch_row(const ProbedChoice& choice, const RowKey& wanted,
                             const RowPrint& print) {
  std::vector<float> found;
  visit_rows(choice, [&](const RowKey& key, int64_t, std::span<const float> row) {
    if (key == wanted) found.assign(row.begin(), row.end());
  });
  if (XXH3_64bits(found.data(), found.size() * sizeof(float)) != print.digest) {
    throw Error(ErrorCode::internal,
                std::string("an execution does not repeat itself: ") + name(std::get<2>(wanted)) +
                    " of layer " + std::to_string(std::get<1>(wanted)) + " at position " +
                    std::to_string(std::get<0>(wanted)) +
                    " gave other bits when it was replayed in the same schedule");
  }
  return found;
}

}  // namespace

std::optional<OperatorDifference> first_operator_difference(const ProbedChoice& reference,
                                                            const ProbedChoice& candidate) {
  const std::map<RowKey, RowPrint> expected = prints_of(reference), actual = prints_of(candidate);
  for (const auto& [key, print] : expected) {
    const auto other = actual.find(key);
    if (other == actual.end() || other->second.digest == print.digest) continue;
    const std::vector<float> a = fetch_row(reference, key, print),
                             b = fetch_row(candidate, key, other->second);
    ISOBIT_REQUIRE(a.size() == b.size());
    size_t i = 0;
    while (std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i])) ++i;
    return OperatorDifference{.position = std::get<0>(key),
                              .layer = std::get<1>(key),
                              .op = std::get<2>(key),
                              .element = static_cast<int64_t>(i),
                              .reference = a[i],
                              .candidate = b[i],
                              .reference_step = print.step,
                              .candidate_step = other->second.step};
  }
  return std::nullopt;
}

std::string describe(const OperatorDifference& d) {
  char text[256];
  std::snprintf(text, sizeof text,
                "position %d, layer %lld, %s, element %lld: 0x%08x (%.9g) against 0x%08x (%.9g); "
                "steps %lld and %lld",
                d.position, static_cast<long long>(d.layer), name(d.op),
                static_cast<long long>(d.element), std::bit_cast<uint32_t>(d.reference),
                static_cast<double>(d.reference), std::bit_cast<uint32_t>(d.candidate),
                static_cast<double>(d.candidate), static_cast<long long>(d.reference_step),
                static_cast<long long>(d.candidate_step));
  return text;
}

}  // namespace isobit
