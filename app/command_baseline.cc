// `isobit baseline set|promote|list|show|verify|rm|export|import`: runs that others are held to, by
// name.
#include <algorithm>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/baseline_runs.h"
#include "app/baseline_verify.h"
#include "app/clock.h"
#include "app/exit_codes.h"
#include "app/policy_argument.h"
#include "app/recording_lock.h"
#include "app/run_claims.h"
#include "app/run_refs.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"
#include "store/store.h"

namespace isobit::app {
namespace {

struct BaselineArguments {
  std::string name, run, file, note;
  std::optional<std::string> policy;
  std::optional<int64_t> version;
  bool all = false;
  BaselineVerify verify;
};

Json baseline_json(const Baseline& b) {
  return {{"name", b.name},
          {"version", b.version},
          {"run", b.run_id},
          {"created", b.created},
          {"policy", b.policy.empty() ? Json() : Json(json_text(b.policy))},
          {"note", json_text(b.note)}};
}

// A text that a baseline file can hold.
const std::string& checked_text(const std::string& flag, const std::string& text) {
  if (json_text(text) == text) return text;
  throw Error(ErrorCode::usage, flag + " is not UTF-8 text");
}

// A run of this store: a baseline names nothing outside it.
RunRecord run_for_baseline(Store& store, const std::string& word, const Session& session) {
  const RunRef ref = parse_run_ref(word, session.flags.store);
  if (ref.store != session.flags.store) {
    throw Error(ErrorCode::usage,
                "a baseline names a run of its own store, '" + session.flags.store + "', not of '" +
                    ref.store + "'",
                is_baseline_file(ref.store) ? "isobit baseline import takes it into the store"
                                            : "give --store " + shell_word(ref.store));
  }
  RunRecord run = store.load_run(store.resolve_ref(ref.run));
  if (run.status == "complete") return run;
  throw Error(
      ErrorCode::incomplete, "run " + run.id + " is not complete",
      "isobit run --resume --run-id " + run.id + store_option(session.flags) + " finishes it");
}

int add(const BaselineArguments& a, bool promote, Session& session) {
  const std::string note = checked_text("--note", a.note);
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  const auto all = store.list_baselines();
  const bool known = std::ranges::find(all, a.name, &Baseline::name) != all.end();
  if (known && !promote) {
    throw Error(ErrorCode::usage,
                "baseline '" + a.name + "' exists: version " +
                    std::to_string(store.baseline_history(a.name).front().version),
                "isobit baseline promote " + a.name + " " + shell_word(a.run) +
                    " puts a new version in force");
  }
  const std::string before = promote ? store.baseline_history(a.name).front().policy : "";
  const RunRecord run = run_for_baseline(store, a.run, session);
  const Baseline baseline =
      store.add_baseline({.name = a.name,
                          .run_id = run.id,
                          .created = utc_now(),
                          .policy = a.policy ? policy_text(*a.policy) : before,
                          .note = note});
  store.close();
  if (session.flags.json) {
    session.console.result(json_line(baseline_json(baseline)) + "\n");
    return kOk;
  }
  session.console.result(wrapped_words(
      fmt::format("baseline {} version {}: run {}, fingerprint {}, {} prompts, {} cells{}",
                  baseline.name, baseline.version, run.id, run.fingerprint.id.substr(0, 12),
                  run.requests.size(), run.cells.size(), run.redacted ? ", redacted" : "")));
  session.console.suggest(
      fmt::format("isobit baseline verify {}{}", a.name, store_option(session.flags)));
  return kOk;
}

int list(Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  const auto all = store.list_baselines();
  Json json = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < all.size(); ++i) {
    const Baseline& b = all[i];
    const bool in_force = i + 1 == all.size() || all[i + 1].name != b.name;
    json.push_back(baseline_json(b));
    json.back()["in_force"] = in_force;
    rows.push_back({b.name, std::to_string(b.version), in_force ? "in force" : "history", b.run_id,
                    b.created.substr(0, 10), b.policy.empty() ? "-" : "yes", b.note});
  }
  if (session.flags.json) {
    session.console.result(json_line({{"baselines", json}}) + "\n");
    return kOk;
  }
  session.console.result(text_table({{"baseline", Align::kLeft},
                                     {"version", Align::kRight},
                                     {"state", Align::kLeft},
                                     {"run", Align::kLeft},
                                     {"since", Align::kLeft},
                                     {"policy", Align::kLeft},
                                     {"note", Align::kLeft}},
                                    rows));
  return kOk;
}

Json run_json(const RunRecord& run) {
  return {{"id", run.id},
          {"created", run.created},
          {"target", json_text(run.target)},
          {"label", json_text(run.label)},
          {"prompts", run.requests.size()},
          {"prompts_digest", run.prompts_digest},
          {"cells", run.cells.size()},
          {"samples", run.samples.size()},
          {"redacted", run.redacted},
          {"fingerprint", run.fingerprint.id}};
}

Json fingerprint_items_json(const Fingerprint& fingerprint) {
  Json out = Json::array();
  for (const FingerprintItem& item : fingerprint.items) {
    out.push_back({{"class", name(item.item_class)},
                   {"name", json_text(item.name)},
                   {"value", json_text(item.value)},
                   {"source", name(item.source)},
                   {"reason", json_text(item.reason)}});
  }
  return out;
}

std::string shown(const std::vector<Baseline>& history, const RunRecord& run) {
  std::string out = fmt::format(
      "{}: run {} of {}, target {}\n{} prompts (digest {}), {} cells, {} answers{}\n\nhistory:\n",
      history.front().name, run.id, run.created, printable(run.target), run.requests.size(),
      run.prompts_digest.substr(0, 12), run.cells.size(), run.samples.size(),
      run.redacted ? ", redacted" : "");
  for (const Baseline& b : history) {
    out += fmt::format("  version {}  {}  run {}{}\n", b.version, b.created, b.run_id,
                       b.note.empty() ? "" : "  " + printable(b.note));
  }
  out += fmt::format("\nfingerprint {}:\n", run.fingerprint.id.substr(0, 12));
  for (const FingerprintItem& item : run.fingerprint.items) {
    const std::string value = item.source == FingerprintSource::kUnknown
                                  ? "unknown (" + printable(item.reason) + ")"
                                  : printable(item.value);
    out +=
        "  " + wrapped_words(
                   fmt::format("{}.{}: {}", name(item.item_class), printable(item.name), value), 4);
  }
  const std::string& policy = history.front().policy;
  out += "\npolicy: ";
  if (policy.empty()) return out + "none of its own; gates ask for level 1\n";
  for (size_t begin = 0; begin < policy.size();) {
    const size_t end = std::min(policy.find('\n', begin), policy.size());
    out += "\n  " + printable(policy.substr(begin, end - begin));
    begin = end + 1;
  }
  return out + "\n";
}

int show(const BaselineArguments& a, Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  const auto history = store.baseline_history(a.name);
  const RunRecord run = store.load_run(history.front().run_id);
  if (!session.flags.json) {
    session.console.result(shown(history, run));
    return kOk;
  }
  Json json = {{"baseline", baseline_json(history.front())},
               {"run", run_json(run)},
               {"history", Json::array()},
               {"fingerprint", fingerprint_items_json(run.fingerprint)}};
  for (const Baseline& b : history) json["history"].push_back(baseline_json(b));
  session.console.result(json_line(json) + "\n");
  return kOk;
}

int remove(const BaselineArguments& a, Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  const auto history = store.baseline_history(a.name);
  if (history.size() > 1 && !a.version && !a.all) {
    throw Error(ErrorCode::usage,
                fmt::format("baseline '{}' has {} versions", a.name, history.size()),
                "name one with --version, or remove them all with --all");
  }
  const size_t n = store.remove_baseline(a.name, a.version);
  store.close();
  const bool gone = n == history.size();
  const Baseline* in_force = nullptr;
  for (const Baseline& b : history) {
    if (!gone && !in_force && b.version != a.version) in_force = &b;
  }
  if (session.flags.json) {
    session.console.result(json_line({{"name", a.name},
                                      {"removed_versions", n},
                                      {"in_force", in_force ? Json(in_force->version) : Json()}}) +
                           "\n");
    return kOk;
  }
  session.console.result(
      gone ? fmt::format("baseline {} is gone; its runs stay\n", a.name)
           : fmt::format("version {} of baseline {} is gone; version {} (run {}) is in force\n",
                         *a.version, a.name, in_force->version, in_force->run_id));
  return kOk;
}

int export_file(const BaselineArguments& a, Session& session) {
  Store store = Store::open(session.flags.store, StoreMode::kRead);
  const Baseline baseline = store.baseline_history(a.name).front();
  const RunRecord run = store.load_run(baseline.run_id);
  require_whole_run(run, "store '" + session.flags.store + "'");  // nobody could import it
  const std::string text = baseline_file_text({.name = baseline.name,
                                               .version = baseline.version,
                                               .created = baseline.created,
                                               .note = baseline.note,
                                               .policy = baseline.policy,
                                               .run = run});
  write_file_atomically(a.file, text);
  if (session.flags.json) {
    session.console.result(json_line({{"file", json_text(a.file)},
                                      {"bytes", text.size()},
                                      {"baseline", baseline_json(baseline)}}) +
                           "\n");
    return kOk;
  }
  session.console.result(wrapped_words(
      fmt::format("{}: baseline {} version {}, run {}, {} answers, {} bytes", printable(a.file),
                  baseline.name, baseline.version, run.id, run.samples.size(), text.size())));
  session.console.suggest(
      fmt::format("isobit gate {} latest{}", shell_word(a.file), store_option(session.flags)));
  return kOk;
}

int import_file(const BaselineArguments& a, Session& session) {
  const BaselineFile file = load_baseline_file(a.file);  // before a store is made
  std::optional<RecordingLock> lock;                     // before the store, so that it goes after
  Store store = Store::open(session.flags.store, StoreMode::kRecord);
  lock.emplace(session.flags.store);
  const ImportedBaseline in = import_baseline(store, file, a.name.empty() ? file.name : a.name);
  store.close();
  if (session.flags.json) {
    session.console.result(json_line({{"baseline", baseline_json(in.baseline)},
                                      {"run_was_there", in.run_was_there},
                                      {"baseline_was_there", in.baseline_was_there}}) +
                           "\n");
    return kOk;
  }
  session.console.result(fmt::format(
      "baseline {} version {}: run {}{}\n", in.baseline.name, in.baseline.version,
      in.baseline.run_id,
      in.baseline_was_there ? ", which was there already"
                            : fmt::format(", {} answers{}", file.run.samples.size(),
                                          in.run_was_there ? " that were there already" : "")));
  return kOk;
}

CLI::App* subcommand(CLI::App& app, const char* name, const char* what, const char* example) {
  CLI::App* sub = app.add_subcommand(name, what);
  sub->fallthrough();
  sub->footer(std::string("Example:\n  ") + example);
  return sub;
}

}  // namespace

std::function<int()> declare_baseline(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  auto a = std::make_shared<BaselineArguments>();
  CLI::App* set_app = subcommand(app, "set", "Name a run that others are held to",
                                 "isobit baseline set prod latest --note 'the first one'");
  CLI::App* promote_app =
      subcommand(app, "promote", "Put another run in force; the earlier ones stay in the history",
                 "isobit baseline promote prod latest");
  CLI::App* list_app =
      subcommand(app, "list", "Every baseline with its history", "isobit baseline list");
  CLI::App* show_app = subcommand(app, "show", "One baseline: its history, fingerprint and policy",
                                  "isobit baseline show prod");
  CLI::App* verify_app =
      subcommand(app, "verify", "Ask its prompts again here, and gate the answers against it",
                 "isobit baseline verify prod examples/tiny-kjv");
  CLI::App* rm_app = subcommand(app, "rm", "Let go of a baseline, or of one version of it",
                                "isobit baseline rm prod --version 1");
  CLI::App* export_app =
      subcommand(app, "export", "Write it as one file to commit beside a service's code",
                 "isobit baseline export prod -o prod.baseline.json");
  CLI::App* import_app = subcommand(app, "import", "Take such a file into a store",
                                    "isobit baseline import prod.baseline.json");
  for (CLI::App* sub : {set_app, promote_app, show_app, verify_app, rm_app, export_app})
    sub->add_option("NAME", a->name, "The baseline: 1 to 64 of [0-9A-Za-z_.-]")->required();
  for (CLI::App* sub : {set_app, promote_app}) {
    sub->add_option("RUN", a->run, "Run: latest, latest~1, an id")->required();
    sub->add_option("--policy", a->policy,
                    "Policy that gates against it follow: a file or level-1");
    sub->add_option("--note", a->note, "Why; kept in the history");
  }
  declare_baseline_verify(*verify_app, a->verify);
  rm_app->add_option("--version", a->version, "Only this one");
  rm_app->add_flag("--all", a->all, "All of them")->excludes("--version");
  export_app->add_option("-o,--output", a->file, "File to write")->required();
  import_app->add_option("FILE", a->file, "What baseline export wrote")->required();
  import_app->add_option("--name", a->name, "Another name for it");
  return [=, &session] {
    if (set_app->parsed() || promote_app->parsed()) return add(*a, promote_app->parsed(), session);
    if (list_app->parsed()) return list(session);
    if (show_app->parsed()) return show(*a, session);
    if (verify_app->parsed()) return verify_baseline(a->name, a->verify, session);
    if (rm_app->parsed()) return remove(*a, session);
    return export_app->parsed() ? export_file(*a, session) : import_file(*a, session);
  };
}

}  // namespace isobit::app
