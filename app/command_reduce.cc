// `isobit reduce SAMPLE`: the smallest batch, prompt and length that still diverges, and the guilty
// neighbour.
#include <fmt/format.h>

#include "app/case_file.h"
#include "app/exit_codes.h"
#include "app/recorded_model.h"
#include "app/run_refs.h"
#include "app/sample_refs.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"
#include "why/reduction.h"
#include "why/why_json.h"
#include "why/why_text.h"

namespace isobit::app {
namespace {

struct ReduceArguments : RerunArguments {
  std::string sample, output;
  bool tokens = false;
  int64_t max_runs = 20000;
};

DivergingCase case_of(const NamedSample& sample, const RecordedModel& model) {
  SampleAddress reference = sample.address;
  reference.cell_index = cell_at(sample.run, sample.address.cell_index).reference_index;
  return {
      .execution = recorded_execution(sample.run, sample.address, model.traffic),
      .alone_settings = recorded_execution(sample.run, reference, model.traffic).workload.settings};
}

// The reference's own sample, where it is not this one.
std::optional<SampleAddress> reference_of(const NamedSample& sample) {
  SampleAddress reference = sample.address;
  reference.cell_index = cell_at(sample.run, sample.address.cell_index).reference_index;
  if (reference.cell_index == sample.address.cell_index) return std::nullopt;
  const RecordedSamples samples(sample.run);
  if (!samples.find(reference.cell_index, reference.key)) reference.key.repeat = 0;
  return samples.find(reference.cell_index, reference.key) ? std::optional(reference)
                                                           : std::nullopt;
}

// Why a sample that answers as it does alone cannot be reduced.
[[noreturn]] void refuse(const NamedSample& sample, const RecordedModel& model,
                         const DivergingCase& c, const ReduceArguments& arguments,
                         const Session& session) {
  const std::string name = sample_ref(sample.run, sample.address);
  const auto reference = reference_of(sample);
  const Trace& recorded = trace_at(sample.run, sample.address);
  if (!reference || same_answer(trace_at(sample.run, *reference), recorded)) {
    throw Error(ErrorCode::usage,
                name + " does not diverge: in its schedule it answers as it does alone",
                "isobit compare or isobit report list the samples that do");
  }
  const CaseAnswers answers = answers_of_case(*model.target, c, stop_when_interrupted);
  if (same_answer(recorded, answers.in_company)) {
    const std::string other = sample_ref(sample.run, *reference);
    throw Error(
        ErrorCode::usage,
        name + " answers as it does alone; it is its reference, " + other + ", that does not",
        "isobit reduce " + shell_word(other) + (arguments.tokens ? " --tokens" : "") +
            store_option(session.flags));
  }
  throw Error(ErrorCode::inconclusive,
              name + " was recorded as diverging, and asked again it answers as it does alone",
              "isobit replay " + shell_word(name) + " --n 20" + store_option(session.flags) +
                  " shows whether it repeats itself");
}

// A flip may shrink to a case in which only bits differ.
void tell_of_tokens(const NamedSample& sample, const Reduction& found,
                    const ReduceArguments& arguments, Session& session) {
  const auto reference = reference_of(sample);
  if (arguments.tokens || found.divergence.token || !reference) return;
  const Divergence recorded =
      compare_samples(trace_at(sample.run, *reference), trace_at(sample.run, sample.address));
  if (!recorded.token) return;
  session.console.say("the recorded answers part in tokens, the smallest case in bits only");
  session.console.suggest(fmt::format(
      "isobit reduce {} --tokens{}{}", shell_word(sample_ref(sample.run, sample.address)),
      arguments.output.empty() ? "" : " -o " + shell_word(arguments.output),
      store_option(session.flags)));
}

void write_case(const Reduction& found, const ReduceArguments& arguments,
                const RecordedModel& model, Session& session) {
  if (arguments.output.empty()) return;
  write_file_atomically(arguments.output, case_file_text(found.smallest));
  session.console.say("wrote " + printable(arguments.output));
  session.console.suggest(fmt::format("isobit replay --case {} --model {}",
                                      shell_word(arguments.output),
                                      shell_word(model.model.source)));
}

int run_reduce(const ReduceArguments& arguments, Session& session) {
  const NamedSample sample = load_sample(arguments.sample, session.flags.store);
  const RecordedModel model = open_recorded(sample.run, arguments, session);
  const DivergingCase start = case_of(sample, model);
  ReduceOptions options;
  options.level = arguments.tokens ? Level::kRequestReproducible : Level::kBitwise;
  options.max_runs = arguments.max_runs;
  options.between_answers = stop_when_interrupted;
  options.on_progress = [&](const CaseSize& s, int64_t n_runs) {
    session.console.detail(fmt::format("{} executions: {} neighbours, prompt {}, output {}", n_runs,
                                       s.n_neighbours, s.n_prompt_tokens, s.max_tokens));
    session.console.progress_bar(
        n_runs, options.max_runs,
        fmt::format("executions at most  {} neighbours, prompt {}, output {}", s.n_neighbours,
                    s.n_prompt_tokens, s.max_tokens));
  };
  const auto found = reduce(watched(*model.target), start, options);
  if (!found) refuse(sample, model, start, arguments, session);
  const std::string name = sample_ref(sample.run, sample.address);
  session.console.result(session.flags.json ? json_line(reduction_json(*found, name))
                                            : printable(name) + "\n" + reduction_text(*found));
  if (!session.flags.json && arguments.output.empty())
    session.console.json_result("\n" + case_file_text(found->smallest));
  write_case(*found, arguments, model, session);
  tell_of_tokens(sample, *found, arguments, session);
  if (!found->repeatable) return kDiverged;
  return found->one_minimal ? kOk : kInconclusive;
}

}  // namespace

std::function<int()> declare_reduce(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReduceArguments>();
  app.add_option("SAMPLE", arguments->sample, kSampleHelp)->required();
  app.add_option("-o,--output", arguments->output,
                 "Write the smallest case as a prompts file (default: on stdout)")
      ->check(not_empty);
  app.add_flag("--tokens", arguments->tokens, "Keep another token or ending, not only other bits");
  app.add_option("--max-runs", arguments->max_runs, "Most executions to try (default: 20000)")
      ->check(CLI::Range(1, 10000000));
  declare_rerun_options(app, *arguments);
  return [arguments, &session] { return run_reduce(*arguments, session); };
}

}  // namespace isobit::app
