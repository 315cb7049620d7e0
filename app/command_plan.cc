// `isobit plan`: the cells that `isobit run` would execute, with their cost. Changes nothing.
#include <algorithm>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "base/error.h"
#include "matrix/plan_file.h"
#include "matrix/workload.h"
#include "report/text_table.h"

namespace isobit::app {
namespace {

struct Totals {
  int64_t requests = 0, prompt_tokens = 0, generated_tokens = 0;
};

// Tokens per second of one request alone, from a short run: prefill of 64 tokens, then 16 tokens.
struct Speed {
  double prefill_tokens_per_s = 0, decode_tokens_per_s = 0;
};

Speed measure_speed(AuditSetup& setup, const CellRecord& cell) {
  Workload workload;
  WorkItem item;
  item.request.id = "speed";
  item.request.prompt_token_ids = neighbour_tokens(*setup.model.text.tokenizer, 64, 1);
  item.request.max_tokens = 16;
  item.request.stop.ignore_eos = true;
  workload.items = {item};
  for (const std::string& axis : setup.target->capabilities().axes)
    workload.settings[axis] = axis_value(cell, axis);
  Speed speed;
  for (int round = 0; round < 2; ++round) {  // the first one packs weights and warms up
    setup.target->run(workload, [&](size_t, const Trace& t) {
      speed = {.prefill_tokens_per_s = 64e3 / t.ttft_ms,
               .decode_tokens_per_s = 15e3 / (t.total_ms - t.ttft_ms)};
    });
  }
  return speed;
}

std::string table(const Plan& plan, const std::vector<CellEstimate>& estimates) {
  std::vector<std::vector<std::string>> rows;
  for (const CellRecord& cell : plan.cells) {
    const CellEstimate& e = estimates[static_cast<size_t>(cell.index)];
    rows.push_back({cell.name,
                    cell.is_reference()
                        ? "reference"
                        : plan.cells[static_cast<size_t>(cell.reference_index)].name,
                    std::to_string(e.n_probes), std::to_string(e.n_neighbours),
                    std::to_string(e.prompt_tokens), std::to_string(e.max_generated_tokens)});
  }
  return text_table({{"cell", Align::kLeft},
                     {"compared with", Align::kLeft},
                     {"probes", Align::kRight},
                     {"neighbours", Align::kRight},
                     {"prompt tok", Align::kRight},
                     {"max output tok", Align::kRight}},
                    rows, 110);
}

Json to_json(const Plan& plan, const std::vector<CellEstimate>& estimates, const Totals& totals,
             double seconds) {
  Json out = plan_to_json(plan);
  for (Json& cell : out["cells"]) {
    const CellEstimate& e = estimates[cell["index"].get<size_t>()];
    cell["estimate"] = {{"probes", e.n_probes},
                        {"neighbours", e.n_neighbours},
                        {"prompt_tokens", e.prompt_tokens},
                        {"max_generated_tokens", e.max_generated_tokens}};
  }
  out["left_out"] = Json::array();
  for (const LeftOut& cell : plan.left_out)
    out["left_out"].push_back({{"cell", cell.name}, {"reason", cell.reason}});
  out["totals"] = {{"requests", totals.requests},
                   {"prompt_tokens", totals.prompt_tokens},
                   {"max_generated_tokens", totals.generated_tokens},
                   {"estimated_seconds", seconds}};
  return out;
}

int show_plan(const AuditArguments& arguments, Session& session) {
  AuditSetup setup = set_up_audit(arguments);
  tell_of_templates(setup, session.console);
  const ModelLimits limits{
      .context_tokens = static_cast<int32_t>(setup.model.checkpoint->config().max_positions),
      .max_concurrency = kMaxConcurrency};
  const auto neighbours = [&](int32_t n, uint64_t seed) {
    return neighbour_tokens(*setup.model.text.tokenizer, n, seed);
  };
  const std::vector<CellEstimate> estimates =
      estimate_plan(setup.plan, setup.prompts.requests, limits, neighbours);
  Totals totals;
  for (const CellEstimate& e : estimates) {
    totals.requests += e.n_probes + e.n_neighbours;
    totals.prompt_tokens += e.prompt_tokens;
    totals.generated_tokens += e.max_generated_tokens;
  }
  const Speed speed = measure_speed(setup, setup.plan.cells.front());
  const double seconds = static_cast<double>(totals.prompt_tokens) / speed.prefill_tokens_per_s +
                         static_cast<double>(totals.generated_tokens) / speed.decode_tokens_per_s;
  if (session.flags.json) {
    session.console.result(to_json(setup.plan, estimates, totals, seconds).dump() + "\n");
    return kOk;
  }
  session.console.result(table(setup.plan, estimates));
  for (const LeftOut& cell : setup.plan.left_out)
    session.console.result(fmt::format("left out: {}: {}\n", cell.name, cell.reason));
  session.console.result(fmt::format(
      "{} cells, {} requests, {} prompt tokens, at most {} output tokens; at most about {:.0f} s "
      "on this machine\n"
      "(one request alone: {:.0f} prompt and {:.0f} output tokens/s; batches are faster)\n",
      setup.plan.cells.size(), totals.requests, totals.prompt_tokens, totals.generated_tokens,
      seconds, speed.prefill_tokens_per_s, speed.decode_tokens_per_s));
  session.console.suggest("isobit run with the same arguments");
  return kOk;
}

}  // namespace

std::function<int()> declare_plan(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<AuditArguments>();
  declare_audit_options(app, *arguments);
  return [arguments, &session] {
    arguments->now = session.flags.now;
    return show_plan(*arguments, session);
  };
}

}  // namespace isobit::app
