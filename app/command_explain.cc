// `isobit explain SAMPLE`: why this answer is not its reference's.
#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/explain_rule.h"
#include "app/recorded_model.h"
#include "app/run_refs.h"
#include "app/sample_refs.h"
#include "base/error.h"
#include "compare/request_identity.h"
#include "compare/run_comparison.h"
#include "report/report.h"
#include "report/text_wrap.h"
#include "why/explanation.h"
#include "why/why_json.h"
#include "why/why_text.h"

namespace isobit::app {
namespace {

struct ExplainArguments : RerunArguments {
  std::string sample, base, base_model;
};

// The sample's counterpart in its own run.
SampleAddress reference_within(const NamedSample& sample) {
  SampleAddress reference = sample.address;
  const CellRecord& cell = cell_at(sample.run, sample.address.cell_index);
  reference.cell_index = cell.reference_index;
  if (cell.is_reference() && reference.key.repeat == 0) {
    throw Error(ErrorCode::usage,
                sample_ref(sample.run, sample.address) +
                    " is itself a reference; there is nothing in its run to hold it against",
                "name a sample of another cell, or compare with another run: --base RUN");
  }
  const RecordedSamples samples(sample.run);
  if (cell.is_reference() || !samples.find(reference.cell_index, reference.key))
    reference.key.repeat = 0;
  if (samples.find(reference.cell_index, reference.key)) return reference;
  throw Error(sample.run.status == "complete" ? ErrorCode::unsupported : ErrorCode::incomplete,
              "run " + sample.run.id + " has no sample of its reference cell for " +
                  sample_ref(sample.run, sample.address),
              "isobit run --resume finishes an incomplete run");
}

// Its counterpart in another run: the same request in the cell that corresponds.
SampleAddress reference_in(const RunRecord& base, const NamedSample& sample) {
  const RequestMatch requests = match_requests(base.requests, sample.run.requests);
  SampleAddress out;
  const auto request = std::find_if(
      requests.base_to_candidate.begin(), requests.base_to_candidate.end(),
      [&](const auto& pair) { return pair.second == sample.address.key.prompt_index; });
  const std::string& cell = cell_at(sample.run, sample.address.cell_index).name;
  const RunComparison comparison = compare_runs(base, sample.run);
  const auto line = std::find_if(comparison.cells.begin(), comparison.cells.end(),
                                 [&](const CellComparison& c) { return c.name == cell; });
  const bool found = request != requests.base_to_candidate.end() && line != comparison.cells.end();
  if (found) {
    out.cell_index = find_cell(base, line->reference_name);
    out.key = sample.address.key;
    out.key.prompt_index = request->first;
    if (!RecordedSamples(base).find(out.cell_index, out.key)) out.key.repeat = 0;
  }
  if (!found || !RecordedSamples(base).find(out.cell_index, out.key))
    throw Error(ErrorCode::unsupported,
                "run " + base.id + " has no counterpart of " +
                    sample_ref(sample.run, sample.address) + ": " +
                    (request == requests.base_to_candidate.end()
                         ? "the same prompt with the same parameters is not in it"
                         : "no cell or sample corresponds"),
                "isobit compare shows what two runs have in common");
  return out;
}

Arm arm_of(const RunRecord& run, const SampleAddress& address,
           const std::optional<RecordedModel>& model) {
  Arm arm{.sample = sample_ref(run, address),
          .cell = cell_at(run, address.cell_index).name,
          .request = asked_request(run, address),
          .recorded = trace_at(run, address),
          .execution = std::nullopt,
          .target = {}};
  if (!model) return arm;
  arm.execution = recorded_execution(run, address, model->traffic);
  arm.request = arm.execution->request();
  arm.target = watched(*model->target);
  return arm;
}

void require_same_question(const Arm& reference, const Arm& candidate) {
  Request a = reference.request, b = candidate.request;
  a.max_tokens = b.max_tokens;  // a shorter answer is held against the beginning of a longer one
  if (identity_text(a) == identity_text(b)) return;
  throw Error(ErrorCode::unsupported,
              reference.sample + " and " + candidate.sample +
                  " answer other questions: their prompts or sampling parameters differ",
              "explain compares answers to one question");
}

// Whether a model is to be opened: a record of another target is explained as it stands.
std::optional<RecordedModel> open_if_possible(const RunRecord& run, const RerunArguments& arguments,
                                              Session& session) {
  if (!can_rerun(run) && !run.redacted) return std::nullopt;
  return open_recorded(run, arguments, session);
}

int exit_code(Cause cause) {
  switch (cause) {
    case Cause::kNotProbed:
      return kUnsupported;
    case Cause::kNotReproduced:
    case Cause::kNotRepeatable:
    case Cause::kNotLocated:
      return kDiverged;
    default:
      return kOk;
  }
}

void print(const Explanation& e, const ExplainArguments& arguments,
           const std::optional<RecordedModel>& model, Session& session) {
  if (session.flags.json) {
    session.console.result(json_line(explanation_json(e)));
    return;
  }
  session.console.result(folded_lines(explanation_text(
      e, [&](int32_t id) { return model ? model->token_text(id) : std::string(); })));
  const bool unstable = e.cause == Cause::kNotReproduced || e.cause == Cause::kNotRepeatable;
  if (unstable)
    session.console.suggest(fmt::format("isobit replay {} --n 20{}", shell_word(e.candidate.sample),
                                        store_option(session.flags)));
  // Whatever made it differ from another run need not be there within its own.
  const bool within = arguments.base.empty();
  if (within && (e.cause == Cause::kOperator || e.cause == Cause::kSampler))
    session.console.suggest(fmt::format("isobit reduce {}{}{}", shell_word(e.candidate.sample),
                                        e.divergence.token ? " --tokens" : "",
                                        store_option(session.flags)));
}

int run_explain(const ExplainArguments& arguments, Session& session) {
  const NamedSample sample = load_sample(arguments.sample, session.flags.store);
  std::optional<RunRecord> other;
  if (!arguments.base.empty()) other = load_run(arguments.base, session.flags.store);
  const RunRecord& base = other ? *other : sample.run;
  const SampleAddress reference = other ? reference_in(base, sample) : reference_within(sample);
  const std::optional<RecordedModel> model = open_if_possible(sample.run, arguments, session);
  std::optional<RecordedModel> base_model;
  if (other) {
    const RerunArguments of_base{.model = arguments.base_model,
                                 .threads = arguments.threads,
                                 .model_option = "--base-model"};
    base_model = open_if_possible(base, of_base, session);
  }
  const Arm a = arm_of(base, reference, other ? base_model : model),
            b = arm_of(sample.run, sample.address, model);
  require_same_question(a, b);
  ExplainOptions options;
  options.comparison = comparison_options(a.request, cell_at(base, reference.cell_index),
                                          cell_at(sample.run, sample.address.cell_index));
  options.between_answers = stop_when_interrupted;
  Explanation e = explain(a, b, options);
  e.between_runs = other.has_value();
  print(e, arguments, model, session);
  return exit_code(e.cause);
}

}  // namespace

std::function<int()> declare_explain(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ExplainArguments>();
  app.add_option("SAMPLE", arguments->sample,
                 std::string(kSampleHelp) + "; or a rule or metric (isobit policy metrics)")
      ->required();
  app.add_option("--base", arguments->base,
                 "Hold it against the same request in this run (default: its reference cell)")
      ->check(not_empty);
  app.add_option("--base-model", arguments->base_model, "With --base: that run's checkpoint")
      ->check(not_empty);
  declare_rerun_options(app, *arguments);
  return [arguments, &session] {
    if (!arguments->base_model.empty() && arguments->base.empty())
      throw Error(ErrorCode::usage, "--base-model goes with --base");
    if (is_rule_word(arguments->sample)) return explain_rule(arguments->sample, session);
    return run_explain(*arguments, session);
  };
}

}  // namespace isobit::app
