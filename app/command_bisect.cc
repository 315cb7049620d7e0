// `isobit bisect BASE [CAND]`: the one axis value, or the smallest set of them, that explains why
// two runs, or a cell and its reference, differ.
#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/recorded_model.h"
#include "app/run_refs.h"
#include "app/sample_refs.h"
#include "base/error.h"
#include "compare/request_identity.h"
#include "matrix/plan_file.h"
#include "report/report.h"
#include "report/text_wrap.h"
#include "why/run_changes.h"
#include "why/why_json.h"
#include "why/why_text.h"

namespace isobit::app {
namespace {

struct BisectArguments : RerunArguments {
  std::string base, candidate, candidate_model;
  bool tokens = false;
  int64_t max_runs = 64;
};

uint64_t seed_of(const RunRecord& run) {
  return plan_from_json(run.plan_json, "run " + run.id).spec.seed;
}

std::optional<std::string> weights_of(const RunRecord& run) {
  for (const FingerprintItem& item : run.fingerprint.items) {
    if (item.item_class == FingerprintClass::kModel && item.name == "weights.stored_root")
      return item.value;
  }
  return std::nullopt;
}

std::optional<int32_t> prompt_in_base(const NamedPart& candidate, const RunRecord& base) {
  if (!candidate.sample) return std::nullopt;
  const int32_t prompt = candidate.sample->key.prompt_index;
  const RequestMatch match = match_requests(base.requests, candidate.run.requests);
  for (const auto& [mine, theirs] : match.base_to_candidate) {
    if (theirs == prompt) return mine;
  }
  throw Error(ErrorCode::unsupported,
              "run " + base.id + " does not have the request '" +
                  candidate.run.requests[static_cast<size_t>(prompt)].id +
                  "' with the same parameters",
              "isobit compare shows what two runs have in common");
}

std::string cell_ref(const CellOfRun& cell) {
  return cell.run.id + "/" + cell_at(cell.run, cell.cell_index).name;
}

// The models of both runs; the candidate's is opened when it is first asked for.
class Models {
 public:
  Models(const CellPair& pair, const BisectArguments& arguments, Session& session)
      : pair_(pair),
        arguments_(arguments),
        session_(session),
        base_(open_recorded(pair.base.run, arguments, session)),
        differ_(weights_of(pair.base.run) != weights_of(pair.candidate.run) &&
                can_rerun(pair.candidate.run)) {}

  bool differ() const { return differ_; }
  const TrafficSource& traffic() const { return base_.traffic; }

  Target& target(bool candidates) {
    if (!candidates) return *base_.target;
    if (!candidate_) {
      const RerunArguments of_candidate{.model = arguments_.candidate_model,
                                        .threads = arguments_.threads,
                                        .model_option = "--candidate-model"};
      candidate_ = open_recorded(pair_.candidate.run, of_candidate, session_);
    }
    return *candidate_->target;
  }

 private:
  const CellPair& pair_;
  const BisectArguments& arguments_;
  Session& session_;
  RecordedModel base_;
  std::optional<RecordedModel> candidate_;
  bool differ_;
};

Bisection search(const CellPair& pair, const BisectArguments& arguments, Level level,
                 Session& session) {
  Bisection out;
  if (!pair.answer) return out;
  Models models(pair, arguments, session);
  const RunChanges changes = changes_between(pair, models.differ());
  const AskSource source{
      .target = [&](bool candidates) -> Target& { return models.target(candidates); },
      .traffic = models.traffic(),
      .level = level,
      .between_answers = stop_when_interrupted};
  out = bisect(changes.applicable, asking(pair, changes.applicable, source),
               {.max_runs = arguments.max_runs, .on_probe = {}});
  out.answer = pair.answer;
  out.suspects = changes.suspects;
  return out;
}

int exit_code(BisectionResult result) {
  switch (result) {
    case BisectionResult::kFound:
    case BisectionResult::kNoDifference:
      return kOk;
    case BisectionResult::kBaseMoves:
      return kDiverged;
    case BisectionResult::kNotShown:
    case BisectionResult::kOutOfRuns:
      return kInconclusive;
  }
  return kInternal;
}

int run_bisect(const BisectArguments& arguments, Session& session) {
  const NamedPart base = load_part(arguments.base, session.flags.store);
  const bool within = arguments.candidate.empty();
  std::optional<NamedPart> other;
  if (!within) {
    if (base.cell_index)
      throw Error(ErrorCode::usage,
                  "'" + arguments.base + "' names a cell; beside a second run BASE is a run",
                  "name the cell on the second: isobit bisect RUN RUN/CELL");
    other = load_part(arguments.candidate, session.flags.store);
  }
  const NamedPart& candidate = within ? base : *other;
  const Level level = arguments.tokens ? Level::kRequestReproducible : Level::kBitwise;
  const CellPair pair =
      diverging_pair({.base = base.run,
                      .candidate = candidate.run,
                      .base_seed = seed_of(base.run),
                      .candidate_seed = seed_of(candidate.run)},
                     candidate.cell_index, prompt_in_base(candidate, base.run), level);
  const Bisection found = search(pair, arguments, level, session);
  const std::string from = cell_ref(pair.base), to = cell_ref(pair.candidate);
  if (session.flags.json) {
    session.console.result(json_line(bisection_json(found, from, to)));
  } else {
    session.console.result(
        folded_lines(fmt::format("base {}\ncandidate {}\n", printable(from), printable(to)) +
                     bisection_text(found)));
    if (pair.answer)
      session.console.suggest(fmt::format(
          "isobit explain {}{}{}", shell_word(to + "/" + pair.answer->request_id),
          within ? "" : " --base " + shell_word(base.run.id), store_option(session.flags)));
  }
  return exit_code(found.result);
}

}  // namespace

std::function<int()> declare_bisect(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<BisectArguments>();
  app.add_option("BASE", arguments->base,
                 "Run; alone: RUN or RUN/CELL[/PROMPT], a cell against its reference")
      ->required();
  app.add_option("CAND", arguments->candidate, "Run, RUN/CELL or RUN/CELL/PROMPT that differs")
      ->check(not_empty);
  app.add_flag("--tokens", arguments->tokens, "Only another token or ending counts, not bits");
  app.add_option("--max-runs", arguments->max_runs, "Most workloads to run (default: 64)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--candidate-model", arguments->candidate_model,
                 "Checkpoint of CAND, where it is no longer at the recorded path")
      ->check(not_empty);
  declare_rerun_options(app, *arguments);
  return [arguments, &session] { return run_bisect(*arguments, session); };
}

}  // namespace isobit::app
