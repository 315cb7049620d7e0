// `isobit fingerprint SRC`, `fingerprint diff A B`, `fingerprint verify FILE SRC`.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/run_refs.h"
#include "app/text_verdict.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "fingerprint/fingerprint_diff.h"
#include "report/report.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"
#include "statement/ml_bom.h"

namespace isobit::app {
namespace {

struct FingerprintArguments {
  std::string source, before, after, recorded, model, kernel_set = "cpu", isa = "best";
  std::string now, output;
  bool canonical = false, cyclonedx = false;
};

Fingerprint fingerprint_of_model(const std::string& source, const FingerprintArguments& a) {
  const LoadedModel model = load_model(source, now_or_pinned(a.now));
  AuditArguments audit;
  audit.sets = {"engine.kernel_set=" + a.kernel_set, "engine.isa=" + a.isa};
  return audit_fingerprint(model, make_plan(plan_spec(audit)), n_cores(),
                           a.canonical ? CanonicalRoot::compute : CanonicalRoot::skip);
}

Fingerprint read_fingerprint(const std::string& path) {
  return fingerprint_from_json(read_file(path), path);
}

// What the user says the time is, as RFC 3339 has it; empty: nothing is said.
std::string timestamp_of(const std::string& now) {
  if (now.empty()) return "";
  return now + (now.size() == 10 ? "T00:00:00Z" : "Z");
}

// "models/tiny-kjv/" and "models/tiny-kjv.gguf" are both "tiny-kjv".
std::string model_name(const std::string& source) {
  const std::filesystem::path path = std::filesystem::path(source + "/").parent_path();
  return (path.extension() == ".gguf" ? path.stem() : path.filename()).string();
}

int print_bom(const Fingerprint& fingerprint, const FingerprintArguments& a, Session& session) {
  const std::string bom = ml_bom_text({.fingerprint = fingerprint,
                                       .model_name = model_name(a.source),
                                       .timestamp = timestamp_of(a.now)});
  if (a.output.empty()) {
    session.console.json_result(bom);
    return kOk;
  }
  write_file_atomically(a.output, bom);
  session.console.result(session.flags.json ? json_line({{"file", json_text(a.output)},
                                                         {"bytes", bom.size()},
                                                         {"sha256", sha256_hex(bom)},
                                                         {"fingerprint", fingerprint.id}})
                                            : fmt::format("{}: CycloneDX 1.6 of fingerprint {}\n",
                                                          printable(a.output), fingerprint.id));
  session.console.suggest("isobit verify " + shell_word(a.output));
  return kOk;
}

// A fingerprint file, or a model whose fingerprint is computed.
Fingerprint either(const std::string& source, const FingerprintArguments& a) {
  if (std::filesystem::path(source).extension() == ".json") return read_fingerprint(source);
  return fingerprint_of_model(source, a);
}

// Probes are long, and their digests say the same to the eye; --json has them whole.
std::string shortened(const std::string& name, const std::string& value) {
  constexpr size_t kShown = 60;
  if (!name.starts_with("probe.") || value.size() <= kShown) return value;
  return value.substr(0, kShown) + fmt::format("... ({} characters)", value.size());
}

std::string listing(const Fingerprint& f) {
  std::string out = fmt::format("fingerprint {}\n", f.id);
  const char* section = "";
  for (const FingerprintItem& item : f.items) {
    if (section != std::string_view(name(item.item_class)))
      out += fmt::format("\n{}\n", section = name(item.item_class));
    const std::string value =
        item.source == FingerprintSource::kUnknown ? "unknown: " + item.reason : item.value;
    constexpr size_t kValueColumn = 35;
    out += fmt::format("  {:<32} {}", printable(item.name),
                       wrapped_words(printable(shortened(item.name, value)), kValueColumn));
  }
  return out;
}

std::string value_text(const std::optional<FingerprintItem>& item) {
  if (!item) return "absent";
  return item->source == FingerprintSource::kUnknown ? "unknown (" + item->reason + ")"
                                                     : item->value;
}

Json change_json(const FingerprintItemChange& c) {
  return {{"class", name(c.item_class)},
          {"name", c.name},
          {"change", name(c.kind)},
          {"role", name(c.role)},
          {"before", c.before ? Json(c.before->value) : Json()},
          {"after", c.after ? Json(c.after->value) : Json()},
          {"effect", c.effect}};
}

void print_changes(const std::vector<FingerprintItemChange>& changes, const TextComparison& text,
                   Session& session) {
  if (session.flags.json) {
    Json out = Json::array();
    for (const auto& c : changes) out.push_back(change_json(c));
    session.console.result(
        json_line({{"same", changes.empty()}, {"text", text_json(text)}, {"changes", out}}));
    return;
  }
  session.console.result(text_words(text));
  if (changes.empty()) session.console.result("the same in every item\n");
  for (const auto& c : changes) {
    if (c.item_class == FingerprintClass::kText && c.name.starts_with("probe."))
      continue;  // said above, at the token where it shows
    session.console.result(fmt::format("{} {}: {}\n  before: {}\n  after:  {}\n  {} item. {}\n",
                                       name(c.item_class), printable(c.name), name(c.kind),
                                       printable(value_text(c.before)),
                                       printable(value_text(c.after)), name(c.role), c.effect));
  }
}

bool has_canonical_root(const Fingerprint& f) {
  return std::any_of(f.items.begin(), f.items.end(),
                     [](const FingerprintItem& i) { return i.name == "weights.canonical_root"; });
}

int verify(FingerprintArguments a, Session& session) {
  const Fingerprint recorded = read_fingerprint(a.recorded);
  a.canonical = has_canonical_root(recorded);
  if (a.now.empty()) a.now = recorded_clock(recorded);
  const Fingerprint now = fingerprint_of_model(a.model, a);
  const Verification v = verify_fingerprint(recorded, now);
  print_changes(v.changes, compare_text(recorded, now), session);
  if (!session.flags.json)
    session.console.result(v.same_everything ? "verified\n"
                           : v.same_identity ? "the same model and text; the surroundings differ\n"
                                             : "another model or text\n");
  return v.same_everything ? kOk : v.same_identity ? kDiverged : kIncomparable;
}

}  // namespace

std::function<int()> declare_fingerprint(CLI::App& app, Session& session) {
  auto a = std::make_shared<FingerprintArguments>();
  app.add_option("SRC", a->source, "Checkpoint folder or .gguf");
  app.add_flag("--canonical", a->canonical,
               "Also the digest that does not depend on the file format (decodes every weight)");
  app.add_option("--kernel-set", a->kernel_set, "Kernel set to record (default: cpu)");
  app.add_option("--isa", a->isa, "Instruction set to record (default: best)");
  CLI::Option* bom =
      app.add_flag("--cyclonedx", a->cyclonedx, "As a CycloneDX 1.6 bill of materials (ML-BOM)");
  app.add_option("-o,--output", a->output, "With --cyclonedx: file to write")->needs(bom);
  CLI::App* diff_app = app.add_subcommand(
      "diff", "What differs between two, and what that can affect; exit 1 when anything does");
  diff_app->add_option("A", a->before, "Fingerprint file (.json), checkpoint folder or .gguf")
      ->required();
  diff_app->add_option("B", a->after, "The other one")->required();
  CLI::App* verify_app = app.add_subcommand(
      "verify",
      "Recomputes and compares: exit 0 the same, 1 surroundings differ, 6 another model or text");
  verify_app->add_option("FILE", a->recorded, "Fingerprint file that was written with --json")
      ->required();
  verify_app->add_option("SRC", a->model, "Checkpoint folder or .gguf")->required();
  for (CLI::App* sub : {diff_app, verify_app}) sub->fallthrough();
  diff_app->footer("Example:\n  isobit fingerprint diff before.json after.json");
  verify_app->footer("Example:\n  isobit fingerprint verify before.json examples/tiny-kjv");
  return [=, &session] {
    a->now = session.flags.now;
    if (diff_app->parsed()) {
      const Fingerprint before = either(a->before, *a), after = either(a->after, *a);
      const auto changes = diff_fingerprints(before, after);
      print_changes(changes, compare_text(before, after), session);
      return changes.empty() ? kOk : kDiverged;
    }
    if (verify_app->parsed()) return static_cast<ExitCode>(verify(*a, session));
    if (a->source.empty())
      throw Error(
          ErrorCode::usage, "SRC is missing",
          "isobit fingerprint MODEL, or fingerprint diff A B, or fingerprint verify FILE SRC");
    const Fingerprint f = fingerprint_of_model(a->source, *a);
    if (a->cyclonedx) return static_cast<ExitCode>(print_bom(f, *a, session));
    session.console.result(session.flags.json ? fingerprint_json(f) + "\n" : listing(f));
    if (const std::string now = recorded_clock(f); !now.empty())
      session.console.say(clock_notice(now));
    session.console.suggest(fmt::format("isobit run {} --axis load.concurrency=1,8 --check 2{}",
                                        shell_word(a->source), store_option(session.flags)));
    return kOk;
  };
}

}  // namespace isobit::app
