// `isobit selftest`: the elementary functions, input by input: are they the published bits, on
// every variant of this machine, and within 1 ulp of the true values?
#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/word_lists.h"
#include "base/file.h"
#include "base/json.h"
#include "kernels/registry.h"
#include "report/report.h"
#include "report/text_table.h"
#include "selftest/elementary_sample.h"
#include "selftest/elementary_sweep.h"

namespace isobit::app {
namespace {

constexpr int kQuickSlice = 0x3F;  // 0.5 to 2.0: the branches of every function

struct SelftestArguments {
  bool exhaustive = false;
  std::string functions, slices, isas, output, against;
  int threads = 0;
};

std::vector<Elementary> functions_from(const std::string& text) {
  if (text.empty()) return {std::begin(kElementaryFunctions), std::end(kElementaryFunctions)};
  std::vector<std::string> known;
  for (const Elementary f : kElementaryFunctions) known.emplace_back(name(f));
  std::vector<Elementary> chosen;
  for (const std::string& word : split_words(text)) {
    const auto it = std::find(known.begin(), known.end(), word);
    if (it == known.end())
      throw Error(ErrorCode::usage,
                  "there is no function '" + word + "'" + did_you_mean(word, known),
                  "the functions are: exp, exp2, log, tanh, erf");
    chosen.push_back(kElementaryFunctions[it - known.begin()]);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

int slice_from(std::string_view word) {
  const bool is_hex = word.starts_with("0x");
  const std::string_view digits = is_hex ? word.substr(2) : word;
  int slice = -1;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, slice, is_hex ? 16 : 10);
  if (error != std::errc() || end != last || slice < 0 || slice >= kSlices)
    throw Error(ErrorCode::usage, fmt::format("--slices: '{}' is not a slice from 0 to 255", word),
                "a slice is the top byte of the input: 63 or 0x3f, a range 0x3f-0x41, or a list");
  return slice;
}

std::vector<int> slices_from(const SelftestArguments& a) {
  std::vector<int> slices;
  const std::string text = a.exhaustive ? "0-255" : a.slices;
  if (text.empty()) return {kQuickSlice};
  for (const std::string& word : split_words(text)) {
    const size_t dash = word.find('-');
    const int first = slice_from(std::string_view(word).substr(0, dash));
    const int last =
        dash == std::string::npos ? first : slice_from(std::string_view(word).substr(dash + 1));
    if (last < first)
      throw Error(ErrorCode::usage, fmt::format("--slices: '{}' ends before it begins", word));
    for (int s = first; s <= last; ++s) slices.push_back(s);
  }
  std::sort(slices.begin(), slices.end());
  slices.erase(std::unique(slices.begin(), slices.end()), slices.end());
  return slices;
}

// The sets that have the functions: `reference` (scalar) and the variants of `cpu`.
std::vector<const KernelSet*> variants_from(const std::string& text) {
  if (text.empty()) return elementary_variants();
  std::vector<const KernelSet*> chosen;
  for (const std::string& word : split_words(text)) {
    const KernelSet* set =
        word == "scalar" ? &kernel_set("reference", word) : &kernel_set("cpu", word);
    if (std::find(chosen.begin(), chosen.end(), set) == chosen.end()) chosen.push_back(set);
  }
  return chosen;
}

struct Finding {
  FunctionSweep sweep;
  PublishedComparison published;

  bool passed() const {
    return published.same() && sweep.errors.n_faults == 0 &&
           std::all_of(sweep.differences.begin(), sweep.differences.end(),
                       [](const auto& d) { return !d.has_value(); });
  }
};

std::string input_text(uint32_t bits) {
  return fmt::format("{:a} (0x{:08X})", std::bit_cast<float>(bits), bits);
}

std::string largest_text(const ErrorSummary& e) {
  return e.largest_input ? fmt::format("{:.4f}", e.largest_ulp) : "0.5 or less";
}

std::string published_text(const Finding& f) {
  const size_t n = f.sweep.slices.size(), n_same = n - f.published.differing_slices.size();
  return fmt::format("{} of {}{}", n_same, n, f.published.same_sample ? "" : ", not the sample");
}

std::string table(const std::vector<Finding>& findings) {
  std::vector<std::vector<std::string>> rows;
  for (const Finding& f : findings) {
    const ErrorSummary& e = f.sweep.errors;
    rows.push_back({name(f.sweep.function), std::to_string(f.sweep.n_inputs()), largest_text(e),
                    e.largest_input ? input_text(*e.largest_input) : "", std::to_string(e.n_faults),
                    published_text(f)});
  }
  return text_table({{"function", Align::kLeft},
                     {"inputs", Align::kRight},
                     {"largest ulp", Align::kRight},
                     {"at", Align::kLeft},
                     {"faults", Align::kRight},
                     {"published slices", Align::kLeft}},
                    rows);
}

std::string fault_text(const FunctionSweep& s) {
  const ElementaryFault& f = *s.errors.first_fault;
  return fmt::format(
      "FAULT: {} is wrong for {} inputs; first {}: found 0x{:08X}, expected {:a}{}\n",
      name(s.function), s.errors.n_faults, input_text(f.input), f.found, f.expected,
      std::isinf(f.error_ulp) ? " exactly" : fmt::format(", {:.4f} ulp away", f.error_ulp));
}

std::string difference_text(const FunctionSweep& s, const KernelSet& base, const KernelSet& set,
                            const VariantDifference& d) {
  return fmt::format(
      "DIFFERENT: {} of {} has other bits than {} for {} inputs; first {}: 0x{:08X}, expected "
      "0x{:08X}\n",
      name(s.function), set.isa, base.isa, d.n_inputs, input_text(d.first_input), d.found,
      d.expected);
}

std::string details(const std::vector<Finding>& findings,
                    const std::vector<const KernelSet*>& variants) {
  std::string out, isas;
  for (const KernelSet* set : variants) isas += (isas.empty() ? "" : ", ") + set->isa;
  for (const Finding& f : findings) {
    if (const auto total = f.sweep.total())
      out += fmt::format("{:<5} {}\n", name(f.sweep.function), hex(*total));
    if (f.sweep.errors.first_fault) out += fault_text(f.sweep);
    for (size_t v = 0; v < variants.size(); ++v) {
      if (f.sweep.differences[v])
        out += difference_text(f.sweep, *variants[0], *variants[v], *f.sweep.differences[v]);
    }
    for (const int slice : f.published.differing_slices)
      out += fmt::format("DIFFERENT: {}, slice {:02x}: the digest is {}, not the published one\n",
                         name(f.sweep.function), slice, hex(f.sweep.slices.at(slice)));
    if (!f.published.same_sample)
      out += fmt::format("DIFFERENT: {}, sample: the digest is {}, not the published one\n",
                         name(f.sweep.function), hex(f.sweep.sample));
  }
  return out + "variants: " + isas + "\n";
}

Json function_json(const Finding& f, const std::vector<const KernelSet*>& variants) {
  const FunctionSweep& s = f.sweep;
  const auto total = s.total();
  Json slices = Json::object(), sets = Json::array();
  for (const auto& [slice, digest] : s.slices) slices[fmt::format("{:02x}", slice)] = hex(digest);
  for (size_t v = 0; v < variants.size(); ++v) {
    const auto& d = s.differences[v];
    sets.push_back({{"isa", variants[v]->isa},
                    {"same_bits", !d},
                    {"total", total && !d ? Json(hex(*total)) : Json()},
                    {"different_inputs", d ? d->n_inputs : 0},
                    {"first_different_input", d ? Json(d->first_input) : Json()}});
  }
  const ErrorSummary& e = s.errors;
  return {{"function", name(s.function)},
          {"inputs", s.n_inputs()},
          {"largest_ulp", e.largest_ulp},
          {"largest_input", e.largest_input ? Json(*e.largest_input) : Json()},
          {"faults", e.n_faults},
          {"first_fault_input", e.first_fault ? Json(e.first_fault->input) : Json()},
          {"total", total ? Json(hex(*total)) : Json()},
          {"sample", hex(s.sample)},
          {"slices", slices},
          {"differing_slices", f.published.differing_slices},
          {"same_as_published", f.published.same()},
          {"variants", sets}};
}

void write_digests(const std::string& path, const std::vector<FunctionSweep>& sweeps) {
  ElementaryDigests all;
  for (const FunctionSweep& s : sweeps) {
    FunctionDigests& d = all[static_cast<size_t>(s.function)];
    d.sample = s.sample;
    for (const auto& [slice, digest] : s.slices) d.slices[static_cast<size_t>(slice)] = digest;
  }
  write_file_atomically(path, digests_text(all));
}

// Says how far it is, at most every two seconds.
class Progress {
 public:
  explicit Progress(Console& console) : console_(console) {}

  void finished(int done, int of) {
    const double s = seconds();
    if (s - last_s_ < 2 && done < of) return;
    last_s_ = s;
    console_.progress_of(done, of, fmt::format("slices  {:.0f} s", s));
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  Console& console_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_s_ = 0;
};

int selftest(const SelftestArguments& a, Session& session) {
  const SweepPlan plan{functions_from(a.functions), slices_from(a), variants_from(a.isas)};
  if (!a.output.empty() && (!a.exhaustive || !a.functions.empty()))
    throw Error(ErrorCode::usage, "-o needs --exhaustive and every function",
                "the digests of chosen slices are in --json");
  const std::optional<ElementaryDigests> other =
      a.against.empty() ? std::nullopt
                        : std::optional(digests_from_text(read_file(a.against), a.against));
  ThreadPool pool(a.threads > 0 ? a.threads : n_cores());
  Progress progress(session.console);
  std::vector<FunctionSweep> sweeps =
      sweep_elementary(plan, pool, [&](int done, int of) { progress.finished(done, of); });
  if (!a.output.empty()) write_digests(a.output, sweeps);

  const ElementaryDigests& published = other ? *other : published_digests();
  std::vector<Finding> findings;
  for (FunctionSweep& s : sweeps) {
    PublishedComparison comparison = compare_with_published(s, digests_of(published, s.function));
    findings.push_back({std::move(s), std::move(comparison)});
  }
  const bool passed =
      std::all_of(findings.begin(), findings.end(), [](const Finding& f) { return f.passed(); });
  if (session.flags.json) {
    Json functions = Json::array();
    for (const Finding& f : findings) functions.push_back(function_json(f, plan.variants));
    session.console.result(
        json_line({{"passed", passed}, {"seconds", progress.seconds()}, {"functions", functions}}));
  } else {
    session.console.verdict(
        table(findings) + details(findings, plan.variants) +
        fmt::format("{}{} in {:.1f} s\n", passed ? "PASS" : "FAIL",
                    a.exhaustive ? "" : fmt::format(" for {} of 256 slices", plan.slices.size()),
                    progress.seconds()));
    if (!a.exhaustive) session.console.suggest("isobit selftest --exhaustive");
  }
  return passed ? kOk : kDiverged;
}

}  // namespace

std::function<int()> declare_selftest(CLI::App& app, Session& session) {
  auto a = std::make_shared<SelftestArguments>();
  CLI::Option* exhaustive =
      app.add_flag("--exhaustive", a->exhaustive, "All 2^32 inputs of every function (minutes)");
  app.add_option("--function", a->functions, "exp, exp2, log, tanh, erf, a list (default: all)")
      ->check(not_empty);
  app.add_option("--slices", a->slices,
                 "Top bytes of the inputs: 0x3f,0x80-0xff (default: 0x3f, inputs from 0.5 to 2)")
      ->check(not_empty)
      ->excludes(exhaustive);
  app.add_option("--isa", a->isas,
                 "scalar, portable, neon, avx2, avx512, a list (default: all that run here)")
      ->check(not_empty);
  app.add_option("--threads", a->threads, "Threads (default: all cores)")
      ->check(CLI::Range(1, kMostThreads));
  app.add_option("--against", a->against, "Compare with this file of digests, not this build's");
  app.add_option("-o,--output", a->output, "Write the digests, as docs/elementary-digests.txt");
  return [a, &session] { return selftest(*a, session); };
}

}  // namespace isobit::app
