#include "record/answer_counts.h"

#include <map>
#include <utility>

namespace isobit {
namespace {

using CellRepeat = std::pair<int32_t, int32_t>;  // (cell, repeat)

// A complete cell has its first repeat, and whichever others it has at all.
std::map<CellRepeat, int64_t> answers_by_repeat(const RunRecord& run) {
  std::map<CellRepeat, int64_t> out;
  for (const CellRecord& cell : run.cells) {
    if (cell.complete) out[{cell.index, 0}] = 0;
  }
  for (const SampleRecord& s : run.samples) out[{s.cell_index, s.repeat}]++;
  return out;
}

std::string unasked_choice(const SampleRecord& s, const Request& request) {
  return "a sample of prompt " + std::to_string(s.prompt_index) + " is choice " +
         std::to_string(s.trace.sample_index) + " of " + std::to_string(request.sampling.n);
}

}  // namespace

std::vector<std::string> wrong_answer_counts(const RunRecord& run) {
  std::vector<std::string> out;
  int64_t n_expected = 0;  // of a repeat
  for (const Request& r : run.requests) n_expected += r.sampling.n;
  for (const SampleRecord& s : run.samples) {
    const Request& request = run.requests[static_cast<size_t>(s.prompt_index)];
    if (s.trace.sample_index >= request.sampling.n) out.push_back(unasked_choice(s, request));
  }
  for (const CellRecord& cell : run.cells) {
    if (!cell.complete && run.status == "complete")
      out.push_back("it is complete, its cell '" + cell.name + "' is not");
  }
  for (const auto& [key, n] : answers_by_repeat(run)) {
    const CellRecord& cell = run.cells[static_cast<size_t>(key.first)];
    if (!cell.complete || n == n_expected) continue;
    out.push_back("cell '" + cell.name + "', repeat " + std::to_string(key.second) + ": has " +
                  std::to_string(n) + " samples, expected " + std::to_string(n_expected));
  }
  return out;
}

}  // namespace isobit
