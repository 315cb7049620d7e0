// `isobit plan`: the cells that `isobit run` would execute, with their cost. Changes nothing.
#include <algorithm>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/exit_codes.h"
#include "app/measured_speed.h"
#include "base/error.h"
#include "matrix/plan_file.h"
#include "matrix/workload.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

struct PlanArguments : AuditArguments {
  bool no_measure = false;
};

struct Totals {
  int64_t requests = 0, prompt_tokens = 0, generated_tokens = 0;
};

// What the plan costs: counted, and in seconds where speed was measured.
struct Estimate {
  std::vector<CellEstimate> cells;
  Totals totals;
  std::optional<SpeedTable> speeds;
  std::vector<SecondsRange> cell_seconds;  // parallel to cells; empty: not measured
  SecondsRange seconds;
};

Estimate estimate(AuditSetup& setup, bool measure) {
  const ModelLimits limits{
      .context_tokens = static_cast<int32_t>(setup.model.checkpoint->config().max_positions),
      .max_concurrency = kMaxConcurrency};
  Estimate out;
  out.cells =
      estimate_plan(setup.plan, setup.prompts.requests, limits, [&](int32_t n, uint64_t seed) {
        return neighbour_tokens(*setup.model.text.tokenizer, n, seed);
      });
  for (const CellEstimate& e : out.cells) {
    out.totals.requests += e.n_probes + e.n_neighbours;
    out.totals.prompt_tokens += e.prompt_tokens;
    out.totals.generated_tokens += e.max_generated_tokens;
  }
  if (!measure) return out;
  out.speeds = SpeedTable::measure(setup);
  for (const CellRecord& cell : setup.plan.cells) {
    const CellEstimate& e = out.cells[static_cast<size_t>(cell.index)];
    const SecondsRange s =
        seconds_for(out.speeds->of(cell), e.prompt_tokens, e.max_generated_tokens);
    out.cell_seconds.push_back(s);
    out.seconds.least += s.least;
    out.seconds.likely += s.likely;
    out.seconds.most += s.most;
  }
  return out;
}

std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f}", seconds) : fmt::format("{:.0f}", seconds);
}

std::string table(const Plan& plan, const Estimate& estimate) {
  std::vector<std::vector<std::string>> rows;
  for (const CellRecord& cell : plan.cells) {
    const auto index = static_cast<size_t>(cell.index);
    const CellEstimate& e = estimate.cells[index];
    rows.push_back({cell.name,
                    cell.is_reference()
                        ? "reference"
                        : plan.cells[static_cast<size_t>(cell.reference_index)].name,
                    std::to_string(e.n_probes), std::to_string(e.n_neighbours),
                    std::to_string(e.prompt_tokens), std::to_string(e.max_generated_tokens),
                    estimate.speeds ? seconds_text(estimate.cell_seconds[index].likely) : "-"});
  }
  return text_table({{"cell", Align::kLeft},
                     {"compared with", Align::kLeft},
                     {"probes", Align::kRight},
                     {"neighbours", Align::kRight},
                     {"prompt tok", Align::kRight},
                     {"max output tok", Align::kRight},
                     {"about s", Align::kRight}},
                    rows);
}

// "cpu/best/f16/all threads, 8 together"
std::string basis_name(const MeasuredSpeed& row) {
  const auto setting = [&](const char* axis) {
    const auto at = row.settings.find(axis);
    return at == row.settings.end() ? std::string("-") : at->second;
  };
  return fmt::format("{}/{}/{}/{} threads, {} together", setting("engine.kernel_set"),
                     setting("engine.isa"), setting("engine.kv_dtype"), setting("engine.threads"),
                     row.concurrency);
}

std::string basis_text(const Estimate& e) {
  if (!e.speeds) return "not measured (--no-measure): how long it takes depends on this machine\n";
  std::string out = wrapped_text(fmt::format(
      "about {} s here if no answer stops early ({} to {} s by the fastest and the slowest of {} "
      "rounds)",
      seconds_text(e.seconds.likely), seconds_text(e.seconds.least), seconds_text(e.seconds.most),
      kSpeedRounds));
  out += wrapped_text(fmt::format(
      "measured on {} prompt and {} output tokens a request; longer contexts and teacher-forced "
      "repeats of flipped answers come on top:",
      kSpeedPromptTokens, kSpeedOutputTokens));
  for (const MeasuredSpeed& row : e.speeds->rows()) {
    const std::string speeds = fmt::format(
        "{}: prefill {:.0f} ({:.0f} to {:.0f}), decode {:.0f} ({:.0f} to {:.0f}) tokens/s",
        basis_name(row), row.prefill.median, row.prefill.slowest, row.prefill.fastest,
        row.decode.median, row.decode.slowest, row.decode.fastest);
    out += "  " + wrapped_text(speeds, 2);
  }
  return out;
}

Json range_json(const SpeedRange& range) {
  return {{"slowest", range.slowest}, {"median", range.median}, {"fastest", range.fastest}};
}

Json seconds_json(const Estimate& e) {
  if (!e.speeds) return {{"estimated_seconds", nullptr}, {"basis", nullptr}};
  Json rows = Json::array();
  for (const MeasuredSpeed& row : e.speeds->rows()) {
    Json settings = Json::object();
    for (const auto& [axis, value] : row.settings) settings[axis] = value;
    rows.push_back({{"settings", std::move(settings)},
                    {"concurrency", row.concurrency},
                    {"prefill_tokens_per_s", range_json(row.prefill)},
                    {"decode_tokens_per_s", range_json(row.decode)}});
  }
  return {{"estimated_seconds",
           {{"least", e.seconds.least}, {"likely", e.seconds.likely}, {"most", e.seconds.most}}},
          {"basis",
           {{"rounds", kSpeedRounds},
            {"prompt_tokens", kSpeedPromptTokens},
            {"output_tokens", kSpeedOutputTokens},
            {"measured", std::move(rows)}}}};
}

Json to_json(const Plan& plan, const Estimate& estimate) {
  Json out = plan_to_json(plan);
  for (Json& cell : out["cells"]) {
    const auto index = cell["index"].get<size_t>();
    const CellEstimate& e = estimate.cells[index];
    cell["estimate"] = {
        {"probes", e.n_probes},
        {"neighbours", e.n_neighbours},
        {"prompt_tokens", e.prompt_tokens},
        {"max_generated_tokens", e.max_generated_tokens},
        {"seconds", estimate.speeds ? Json(estimate.cell_seconds[index].likely) : Json()}};
  }
  out["left_out"] = Json::array();
  for (const LeftOut& cell : plan.left_out)
    out["left_out"].push_back({{"cell", cell.name}, {"reason", cell.reason}});
  const Totals& totals = estimate.totals;
  out["totals"] = {{"requests", totals.requests},
                   {"prompt_tokens", totals.prompt_tokens},
                   {"max_generated_tokens", totals.generated_tokens}};
  out["totals"].update(seconds_json(estimate));
  return out;
}

int show_plan(const PlanArguments& arguments, Session& session) {
  AuditSetup setup = set_up_audit(arguments);
  tell_of_templates(setup, session.console);
  const Estimate e = estimate(setup, !arguments.no_measure);
  if (session.flags.json) {
    session.console.result(json_line(to_json(setup.plan, e)) + "\n");
    return kOk;
  }
  session.console.result(table(setup.plan, e));
  for (const LeftOut& cell : setup.plan.left_out)
    session.console.result(wrapped_text(
        fmt::format("left out: {}: {}", printable(cell.name), printable(cell.reason))));
  session.console.result(
      fmt::format("{} cells, {} requests, {} prompt tokens, at most {} output tokens\n{}",
                  setup.plan.cells.size(), e.totals.requests, e.totals.prompt_tokens,
                  e.totals.generated_tokens, basis_text(e)));
  session.console.suggest("isobit run with the same arguments");
  return kOk;
}

}  // namespace

std::function<int()> declare_plan(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<PlanArguments>();
  declare_audit_options(app, *arguments);
  app.add_flag("--no-measure", arguments->no_measure,
               "Compute nothing: count requests and tokens, estimate no seconds");
  return [arguments, &session] {
    arguments->now = session.flags.now;
    return show_plan(*arguments, session);
  };
}

}  // namespace isobit::app
