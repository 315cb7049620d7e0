#include "matrix/forcing.h"

#include <tuple>

namespace isobit {

ForcingSource forcing_over_reference(const Plan& plan, const AnswerTokens& answers) {
  return {.over_run = {}, .tokens = [&plan, &answers](const AnswerId& id) -> std::vector<int32_t> {
            const CellRecord& cell = plan.cells[static_cast<size_t>(id.cell_index)];
            const auto at = answers.find({.cell_index = cell.reference_index,
                                          .prompt_index = id.prompt_index,
                                          .repeat = 0,
                                          .sample_index = id.sample_index});
            return at == answers.end() ? std::vector<int32_t>() : at->second;
          }};
}

std::vector<ForcedPass> forced_passes(const AnswerTokens& answers, const ForcingSource& source,
                                      const std::set<AnswerId>& done) {
  std::map<std::tuple<int32_t, int32_t, int32_t>, ForcedPass> passes;
  for (const auto& [id, tokens] : answers) {
    if (done.contains(id)) continue;
    std::vector<int32_t> held_to = source.tokens(id);
    if (held_to.empty() || held_to == tokens) continue;
    ForcedPass& pass = passes[{id.cell_index, id.repeat, id.sample_index}];
    pass.cell_index = id.cell_index;
    pass.repeat = id.repeat;
    pass.sample_index = id.sample_index;
    pass.tokens.emplace(id.prompt_index, std::move(held_to));
  }
  std::vector<ForcedPass> out;
  for (auto& [key, pass] : passes) out.push_back(std::move(pass));
  return out;
}

void apply(const ForcedPass& pass, BuiltWorkload& built) {
  for (size_t i = 0; i < built.workload.items.size(); ++i) {
    WorkItem& item = built.workload.items[i];
    const auto at =
        built.prompt_index[i] ? pass.tokens.find(*built.prompt_index[i]) : pass.tokens.end();
    item.recorded = item.recorded && at != pass.tokens.end();
    if (!item.recorded) continue;
    item.request.forced_token_ids = at->second;
    item.request.max_tokens = static_cast<int32_t>(at->second.size());
  }
}

}  // namespace isobit
