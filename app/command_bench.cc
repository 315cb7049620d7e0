// `isobit bench`: tokens per second of prefill and decode by concurrency and kernel set.
//
// Prefill is timed from admission to the last first token of all sequences (one step), decode from
// there to the end. Kernel sets take turns within each round, so that their ratio survives a
// machine whose speed drifts.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/word_lists.h"
#include "base/json.h"
#include "engine/engine.h"
#include "kernels/registry.h"

namespace isobit::app {
namespace {

struct BenchArguments {
  std::string model;
  int prompt_tokens = 128;
  int gen_tokens = 32;
  std::string concurrency = "1";
  std::string kernel_sets = "cpu";
  std::string isa;
  int threads = 0;
  int rounds = 3;
};

struct Timing {
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;
};

struct Series {
  std::string kernel_set;
  std::string isa;
  int concurrency = 1;
  std::vector<double> prefill, decode;  // one per round
};

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

// Prompts that differ, so that no sharing of work between sequences could flatter the figure.
std::vector<Request> bench_requests(int n, const BenchArguments& arguments, int64_t vocab_size) {
  std::vector<Request> out;
  for (int i = 0; i < n; ++i) {
    Request r;
    r.id = fmt::format("bench-{}", i);
    for (int t = 0; t < arguments.prompt_tokens; ++t)
      r.prompt_token_ids.push_back(
          static_cast<int32_t>((t * 7919LL + i * 104729LL + 17) % vocab_size));
    r.max_tokens = arguments.gen_tokens;
    r.stop.ignore_eos = true;
    r.n_top = 0;
    out.push_back(std::move(r));
  }
  return out;
}

Timing time_once(Engine& engine, const std::vector<Request>& requests,
                 const BenchArguments& arguments) {
  EngineOptions options;
  options.max_batch_requests = static_cast<int64_t>(requests.size());
  options.limits.max_batch_tokens =
      static_cast<int64_t>(requests.size()) * (arguments.prompt_tokens + 1);
  double prefill_ms = 0, total_ms = 0;
  engine.run(requests, options, [&](size_t, const Trace& t) {
    prefill_ms = std::max(prefill_ms, t.ttft_ms);
    total_ms = std::max(total_ms, t.total_ms);
  });
  const auto n = static_cast<double>(requests.size());
  return {.prefill_tokens_per_s = n * arguments.prompt_tokens / prefill_ms * 1e3,
          .decode_tokens_per_s = n * (arguments.gen_tokens - 1) / (total_ms - prefill_ms) * 1e3};
}

struct Arm {
  const KernelSet& kernels;
  Model model;
  Engine engine;
  Arm(const KernelSet& kernels, const LoadedModel& loaded, ThreadPool& pool)
      : kernels(kernels),
        model(*loaded.checkpoint, kernels, pool),
        engine(model, loaded.token_bytes, pool) {}
};

std::vector<Series> measure(const BenchArguments& arguments, const LoadedModel& loaded,
                            Console& console) {
  ThreadPool pool(arguments.threads);
  std::vector<std::unique_ptr<Arm>> arms;
  for (const std::string& name : split_words(arguments.kernel_sets)) {
    arms.push_back(
        std::make_unique<Arm>(kernel_set(name, name == "cpu" ? arguments.isa : ""), loaded, pool));
  }
  std::vector<Series> all;
  for (const int concurrency : positive_numbers("--concurrency", arguments.concurrency)) {
    const auto requests =
        bench_requests(concurrency, arguments, loaded.checkpoint->config().vocab_size);
    const size_t first = all.size();
    for (const auto& arm : arms)
      all.push_back({.kernel_set = arm->kernels.name,
                     .isa = arm->kernels.isa,
                     .concurrency = concurrency,
                     .prefill = {},
                     .decode = {}});
    for (int round = -1; round < arguments.rounds; ++round) {  // round -1 warms up
      for (size_t a = 0; a < arms.size(); ++a) {
        const Timing t = time_once(arms[a]->engine, requests, arguments);
        if (round < 0) continue;
        all[first + a].prefill.push_back(t.prefill_tokens_per_s);
        all[first + a].decode.push_back(t.decode_tokens_per_s);
      }
      console.detail(fmt::format("concurrency {}, round {} done", concurrency, round + 1));
    }
  }
  return all;
}

Json to_json(const std::vector<Series>& all, const BenchArguments& arguments) {
  Json results = Json::array();
  for (const Series& s : all) {
    const auto [p_min, p_max] = std::minmax_element(s.prefill.begin(), s.prefill.end());
    const auto [d_min, d_max] = std::minmax_element(s.decode.begin(), s.decode.end());
    results.push_back({{"kernel_set", s.kernel_set},
                       {"isa", s.isa},
                       {"concurrency", s.concurrency},
                       {"threads", arguments.threads},
                       {"prompt_tokens", arguments.prompt_tokens},
                       {"gen_tokens", arguments.gen_tokens},
                       {"rounds", arguments.rounds},
                       {"prefill_tokens_per_s", median(s.prefill)},
                       {"decode_tokens_per_s", median(s.decode)},
                       {"prefill_tokens_per_s_min", *p_min},
                       {"prefill_tokens_per_s_max", *p_max},
                       {"decode_tokens_per_s_min", *d_min},
                       {"decode_tokens_per_s_max", *d_max}});
  }
  return {{"results", results}};
}

std::string to_table(const std::vector<Series>& all) {
  std::string out = fmt::format("{:<14} {:<9} {:>11} {:>24} {:>24}\n", "kernel set", "isa",
                                "concurrency", "prefill tok/s (min-max)", "decode tok/s (min-max)");
  const auto cell = [](const std::vector<double>& v) {
    return fmt::format("{:.0f} ({:.0f}-{:.0f})", median(v), *std::min_element(v.begin(), v.end()),
                       *std::max_element(v.begin(), v.end()));
  };
  for (const Series& s : all) {
    out += fmt::format("{:<14} {:<9} {:>11} {:>24} {:>24}\n", s.kernel_set, s.isa, s.concurrency,
                       cell(s.prefill), cell(s.decode));
  }
  return out;
}

void check(const BenchArguments& arguments, const LoadedModel& loaded) {
  if (arguments.prompt_tokens < 1 || arguments.rounds < 1)
    throw Error(ErrorCode::usage, "--prompt-tokens and --rounds must be at least 1");
  if (arguments.gen_tokens < 2)
    throw Error(ErrorCode::usage,
                "--gen-tokens must be at least 2: the first token belongs to prefill");
  const int64_t context = loaded.checkpoint->config().max_positions;
  if (arguments.prompt_tokens + arguments.gen_tokens > context) {
    throw Error(ErrorCode::usage,
                fmt::format("{} prompt and {} generated tokens do not fit the context of {}",
                            arguments.prompt_tokens, arguments.gen_tokens, context));
  }
}

}  // namespace

std::function<int()> declare_bench(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<BenchArguments>();
  app.add_option("MODEL", arguments->model, "Checkpoint folder or .gguf")->required();
  app.add_option("--prompt-tokens", arguments->prompt_tokens, "Prompt length");
  app.add_option("--gen-tokens", arguments->gen_tokens, "Tokens generated per sequence");
  app.add_option("--concurrency", arguments->concurrency, "Sequences at once, a list: 1,8,32");
  app.add_option("--kernel-set", arguments->kernel_sets, "Kernel sets, a list: cpu,cpu-adaptive");
  app.add_option("--isa", arguments->isa, "Instruction set of the cpu set: portable, avx2, avx512");
  app.add_option("--threads", arguments->threads, "Threads (default: all cores)");
  app.add_option("--rounds", arguments->rounds, "Rounds per figure; the median is printed");
  return [arguments, &session] {
    if (arguments->threads < 0) throw Error(ErrorCode::usage, "--threads must be at least 1");
    if (arguments->threads == 0) arguments->threads = n_cores();
    const LoadedModel loaded = load_model(arguments->model);
    check(*arguments, loaded);
    const std::vector<Series> all = measure(*arguments, loaded, session.console);
    session.console.result(session.flags.json ? to_json(all, *arguments).dump() + "\n"
                                              : to_table(all));
    return kOk;
  };
}

}  // namespace isobit::app
