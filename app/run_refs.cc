#include "app/run_refs.h"

#include <filesystem>

#include "app/baseline_runs.h"
#include "app/bundle_file.h"
#include "app/recording_lock.h"
#include "app/run_claims.h"
#include "base/error.h"
#include "bundle/run_bundle.h"
#include "record/redaction.h"
#include "store/store.h"

namespace isobit::app {

RunRef parse_run_ref(const std::string& text, const std::string& default_store) {
  if (std::filesystem::exists(text)) return {.store = text, .run = "latest"};
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0)
    return {.store = text.substr(0, colon), .run = text.substr(colon + 1)};
  if (text.ends_with(".db")) return {.store = text, .run = "latest"};
  return {.store = default_store, .run = text};
}

RunRecord load_run(const std::string& text, const std::string& default_store) {
  if (is_baseline_file(text)) return load_baseline_file(text).run;
  const RunRef ref = parse_run_ref(text, default_store);
  if (is_bundle_file(ref.store)) return run_in_bundle(load_bundle(ref.store), ref.run, ref.store);
  Store store = Store::open(ref.store, StoreMode::kRead);
  RunRecord run = store.load_run(store.resolve_ref(ref.run));
  require_sound_claims(run, "store '" + ref.store + "'");
  return run;
}

namespace {

constexpr const char* kInterrupted = "interrupted";

bool was_interrupted(const RunRecord& run, const std::string& text,
                     const std::string& default_store) {
  if (run.status != "running" || is_baseline_file(text)) return false;
  const std::string store = parse_run_ref(text, default_store).store;
  return !is_bundle_file(store) && !is_recorded_to(store);
}

// Keeps the digest of what was recorded.
void show_status(RunRecord& run, std::string& digest, const std::string& text,
                 const std::string& default_store) {
  if (!was_interrupted(run, text, default_store)) return;
  digest = run_digest(run);
  run.status = kInterrupted;
}

}  // namespace

RunRecord load_shown_run(const std::string& text, const std::string& default_store) {
  RunRecord run = load_run(text, default_store);
  if (was_interrupted(run, text, default_store)) run.status = kInterrupted;
  return run;
}

std::string lasting_ref(const std::string& text, const RunRecord& run, const std::string& store) {
  if (is_baseline_file(text)) return text;
  const std::string of = parse_run_ref(text, store).store;
  return of == store ? run.id : of + ":" + run.id;
}

std::string base_beside(const std::string& text, const RunRecord& base,
                        const std::string& candidate, const std::string& store) {
  if (is_baseline_file(text)) return text;
  const bool in_a_file =
      is_baseline_file(candidate) || is_bundle_file(parse_run_ref(candidate, store).store);
  if (in_a_file) return lasting_ref(text, base, store);
  const std::string of = parse_run_ref(text, store).store;
  const bool same = parse_run_ref(candidate, store).store == of;
  return same ? base.id : of + ":" + base.id;
}

RunPair load_run_pair(const std::string& base, const std::string& candidate,
                      const std::string& default_store, Console& console) {
  RunPair out{.base = load_run(base, default_store),
              .candidate = load_run(candidate, default_store)};
  show_status(out.base, out.digests.base, base, default_store);
  show_status(out.candidate, out.digests.candidate, candidate, default_store);
  if (out.base.id == out.candidate.id)
    console.warn("both sides are run " + out.base.id +
                 ": held against itself, a run shows nothing about an upgrade");
  if (out.base.redacted == out.candidate.redacted) return out;
  RunRecord& readable = out.base.redacted ? out.candidate : out.base;
  const RunRecord& other = out.base.redacted ? out.base : out.candidate;
  std::string& digest = out.base.redacted ? out.digests.candidate : out.digests.base;
  console.say("run " + other.id + " is redacted; run " + readable.id +
              " is compared as if it were");
  if (digest.empty()) digest = run_digest(readable);
  readable = redact(readable);
  return out;
}

void require_not_redacted(const RunRecord& run, const std::string& what) {
  if (!run.redacted) return;
  throw Error(ErrorCode::unsupported,
              "run " + run.id + " is redacted: " + what +
                  " needs its prompts and tokens, of which it keeps only digests",
              "record a run without --redact");
}

std::string explain_command(const std::string& sample, const std::string& base,
                            const GlobalFlags& flags) {
  return "isobit explain " + shell_word(sample) +
         (base.empty() ? "" : " --base " + shell_word(base)) + store_option(flags);
}

std::string store_option(const GlobalFlags& flags) {
  return flags.store == GlobalFlags{}.store ? "" : " --store " + shell_word(flags.store);
}

}  // namespace isobit::app
