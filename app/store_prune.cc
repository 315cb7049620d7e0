#include "app/store_prune.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/exit_codes.h"
#include "app/number_checks.h"
#include "app/recording_lock.h"
#include "app/run_refs.h"
#include "app/word_lists.h"
#include "base/error.h"
#include "gate/date.h"
#include "report/report.h"
#include "store/store.h"

namespace isobit::app {
namespace {

// "2026-01-31" or "2026-01-31T12:34:56Z", as records state the time: such texts sort as the times
// do.
std::string time_argument(const std::string& text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
  const bool whole = text.size() == kShape.size();
  bool good = whole || text.size() == 10;
  for (size_t i = 0; good && i < text.size(); ++i)
    good = kShape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == kShape[i];
  const auto number = [&](size_t at) { return std::stoi(text.substr(at, 2)); };
  good = good && parse_date(text);
  good = good && (!whole || (number(11) <= 23 && number(14) <= 59 && number(17) <= 60));
  if (good) return text;
  throw Error(ErrorCode::usage, "--before is '" + text + "', which is no date",
              "write 2026-01-31 or 2026-01-31T12:34:56Z (UTC)");
}

// Split here: where a value holds nothing but commas, CLI11's own delimiter takes the next option
// for the value.
std::vector<std::string> named_runs(const PruneArguments& a) {
  std::vector<std::string> out;
  for (const std::string& value : a.runs) {
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      out.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  if (std::ranges::find(out, "") != out.end())
    throw Error(ErrorCode::usage, "--runs has a comma with no run beside it",
                "write --runs ID,ID or --runs ID --runs ID");
  return out;
}

std::vector<std::string> chosen_runs(Store& store, const PruneArguments& a) {
  std::vector<std::string> out;
  const auto runs = store.list_runs();
  if (a.keep) {
    const size_t n_kept = std::min(runs.size(), static_cast<size_t>(*a.keep));
    for (size_t i = 0; i + n_kept < runs.size(); ++i) out.push_back(runs[i].id);
  } else if (!a.before.empty()) {
    const std::string before = time_argument(a.before);
    for (const RunSummary& run : runs) {
      if (run.created < before) out.push_back(run.id);
    }
  } else {
    for (const std::string& ref : named_runs(a)) {
      const std::string id = store.resolve_ref(ref);
      if (std::ranges::find(out, id) == out.end()) out.push_back(id);
    }
  }
  return out;
}

struct Choice {
  std::vector<std::string> go;
  std::map<std::string, std::string> kept;  // run id -> the baseline that needs it
};

// A named run that cannot go is an error; one that only is old enough stays, and that is said.
Choice choose(Store& store, const PruneArguments& a) {
  std::map<std::string, std::string> needed;
  for (const Baseline& b : store.list_baselines())
    needed[b.run_id] = fmt::format("{} version {}", b.name, b.version);
  Choice out;
  for (const std::string& id : chosen_runs(store, a)) {
    const auto at = needed.find(id);
    if (at == needed.end() || a.with_baselines) {
      out.go.push_back(id);
    } else if (!a.runs.empty()) {
      throw Error(ErrorCode::usage, "run " + id + " is baseline " + at->second,
                  "isobit baseline rm lets go of it, or add --with-baselines");
    } else {
      out.kept.insert(*at);
    }
  }
  return out;
}

Json choice_json(const Choice& choice) {
  Json kept = Json::array();
  for (const auto& [run, baseline] : choice.kept)
    kept.push_back({{"run", run}, {"baseline", baseline}});
  return {{"runs", choice.go}, {"kept", std::move(kept)}};
}

std::string choice_text(const Choice& choice, const char* verb) {
  std::string out;
  for (const std::string& id : choice.go) out += fmt::format("{} run {}\n", verb, id);
  for (const auto& [run, baseline] : choice.kept)
    out += fmt::format("kept run {}: it is baseline {}\n", run, baseline);
  return out;
}

void print(const Choice& choice, const PruneArguments& a, const PruneResult& result,
           Session& session) {
  if (session.flags.json) {
    Json json = choice_json(choice);
    json.update({{"dry_run", a.dry_run},
                 {"samples", result.n_samples},
                 {"comparisons", result.n_comparisons},
                 {"baseline_versions", result.n_baselines},
                 {"bytes_before", result.bytes_before},
                 {"bytes_after", result.bytes_after}});
    session.console.result(json_line(json) + "\n");
    return;
  }
  session.console.result(choice_text(choice, a.dry_run ? "would remove" : "removed"));
  session.console.result(
      a.dry_run || choice.go.empty()
          ? fmt::format("{} runs {}\n", choice.go.size(),
                        a.dry_run ? "would go; nothing was changed" : "to remove")
          : fmt::format("{} runs, {} answers, {} saved comparisons and {} baseline versions are "
                        "gone; {} bytes freed of {}\n",
                        result.n_runs, result.n_samples, result.n_comparisons, result.n_baselines,
                        result.bytes_before - result.bytes_after, result.bytes_before));
}

// Counted, not done.
int dry_run(const PruneArguments& a, Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  const Choice choice = choose(store, a);
  PruneResult result;
  result.bytes_before = result.bytes_after = store.info().size_bytes;
  for (const RunSummary& run : store.list_runs()) {
    if (std::ranges::find(choice.go, run.id) != choice.go.end()) result.n_samples += run.n_samples;
  }
  print(choice, a, result, session);
  return kOk;
}

}  // namespace

void declare_store_prune(CLI::App& app, PruneArguments& a) {
  CLI::Option* keep = app.add_option("--keep", a.keep, "The latest N runs stay, the others go")
                          ->check(not_negative);
  CLI::Option* before = app.add_option(
      "--before", a.before, "Runs recorded before this go: 2026-01-31 or 2026-01-31T12:34:56Z");
  CLI::Option* runs = app.add_option(
      "--runs", a.runs, "These go: ids or references, comma-separated, or --runs again for each");
  keep->excludes(before)->excludes(runs);
  before->excludes(runs);
  app.add_flag("--with-baselines", a.with_baselines,
               "Baselines' runs may go too, and the baselines with them");
  app.add_flag("--dry-run", a.dry_run, "Say what would go, and change nothing");
}

int prune_store(const PruneArguments& a, Session& session) {
  if (!a.keep && a.before.empty() && a.runs.empty())
    throw Error(ErrorCode::usage, "which runs should go?",
                "give --keep N, --before DATE or --runs");
  static_cast<void>(named_runs(a));  // before any work
  if (a.dry_run) return dry_run(a, session);
  Store::open(session.flags.store, StoreMode::kRead);  // there is one; none is made here
  std::optional<RecordingLock> lock;                   // before the store, so that it goes after it
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  const Choice choice = choose(store, a);
  PruneResult result;
  result.bytes_before = result.bytes_after = store.info().size_bytes;
  if (!choice.go.empty()) {
    result =
        store.prune_runs(choice.go, a.with_baselines ? BaselineRuns::kRemove : BaselineRuns::kKeep);
  }
  store.close();
  print(choice, a, result, session);
  return kOk;
}

}  // namespace isobit::app
