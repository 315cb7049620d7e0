#include "app/recorded_model.h"

#include <filesystem>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/cores.h"
#include "app/interruption.h"
#include "app/word_lists.h"
#include "base/error.h"
#include "fingerprint/fingerprint_diff.h"
#include "matrix/plan_file.h"

namespace isobit::app {
namespace {

std::string listed(const std::vector<const FingerprintItemChange*>& changes) {
  constexpr size_t kShown = 6;
  std::string out;
  for (size_t i = 0; i < std::min(changes.size(), kShown); ++i)
    out += fmt::format("{}{}.{}", i ? ", " : "", name(changes[i]->item_class), changes[i]->name);
  if (changes.size() > kShown) out += fmt::format(" and {} more", changes.size() - kShown);
  return out;
}

// What is asked again must be the same model and arithmetic; what lies around it is only said.
void check_same(const RunRecord& run, const LoadedModel& model, const Plan& plan, int n_threads,
                const char* model_option, Session& session) {
  const Fingerprint now = audit_fingerprint(model, plan, n_threads);
  if (now.id == run.fingerprint.id) return;
  const std::vector<FingerprintItemChange> changes = diff_fingerprints(run.fingerprint, now);
  std::vector<const FingerprintItemChange*> decisive, around;
  for (const FingerprintItemChange& change : changes) {
    if (change.kind == ChangeKind::kUnknown) continue;
    (change.role == ItemRole::kAdvisory ? around : decisive).push_back(&change);
  }
  if (!decisive.empty()) {
    throw Error(ErrorCode::incomparable,
                fmt::format("run {} was recorded of another model or arithmetic than '{}' is now: "
                            "{} changed",
                            run.id, model.source, listed(decisive)),
                std::string(model_option) +
                    " names the checkpoint as it was; isobit bisect compares two runs");
  }
  if (!around.empty())
    session.console.warn(fmt::format("since run {} was recorded, this changed around it: {}",
                                     run.id, listed(around)));
}

// The recorded path is as it was given: a relative one is found from the same folder only.
LoadedModel load_recorded(const RunRecord& run, const RerunArguments& a, const std::string& now) {
  if (!a.model.empty()) return load_model(a.model, now);
  const std::string path = recorded_model_path(run);
  try {
    return load_model(path, now);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::environment) throw;
    const bool relative = std::filesystem::path(path).is_relative();
    throw Error(e.code(),
                fmt::format("the checkpoint of run {} cannot be read: {}", run.id, e.message()),
                fmt::format("{} PATH names the checkpoint where it is now{}", a.model_option,
                            relative ? "; the run recorded a path relative to the folder that it "
                                       "was started in"
                                     : ""));
  }
}

void require_rerunnable(const RunRecord& run) {
  if (run.redacted) {
    throw Error(ErrorCode::unsupported,
                "run " + run.id +
                    " is redacted: it holds digests of its prompts, which cannot be "
                    "sent again",
                "run the same prompts without --redact; isobit compare works on redacted runs");
  }
  if (!can_rerun(run)) {
    throw Error(
        ErrorCode::unsupported,
        "run " + run.id + " was answered by '" + run.target + "', which cannot be asked again here",
        "only runs of the built-in engine can");
  }
}

}  // namespace

void declare_rerun_options(CLI::App& app, RerunArguments& a) {
  app.add_option("--model", a.model, "Checkpoint, where it is no longer at the recorded path")
      ->check(not_empty);
  app.add_option("--threads", a.threads, "Threads, where the cell states none (default: all cores)")
      ->check(CLI::Range(1, kMostThreads));
}

std::string RecordedModel::token_text(int32_t id) const {
  if (id < 0 || id >= model.text.tokenizer->vocab_size()) return {};
  const std::string_view bytes = model.text.tokenizer->token_bytes(id);
  return bytes.empty() ? std::string(model.text.tokenizer->token_text(id)) : std::string(bytes);
}

bool can_rerun(const RunRecord& run) {
  return run.target.starts_with(kTargetPrefix);
}

std::string recorded_model_path(const RunRecord& run) {
  ISOBIT_REQUIRE(can_rerun(run));
  return run.target.substr(std::string_view(kTargetPrefix).size());
}

RecordedModel open_recorded(const RunRecord& run, const RerunArguments& a, Session& session) {
  require_rerunnable(run);
  const int n_threads = a.threads ? a.threads : n_cores();
  const Plan plan = plan_from_json(run.plan_json, "run " + run.id);
  RecordedModel out;
  out.model =
      load_recorded(run, a,
                    now_or_pinned(session.flags.now.empty() ? recorded_clock(run.fingerprint)
                                                            : session.flags.now));
  check_same(run, out.model, plan, n_threads, a.model_option, session);
  out.target = make_target(out.model, n_threads);
  out.traffic = {.limits = model_limits(out.model),
                 .neighbour_tokens = neighbour_source(out.model),
                 .seed = plan.spec.seed,
                 .settable = out.target->capabilities().axes};
  watch_for_interruption();
  return out;
}

void stop_when_interrupted() {
  if (interrupted()) throw_interruption("nothing was changed; the same command starts over");
}

}  // namespace isobit::app
