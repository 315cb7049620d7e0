#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/bench.h"
#include "app/interruption.h"
#include "base/error.h"
#include "engine/engine.h"
#include "kernels/registry.h"
#include "matrix/plan_file.h"
#include "matrix/runner.h"
#include "store/store.h"
#include "targets/builtin_target.h"

namespace isobit::app {
namespace {

constexpr int kRecordedAlternatives = 20;
constexpr char kNothingKept[] = "a benchmark keeps nothing: start it again";

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    std::string name = (parent / "isobit-bench-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorCode::environment,
                  "cannot create a temporary folder for the store of --recording",
                  "TMPDIR names the folder that it goes into");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // what is left in the temporary folder is the system's to clear
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// One cell of `concurrency` requests, as `isobit run` records it.
class Recorded {
 public:
  Recorded(const BenchPoint& point, const BenchArguments& arguments, const LoadedModel& loaded)
      : loaded_(loaded),
        target_(*loaded.checkpoint, loaded.token_bytes,
                {.isa = arguments.isa, .n_threads = point.threads}) {
    requests_ = bench_requests(point.concurrency, point.prompt_tokens, arguments.gen_tokens,
                               loaded.checkpoint->config().vocab_size);
    for (Request& r : requests_) r.n_top = kRecordedAlternatives;
    PlanSpec spec;
    const std::string concurrency[] = {fmt::format("load.concurrency={}", point.concurrency)};
    apply_axis_flags(spec, {}, concurrency);
    plan_ = make_plan(spec);
  }

  double run_ms() {
    const TemporaryFolder folder;
    Store store = Store::open(folder.path() / "bench.db", StoreMode::kRecord);
    RunRecord header;
    header.id = "bench";
    header.status = "running";
    header.plan_json = canonical_json(plan_to_json(plan_));
    header.requests = requests_;
    header.prompt_texts.resize(requests_.size());
    header.cells = plan_.cells;
    store.create_run(header);
    RunOptions options;
    options.requests = requests_;
    options.limits = {
        .context_tokens = static_cast<int32_t>(loaded_.checkpoint->config().max_positions),
        .max_concurrency = static_cast<int32_t>(requests_.size())};
    options.now_ms = now_ms;
    options.stop = &interrupted();
    options.neighbour_tokens = [](int32_t, uint64_t) { return std::vector<int32_t>(); };
    const auto sink = store.recorder(header.id);
    const double start = now_ms();
    if (run_plan(plan_, target_, *sink, options).interrupted) throw_interruption(kNothingKept);
    return now_ms() - start;
  }

 private:
  const LoadedModel& loaded_;
  BuiltinTarget target_;
  std::vector<Request> requests_;
  Plan plan_;
};

class Alone {
 public:
  Alone(const BenchPoint& point, const BenchArguments& arguments, const LoadedModel& loaded)
      : pool_(point.threads),
        model_(*loaded.checkpoint, kernel_set("cpu", arguments.isa), pool_),
        engine_(model_, loaded.token_bytes, pool_),
        requests_(bench_requests(point.concurrency, point.prompt_tokens, arguments.gen_tokens,
                                 loaded.checkpoint->config().vocab_size)) {
    options_.max_batch_requests = point.concurrency;
    options_.hash_logits = false;
  }

  double run_ms() {
    const double start = now_ms();
    engine_.run(requests_, options_, [](size_t, const Trace&) {});
    return now_ms() - start;
  }

 private:
  ThreadPool pool_;
  Model model_;
  Engine engine_;
  std::vector<Request> requests_;
  EngineOptions options_;
};

}  // namespace

void bench_recording(const BenchArguments& arguments, const LoadedModel& loaded, Console& console,
                     std::vector<RecordingCost>& out) {
  watch_for_interruption();  // a signal must not leave the store behind
  int64_t n_done = 0;
  for (const int concurrency : arguments.concurrency) {
    const BenchPoint point{.model = loaded.source,
                           .weights = weights_name(*loaded.checkpoint),
                           .threads = arguments.threads.back(),
                           .prompt_tokens = arguments.prompt_tokens.front(),
                           .concurrency = concurrency};
    Alone alone(point, arguments, loaded);
    Recorded recorded(point, arguments, loaded);
    alone.run_ms();
    recorded.run_ms();  // both warm
    RecordingCost cost{.point = point, .cost = {}};
    for (int round = 0; round < arguments.rounds; ++round) {
      if (interrupted()) throw_interruption(kNothingKept);
      double with = 0, without = 0;
      if (round % 2)
        with = recorded.run_ms(), without = alone.run_ms();
      else
        without = alone.run_ms(), with = recorded.run_ms();
      cost.cost.push_back(with / without - 1);
    }
    out.push_back(std::move(cost));
    console.progress_of(
        ++n_done, static_cast<int64_t>(arguments.concurrency.size()),
        fmt::format("recordings  {}, concurrency {}", printable(loaded.source), concurrency));
  }
}

}  // namespace isobit::app
