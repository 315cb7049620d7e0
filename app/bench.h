// `isobit bench` in parts: generation by the engine's kernel sets and by llama.cpp
// (bench_generation, bench_llama), one operator at a time against the machine's roofs
// (bench_kernels), what recording costs (bench_recording), and how all of it is shown
// (bench_results).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/loaded_model.h"
#include "base/json.h"
#include "record/request.h"

namespace isobit::app {

struct BenchArguments {
  std::vector<std::string> models;
  std::vector<int> prompt_tokens{128};
  std::vector<int> concurrency{1};
  std::vector<int> threads;
  int gen_tokens = 32;
  int rounds = 3;
  std::vector<std::string> kernel_sets;
  std::string isa;           // of the cpu set; empty: the best
  std::string llama_folder;  // with llama-batched-bench; empty: no peer
  std::vector<std::string> llama_flags;
  std::string llama_model;  // what llama.cpp loads instead of the model
};

// Where a figure was taken.
struct BenchPoint {
  std::string model;
  std::string weights;  // the dtype of most of the weights' bytes
  int threads = 1;
  int prompt_tokens = 0;
  int concurrency = 1;

  bool operator==(const BenchPoint&) const = default;
};

// Tokens per second of one runner at one point, one value per round.
struct BenchSeries {
  BenchPoint point;
  std::string runner;  // "cpu", "cpu-adaptive", "llama.cpp"
  std::string isa;     // empty for llama.cpp
  std::vector<double> prefill, decode;
  // Of prefill, the floating-point operations that it needs per second, as a share of what a loop
  // of fmas reached right after it. Only of the set cpu.
  std::vector<double> share_of_fma;
};

// What one operator reaches, as a share of the roof that was measured beside it.
struct KernelRate {
  std::string model, matrix, isa;  // matrix: "qkv", "o", "gate_up", "down", "head"
  int threads = 1;
  int64_t n_rows = 0;
  double gflops = 0, weights_gbytes_per_s = 0;  // medians
  double share_of_fma = 0, share_of_read = 0;   // medians of each round's ratio
};

// The roofs themselves: medians over the rounds.
struct RoofRate {
  std::string isa;
  int threads = 1;
  double gflops = 0;
  double gbytes_per_s = 0;  // reading a buffer of `read_bytes`
  int64_t read_bytes = 0;
};

struct RecordingCost {
  BenchPoint point;
  std::vector<double> cost;  // seconds with everything recorded / seconds alone - 1, one per round
};

struct BenchResults {
  std::vector<BenchSeries> series;
  std::vector<RoofRate> roofs;
  std::vector<KernelRate> kernels;
  std::vector<RecordingCost> recording;
};

double median(std::vector<double> values);

// `n` requests of `prompt_tokens` tokens each that differ from one another, so that no sharing of
// work between sequences could flatter a figure. They ignore end-of-sequence tokens.
std::vector<Request> bench_requests(int n, int prompt_tokens, int gen_tokens, int64_t vocab_size);

std::string weights_name(const Checkpoint& checkpoint);

// Appends one series per runner and point. Runners take turns within each round, and begin it in
// turn, so that their ratio survives a machine whose speed drifts.
void bench_generation(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                      std::vector<BenchSeries>& out);

// Throws Error(environment) when llama-batched-bench is not in the folder.
void require_llama_bench(const std::string& folder);

// One process of llama-batched-bench: (prefill, decode) tokens per second for each concurrency.
struct PeerRates {
  int concurrency = 1;
  double prefill = 0, decode = 0;
};
// Throws Error(environment) when the program is missing, fails, or does not print those figures.
std::vector<PeerRates> run_llama_bench(const BenchArguments& arguments, const std::string& model,
                                       int threads, int prompt_tokens);

// The model's own matrices, each over all layers in turn so that weights come from where a step
// finds them, at several numbers of rows.
void bench_kernels(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                   BenchResults& out);

// Generation alone against the same generation with top-20, margins, hashes and a store.
void bench_recording(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                     std::vector<RecordingCost>& out);

Json bench_json(const BenchResults& results, const BenchArguments& arguments);
std::string bench_text(const BenchResults& results, const BenchArguments& arguments);

}  // namespace isobit::app
