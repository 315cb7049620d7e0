// `isobit replay SAMPLE`: one recorded request again, in its recorded schedule or alone; or a case
// that `reduce` wrote.
#include <fmt/format.h>

#include "app/audit.h"
#include "app/case_file.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/interruption.h"
#include "app/recorded_model.h"
#include "app/run_refs.h"
#include "app/sample_refs.h"
#include "base/error.h"
#include "report/report.h"
#include "why/reduction.h"
#include "why/repetition.h"
#include "why/why_json.h"
#include "why/why_text.h"

namespace isobit::app {
namespace {

struct ReplayArguments : RerunArguments {
  std::string sample, case_file;
  int32_t n = 20;
  bool alone = false;
};

RepeatOptions repeat_options(const ReplayArguments& arguments, Session& session) {
  return {.n = arguments.n,
          .between_answers = stop_when_interrupted,
          .on_progress = [&session, n = arguments.n](int32_t done) {
            session.console.detail(fmt::format("{} of {}", done, n));
            session.console.progress_bar(done, n, "executions");
          }};
}

int print(const Repetition& r, const std::string& name, bool alone, const char* against,
          Session& session) {
  session.console.result(session.flags.json ? json_line(repetition_json(r, name, alone, against))
                                            : repetition_text(r, name, against));
  return r.all_as_recorded() ? kOk : kDiverged;
}

int replay_sample(const ReplayArguments& arguments, Session& session) {
  const NamedSample sample = load_sample(arguments.sample, session.flags.store);
  const RecordedModel model = open_recorded(sample.run, arguments, session);
  Execution execution = recorded_execution(sample.run, sample.address, model.traffic);
  if (arguments.alone) execution = alone(execution);
  const Repetition r = repeat(*model.target, execution, trace_at(sample.run, sample.address),
                              repeat_options(arguments, session));
  const std::string name = sample_ref(sample.run, sample.address);
  const int code = print(r, name, arguments.alone, "recorded", session);
  if (code != kOk && !session.flags.json)
    session.console.suggest(
        fmt::format("isobit explain {}{}", shell_word(name), store_option(session.flags)));
  return code;
}

// In the case's schedule, held against the request alone.
int replay_case(const ReplayArguments& arguments, Session& session) {
  if (arguments.model.empty())
    throw Error(ErrorCode::usage, "--case needs --model: a case file names no checkpoint");
  const LoadedModel model = load_model(arguments.model, now_or_pinned(session.flags.now));
  const auto target = make_target(model, arguments.threads ? arguments.threads : n_cores());
  const DivergingCase c =
      read_case_file(arguments.case_file, model.text, target->capabilities().axes);
  watch_for_interruption();
  Execution by_itself = alone(c.execution);
  by_itself.workload.settings = c.alone_settings;
  const Trace expected = answer_of(*target, by_itself, stop_when_interrupted);
  const Repetition r = repeat(*target, c.execution, expected, repeat_options(arguments, session));
  return print(r, arguments.case_file, false, "alone", session);
}

}  // namespace

std::function<int()> declare_replay(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::Option* sample = app.add_option("SAMPLE", arguments->sample, kSampleHelp);
  CLI::Option* file = app.add_option("--case", arguments->case_file,
                                     "A file of `isobit reduce -o`: its schedule against the "
                                     "request alone");
  file->check(not_empty)->excludes(sample);
  app.add_option("--n", arguments->n, "Executions (default: 20)")->check(CLI::Range(1, 100000));
  app.add_flag("--alone", arguments->alone, "Without the neighbours that it was recorded with")
      ->excludes(file);
  declare_rerun_options(app, *arguments);
  return [arguments, &session] {
    if (!arguments->case_file.empty()) return replay_case(*arguments, session);
    if (arguments->sample.empty())
      throw Error(ErrorCode::usage, "SAMPLE is missing",
                  "a sample is RUN/CELL/PROMPT, for example latest/0/0");
    return replay_sample(*arguments, session);
  };
}

}  // namespace isobit::app
