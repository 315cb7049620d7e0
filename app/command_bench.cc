// `isobit bench`: what speed the engine reaches here, and what its invariance costs.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/audit.h"
#include "app/bench.h"
#include "app/bench_distinct.h"
#include "app/bench_template.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/word_lists.h"
#include "base/error.h"
#include "base/json.h"
#include "kernels/registry.h"
#include "report/report.h"

namespace isobit::app {
namespace {

struct BenchFlags {
  BenchArguments arguments;
  std::string prompt_tokens = "128", concurrency = "1", kernel_sets, threads, llama_flags;
  bool kernels = false, recording = false, chat_template = false;
  DistinctArguments distinct;
};

// cpu and, where it can run, cpu-adaptive: the pair whose ratio is the price of invariance.
std::vector<std::string> default_sets(Console& console) {
  std::vector<std::string> out{"cpu"};
  for (const KernelSetStatus& s : list_kernel_sets()) {
    if (s.name != "cpu-adaptive") continue;
    if (s.available)
      out.push_back(s.name);
    else
      console.warn(
          fmt::format("cpu-adaptive cannot run here ({}): the price of invariance "
                      "against it is not measured",
                      s.reason));
  }
  return out;
}

template <class T>
void require_distinct(const char* flag, const std::vector<T>& values) {
  if (std::set<T>(values.begin(), values.end()).size() != values.size())
    throw Error(ErrorCode::usage, fmt::format("{}: the same value twice", flag));
}

BenchArguments checked(BenchFlags flags, Console& console) {
  BenchArguments a = std::move(flags.arguments);
  a.prompt_tokens = positive_numbers("--prompt-tokens", flags.prompt_tokens);
  a.concurrency = positive_numbers("--concurrency", flags.concurrency);
  a.threads = flags.threads.empty() ? std::vector<int>{n_cores()}
                                    : positive_numbers("--threads", flags.threads);
  if (a.rounds < 1) throw Error(ErrorCode::usage, "--rounds must be at least 1");
  if (a.gen_tokens < 2)
    throw Error(ErrorCode::usage,
                "--gen-tokens must be at least 2: the first token belongs to prefill");
  const bool alone = flags.kernels || flags.recording;
  if (alone &&
      (flags.kernels == flags.recording || !flags.kernel_sets.empty() || !a.llama_folder.empty()))
    throw Error(ErrorCode::usage,
                "--kernels and --recording measure the cpu set alone: not both, and without "
                "--kernel-set and --llama");
  a.kernel_sets = alone                       ? std::vector<std::string>{"cpu"}
                  : flags.kernel_sets.empty() ? default_sets(console)
                                              : split_words(flags.kernel_sets);
  for (const std::string& set : a.kernel_sets)
    kernel_set(set, set == "cpu" ? a.isa : "");  // refuses before a model is read
  if (!a.isa.empty() &&
      std::find(a.kernel_sets.begin(), a.kernel_sets.end(), "cpu") == a.kernel_sets.end())
    throw Error(ErrorCode::usage,
                "--isa chooses among the variants of the cpu set, which is not in --kernel-set");
  require_distinct("MODEL", a.models);
  require_distinct("--kernel-set", a.kernel_sets);
  require_distinct("--concurrency", a.concurrency);
  require_distinct("--prompt-tokens", a.prompt_tokens);
  require_distinct("--threads", a.threads);
  if (flags.recording && (a.threads.size() > 1 || a.prompt_tokens.size() > 1))
    throw Error(ErrorCode::usage,
                "--recording takes one value of --threads and of --prompt-tokens");
  if (*std::max_element(a.threads.begin(), a.threads.end()) > kMostThreads ||
      *std::max_element(a.concurrency.begin(), a.concurrency.end()) > kMaxConcurrency)
    throw Error(ErrorCode::usage,
                fmt::format("at most {} threads and {} sequences", kMostThreads, kMaxConcurrency));
  if (!a.llama_folder.empty()) require_llama_bench(a.llama_folder);
  if (!flags.llama_flags.empty()) a.llama_flags = split_words(flags.llama_flags, ' ');
  if (a.llama_folder.empty() && (!a.llama_flags.empty() || !a.llama_model.empty()))
    throw Error(ErrorCode::usage, "--llama-flags and --llama-model need --llama");
  warn_of_threads(*std::max_element(a.threads.begin(), a.threads.end()), console);
  return a;
}

void require_context(const BenchArguments& a, const LoadedModel& loaded) {
  const int64_t context = loaded.checkpoint->config().max_positions;
  const int longest = *std::max_element(a.prompt_tokens.begin(), a.prompt_tokens.end());
  if (int64_t{longest} + a.gen_tokens > context) {
    throw Error(ErrorCode::usage,
                fmt::format("{} prompt and {} generated tokens do not fit the context of {}",
                            longest, a.gen_tokens, context));
  }
}

// Figures that one must not lean on.
void warn_of_noise(const BenchResults& results, int rounds, Console& console) {
  if (rounds == 1) return console.warn("one round: how far the figures spread is not known");
  constexpr double kMuch = 0.25;
  double widest = 0;
  for (const BenchSeries& s : results.series) {
    for (const std::vector<double>* rates : {&s.prefill, &s.decode}) {
      const auto [low, high] = std::minmax_element(rates->begin(), rates->end());
      widest = std::max(widest, (*high - *low) / median(*rates));
    }
  }
  if (widest > kMuch)
    console.warn(
        fmt::format("rounds of one figure spread by {:.0f} % of their median: something else runs "
                    "here, or more --rounds are needed",
                    widest * 100));
}

int run_template_bench(const BenchArguments& a, Session& session) {
  std::vector<TemplateTimes> times;
  for (const std::string& source : a.models) {
    const ChatRenderer chat = open_chat(source, now_or_pinned(session.flags.now));
    for (TemplateTimes& row : bench_template(source, chat, a.rounds)) times.push_back(row);
  }
  session.console.result(session.flags.json ? json_line(template_times_json(times))
                                            : template_times_text(times));
  return kOk;
}

// One model, one concurrency: the experiment has one answer to count.
int run_distinct_bench(const BenchFlags& flags, const CLI::App& app, Session& session) {
  BenchArguments a = checked(flags, session.console);
  DistinctArguments d = flags.distinct;
  if (a.models.size() > 1 || a.concurrency.size() > 1 || a.threads.size() > 1)
    throw Error(ErrorCode::usage, "--distinct takes one MODEL, one --concurrency, one --threads");
  if (app.count("--concurrency") > 0) d.concurrency = a.concurrency.front();
  if (app.count("--gen-tokens") > 0) d.gen_tokens = a.gen_tokens;
  d.threads = a.threads.front();
  d.kernel_sets = a.kernel_sets;
  d.isa = a.isa;
  const LoadedModel loaded = load_model(a.models.front(), now_or_pinned(session.flags.now));
  const std::vector<DistinctOutputs> found = bench_distinct(d, loaded, session.console);
  session.console.result(session.flags.json ? json_line(distinct_json(found, d))
                                            : distinct_text(found, d, loaded));
  return kOk;
}

}  // namespace

std::function<int()> declare_bench(CLI::App& app, Session& session) {
  auto flags = std::make_shared<BenchFlags>();
  BenchArguments& a = flags->arguments;
  app.add_option("MODEL", a.models, "Checkpoint folders or .gguf files")->required();
  app.add_option("--prompt-tokens", flags->prompt_tokens,
                 "Prompt length, a list: 128,1024 (default: 128)");
  app.add_option("--gen-tokens", a.gen_tokens, "Tokens generated per sequence (default: 32)");
  app.add_option("--concurrency", flags->concurrency,
                 "Sequences at once, a list: 1,8,32 (default: 1)");
  app.add_option("--kernel-set", flags->kernel_sets,
                 "Kernel sets, a list (default: cpu,cpu-adaptive)")
      ->check(not_empty);
  app.add_option("--isa", a.isa, "Instruction set of the cpu set: portable, avx2, avx512")
      ->check(not_empty);
  app.add_option("--threads", flags->threads, "Threads, a list: 1,2 (default: all cores)")
      ->check(not_empty);
  app.add_option("--rounds", a.rounds, "Rounds per figure; the median is printed (default: 3)");
  app.add_option("--llama", a.llama_folder,
                 "Folder with llama-batched-bench: llama.cpp takes its turn in every round");
  app.add_option("--llama-flags", flags->llama_flags,
                 "More flags for it: --llama-flags=--no-repack");
  app.add_option("--llama-model", a.llama_model, "What it loads instead of MODEL");
  app.add_flag("--kernels", flags->kernels,
               "The matmuls alone, against what fma and reading reach on this machine");
  app.add_flag("--recording", flags->recording,
               "What recording everything costs beside generation alone");
  CLI::Option* chat_template = app.add_flag("--template", flags->chat_template,
                                            "The chat template alone: how long it takes to render");
  CLI::Option* distinct =
      app.add_option("--distinct", flags->distinct.n_completions,
                     "Ask one prompt so many times under load; count the different answers")
          ->check(CLI::Range(2, 1000000));
  app.add_option("--prompt", flags->distinct.prompt, "With --distinct: what is asked")
      ->check(not_empty)
      ->needs(distinct);
  app.add_option("--seed", flags->distinct.seed, "With --distinct: of the moments of arrival")
      ->needs(distinct);
  for (const char* flag :
       {"--kernels", "--recording", "--llama", "--rounds", "--prompt-tokens", "--template"})
    distinct->excludes(app.get_option(flag));
  for (const char* flag : {"--kernels", "--recording", "--kernel-set", "--isa", "--threads",
                           "--concurrency", "--prompt-tokens", "--gen-tokens", "--llama"})
    chat_template->excludes(app.get_option(flag));
  return [flags, &app, &session] {
    if (flags->distinct.n_completions > 0)
      return static_cast<ExitCode>(run_distinct_bench(*flags, app, session));
    if (flags->chat_template) {
      if (flags->arguments.rounds < 1) throw Error(ErrorCode::usage, "--rounds must be at least 1");
      return static_cast<ExitCode>(run_template_bench(flags->arguments, session));
    }
    const BenchArguments arguments = checked(*flags, session.console);
    BenchResults results;
    for (const std::string& source : arguments.models) {
      const LoadedModel loaded = load_model(source);
      require_context(arguments, loaded);
      if (flags->kernels) bench_kernels(arguments, loaded, session.console, results);
      if (flags->recording) bench_recording(arguments, loaded, session.console, results.recording);
      if (!flags->kernels && !flags->recording)
        bench_generation(arguments, loaded, session.console, results.series);
    }
    session.console.result(session.flags.json ? json_line(bench_json(results, arguments))
                                              : bench_text(results, arguments));
    warn_of_noise(results, arguments.rounds, session.console);
    return kOk;
  };
}

}  // namespace isobit::app
