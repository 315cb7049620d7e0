#include "app/forcing_over_run.h"

#include <memory>

#include "base/error.h"
#include "compare/request_identity.h"
#include "compare/run_comparison.h"

namespace isobit::app {
namespace {

// Base cell index by the new run's cell index.
std::map<int32_t, int32_t> corresponding_cells(const RunRecord& base, const RunRecord& header) {
  std::map<std::string, int32_t> base_cells, new_cells;
  for (const CellRecord& cell : base.cells) base_cells[cell.name] = cell.index;
  for (const CellRecord& cell : header.cells) new_cells[cell.name] = cell.index;
  std::map<int32_t, int32_t> out;
  for (const CellComparison& line : compare_runs(base, header).cells)
    out[new_cells.at(line.name)] = base_cells.at(line.reference_name);
  return out;
}

std::map<int32_t, int32_t> corresponding_prompts(const RunRecord& base, const RunRecord& header) {
  std::map<int32_t, int32_t> out;
  for (const auto& [mine, theirs] :
       match_requests(base.requests, header.requests).base_to_candidate)
    out[theirs] = mine;
  return out;
}

AnswerTokens first_answers(const RunRecord& run) {
  AnswerTokens out;
  for (const SampleRecord& s : run.samples) {
    if (s.repeat != 0 || s.trace.finish_reason == FinishReason::kError) continue;
    std::vector<int32_t>& tokens =
        out[{s.cell_index, s.prompt_index, s.repeat, s.trace.sample_index}];
    for (const TracePosition& p : s.trace.positions) tokens.push_back(p.token_id);
  }
  return out;
}

}  // namespace

ForcingSource forcing_over_run(const RunRecord& base, const RunRecord& header) {
  const auto cells = corresponding_cells(base, header);
  const auto prompts = corresponding_prompts(base, header);
  if (cells.empty() || prompts.empty()) {
    throw Error(ErrorCode::unsupported,
                "no " + std::string(cells.empty() ? "cell" : "prompt") +
                    " of this run corresponds to one of run " + base.id,
                "give both runs the same prompts and axes");
  }
  const auto answers = std::make_shared<const AnswerTokens>(first_answers(base));
  return {.over_run = base.id, .tokens = [=](const AnswerId& id) -> std::vector<int32_t> {
            const auto cell = cells.find(id.cell_index);
            const auto prompt = prompts.find(id.prompt_index);
            if (cell == cells.end() || prompt == prompts.end()) return {};
            const auto at = answers->find({.cell_index = cell->second,
                                           .prompt_index = prompt->second,
                                           .repeat = 0,
                                           .sample_index = id.sample_index});
            return at == answers->end() ? std::vector<int32_t>() : at->second;
          }};
}

}  // namespace isobit::app
