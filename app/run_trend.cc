#include "app/run_trend.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "compare/run_comparison.h"
#include "store/store.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxRuns = 12;
constexpr int64_t kMaxSamples = 50'000;

TrendPoint point_of(const RunRecord& run) {
  const RunComparison comparison = compare_within_run(run);
  return {.run_id = run.id,
          .created = run.created,
          .label = run.label,
          .token_match = comparison.token_match,
          .bit_match = comparison.bit_match};
}

bool may_belong(const RunSummary& earlier, const RunRecord& run) {
  return earlier.id != run.id && earlier.target == run.target && earlier.status == "complete" &&
         earlier.created <= run.created && earlier.redacted == run.redacted &&
         earlier.n_prompts == static_cast<int64_t>(run.requests.size());
}

std::optional<TrendPoint> read_point(Store& store, const RunSummary& earlier, const RunRecord& run,
                                     Console& console) {
  try {
    const RunRecord record = store.load_run(earlier.id);
    if (record.prompts_digest != run.prompts_digest) return {};
    return point_of(record);
  } catch (const Error& error) {
    console.say("run " + earlier.id + " is not in the trend: " + error.what());
    return {};
  }
}

}  // namespace

std::vector<TrendPoint> run_trend(const RunRecord& run, const std::string& store_path,
                                  Console& console) {
  Store store = Store::open(store_path, StoreMode::kRead);
  std::vector<RunSummary> earlier = store.list_runs();
  std::erase_if(earlier, [&](const RunSummary& e) { return !may_belong(e, run); });
  if (earlier.empty()) return {};
  std::vector<TrendPoint> newest_first = {point_of(run)};
  int64_t n_samples = static_cast<int64_t>(run.samples.size());
  for (auto e = earlier.rbegin(); e != earlier.rend() && newest_first.size() < kMaxRuns; ++e) {
    n_samples += e->n_samples;
    if (n_samples > kMaxSamples) break;
    if (std::optional<TrendPoint> point = read_point(store, *e, run, console))
      newest_first.push_back(std::move(*point));
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

}  // namespace isobit::app
