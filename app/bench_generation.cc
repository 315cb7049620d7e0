#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "app/bench.h"
#include "app/bench_roofs.h"
#include "base/error.h"
#include "engine/engine.h"
#include "kernels/registry.h"

namespace isobit::app {
namespace {

struct Timing {
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;
};

// Prefill is timed from admission to the last first token of all sequences (one step), decode from
// there to the end.
Timing time_once(Engine& engine, const std::vector<Request>& requests) {
  const auto n = static_cast<double>(requests.size());
  const auto prompt_tokens = static_cast<double>(requests[0].prompt_token_ids.size());
  EngineOptions options;
  options.max_batch_requests = static_cast<int64_t>(requests.size());
  options.limits.max_batch_tokens =
      options.max_batch_requests * static_cast<int64_t>(requests[0].prompt_token_ids.size() + 1);
  double prefill_ms = 0, total_ms = 0;
  engine.run(requests, options, [&](size_t, const Trace& t) {
    prefill_ms = std::max(prefill_ms, t.ttft_ms);
    total_ms = std::max(total_ms, t.total_ms);
  });
  return {.prefill_tokens_per_s = n * prompt_tokens / prefill_ms * 1e3,
          .decode_tokens_per_s = n * (requests[0].max_tokens - 1) / (total_ms - prefill_ms) * 1e3};
}

// Multiplications and additions that prefill of n prompts of this length cannot do without: the
// matrices of every layer for each token, the head for the last one, attention to what came before.
double prefill_flops(const ModelConfig& c, double n, double prompt_tokens) {
  const auto heads = static_cast<double>(c.n_heads * c.head_dim);
  const auto kv_heads = static_cast<double>(c.n_kv_heads * c.head_dim);
  const auto hidden = static_cast<double>(c.hidden_size);
  double flops = 2 * hidden * static_cast<double>(c.vocab_size);
  for (int64_t i = 0; i < c.n_layers; ++i) {
    const LayerConfig layer = c.layer(i);
    const auto mlp = static_cast<double>(layer.has_experts ? c.experts.top_k * c.experts.width
                                                           : c.intermediate_size);
    const double weights = hidden * (2 * heads + 2 * kv_heads + 3 * mlp);
    const double window = layer.window > 0
                              ? std::min(prompt_tokens, static_cast<double>(layer.window))
                              : prompt_tokens;
    const double positions = window * (window + 1) / 2 + (prompt_tokens - window) * window;
    flops += 2 * weights * prompt_tokens + 4 * heads * positions;
  }
  return n * flops;
}

// The runners of one thread count: a model per kernel set, packed once, and an engine over it.
struct Arm {
  const KernelSet& kernels;
  Model model;
  Engine engine;
  Arm(const KernelSet& kernels, const LoadedModel& loaded, ThreadPool& pool)
      : kernels(kernels),
        model(*loaded.checkpoint, kernels, pool),
        engine(model, loaded.token_bytes, pool) {}
};

class Round {
 public:
  Round(const BenchArguments& arguments, const LoadedModel& loaded, int threads,
        std::vector<BenchSeries>& out)
      : arguments_(arguments), loaded_(loaded), threads_(threads), pool_(threads), out_(out) {
    for (const std::string& name : arguments.kernel_sets) {
      arms_.push_back(std::make_unique<Arm>(kernel_set(name, name == "cpu" ? arguments.isa : ""),
                                            loaded, pool_));
    }
  }

  // Every runner once, at every concurrency; the peer first in every second round.
  void run(int prompt_tokens, int round) {
    const bool keep = round >= 0;  // a negative round warms up
    if (round % 2 == 1) run_peer(prompt_tokens, keep);
    for (const int concurrency : arguments_.concurrency) {
      const auto requests = bench_requests(concurrency, prompt_tokens, arguments_.gen_tokens,
                                           loaded_.checkpoint->config().vocab_size);
      for (size_t i = 0; i < arms_.size(); ++i) {
        Arm& arm = *arms_[round % 2 == 1 ? arms_.size() - 1 - i : i];
        const Timing t = time_once(arm.engine, requests);
        if (!keep) continue;
        BenchSeries& series = add(point(prompt_tokens, concurrency), arm.kernels.name,
                                  arm.kernels.isa, t.prefill_tokens_per_s, t.decode_tokens_per_s);
        if (arm.kernels.name == "cpu")
          series.share_of_fma.push_back(share_of_fma(arm, t, concurrency, prompt_tokens));
      }
    }
    if (round % 2 != 1) run_peer(prompt_tokens, keep);
  }

 private:
  BenchPoint point(int prompt_tokens, int concurrency) const {
    return {.model = loaded_.source,
            .weights = weights_name(*loaded_.checkpoint),
            .threads = threads_,
            .prompt_tokens = prompt_tokens,
            .concurrency = concurrency};
  }

  void run_peer(int prompt_tokens, bool keep) {
    if (arguments_.llama_folder.empty() || !keep) return;  // it warms up by itself
    const std::string& model =
        arguments_.llama_model.empty() ? loaded_.source : arguments_.llama_model;
    for (const PeerRates& r : run_llama_bench(arguments_, model, threads_, prompt_tokens))
      add(point(prompt_tokens, r.concurrency), "llama.cpp", "", r.prefill, r.decode);
  }

  double share_of_fma(const Arm& arm, const Timing& t, int concurrency, int prompt_tokens) {
    const double flops = prefill_flops(loaded_.checkpoint->config(), concurrency, prompt_tokens);
    const double s = static_cast<double>(concurrency) * prompt_tokens / t.prefill_tokens_per_s;
    return flops / s * 1e-9 / Roofs(cpu_roofs(arm.kernels.isa), pool_).gflops();
  }

  BenchSeries& add(const BenchPoint& at, const std::string& runner, const std::string& isa,
                   double prefill, double decode) {
    auto it = std::find_if(out_.begin(), out_.end(), [&](const BenchSeries& s) {
      return s.point == at && s.runner == runner;
    });
    if (it == out_.end()) {
      out_.push_back({.point = at,
                      .runner = runner,
                      .isa = isa,
                      .prefill = {},
                      .decode = {},
                      .share_of_fma = {}});
      it = out_.end() - 1;
    }
    it->prefill.push_back(prefill);
    it->decode.push_back(decode);
    return *it;
  }

  const BenchArguments& arguments_;
  const LoadedModel& loaded_;
  const int threads_;
  ThreadPool pool_;
  std::vector<std::unique_ptr<Arm>> arms_;
  std::vector<BenchSeries>& out_;
};

}  // namespace

double median(std::vector<double> v) {
  ISOBIT_REQUIRE(!v.empty());
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

std::vector<Request> bench_requests(int n, int prompt_tokens, int gen_tokens, int64_t vocab_size) {
  std::vector<Request> out;
  for (int i = 0; i < n; ++i) {
    Request r;
    r.id = fmt::format("bench-{}", i);
    for (int t = 0; t < prompt_tokens; ++t)
      r.prompt_token_ids.push_back(
          static_cast<int32_t>((t * 7919LL + i * 104729LL + 17) % vocab_size));
    r.max_tokens = gen_tokens;
    r.stop.ignore_eos = true;
    r.n_top = 0;
    out.push_back(std::move(r));
  }
  return out;
}

std::string weights_name(const Checkpoint& checkpoint) {
  std::map<DType, size_t> bytes;
  for (const auto& [name, tensor] : checkpoint.tensors())
    bytes[tensor.dtype] += tensor.bytes.size();
  const auto most = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? "" : std::string(name(most->first));
}

void bench_generation(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                      std::vector<BenchSeries>& out) {
  for (const int threads : arguments.threads) {
    Round rounds(arguments, loaded, threads, out);
    for (const int prompt_tokens : arguments.prompt_tokens) {
      for (int round = -1; round < arguments.rounds; ++round) {
        rounds.run(prompt_tokens, round);
        if (round < 0) continue;
        console.progress_of(round + 1, arguments.rounds,
                            fmt::format("rounds  {}, prompt {}, threads {}",
                                        printable(loaded.source), prompt_tokens, threads));
      }
    }
  }
}

}  // namespace isobit::app
