#include "matrix/workload.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "matrix/axes.h"
#include "matrix/seeded_order.h"

namespace isobit {
namespace {

constexpr int32_t kShortNeighbourTokens = 4;
constexpr int32_t kLongerFactor = 4;
constexpr int32_t kStaggerTokens =
    2;  // steps between two rows becoming free under batch_shape=mixed

struct Item {
  WorkItem work;
  std::optional<int32_t> prompt_index;
};

int32_t resolve_concurrency(const CellRecord& cell, const ModelLimits& limits) {
  const std::string value = axis_value(cell, "load.concurrency");
  if (value == "peak") {
    if (limits.max_concurrency > 0) return limits.max_concurrency;
    throw Error(
        ErrorCode::unsupported,
        "cell '" + cell.name +
            "': load.concurrency=peak needs the scheduler's maximum, which this target does "
            "not tell",
        "give a number instead");
  }
  const int32_t concurrency = std::stoi(value);
  if (limits.max_concurrency > 0 && concurrency > limits.max_concurrency) {
    throw Error(ErrorCode::usage,
                "cell '" + cell.name + "' is impossible: the target runs at most " +
                    std::to_string(limits.max_concurrency) +
                    " requests at once, load.concurrency asks "
                    "for " +
                    value,
                "list smaller values, or use load.concurrency=peak");
  }
  return concurrency;
}

// Makes the items of one cell; every neighbour gets an id and a seed of its own.
class ItemBuilder {
 public:
  ItemBuilder(const CellRecord& cell, std::vector<Request> probes, const ModelLimits& limits,
              const NeighbourTokens& tokens, uint64_t seed, int32_t concurrency)
      : cell_(cell),
        probes_(std::move(probes)),
        limits_(limits),
        tokens_(tokens),
        random_(seed),
        concurrency_(concurrency),
        order_(probes_.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  std::vector<Item> build() {
    const std::string shape = axis_value(cell_, "load.batch_shape");
    if (shape == "ragged") alternate_lengths();
    std::string neighbours = axis_value(cell_, "load.neighbours");
    if (shape == "ragged" && neighbours == "same" && !lengths_differ()) neighbours = "shorter";
    std::vector<Item> items = shape == "needle" ? needles() : interleaved(neighbours);
    apply_position(items, axis_value(cell_, "load.position"), shape == "needle");
    if (shape == "mixed") surround_with_staggered(items);
    return items;
  }

 private:
  Item probe(size_t k) const {
    return {{.request = probes_[order_[k]], .recorded = true}, static_cast<int32_t>(order_[k])};
  }

  // A request of n_tokens that loads the target; everything else as the probe that it stands
  // beside.
  Item neighbour(const Request& beside, int64_t n_tokens, int32_t max_tokens) {
    if (limits_.context_tokens > 0)
      n_tokens = std::min<int64_t>(n_tokens, limits_.context_tokens - max_tokens);
    n_tokens = std::max<int64_t>(n_tokens, 1);
    Request request = beside;
    request.id = "neighbour-" + std::to_string(n_neighbours_++);
    request.max_tokens = max_tokens;
    request.prompt_token_ids = tokens_(static_cast<int32_t>(n_tokens), random_.next());
    ISOBIT_REQUIRE(static_cast<int64_t>(request.prompt_token_ids.size()) == n_tokens);
    request.forced_token_ids.clear();
    request.stop = {.strings = {}, .token_ids = {}, .ignore_eos = true};
    request.sampling.seed = random_.next();
    request.sampling.seed_source = SeedSource::kRequest;
    request.sampling.n = 1;
    return {{.request = std::move(request), .recorded = false}, std::nullopt};
  }

  Item neighbour_of_kind(const std::string& kind, const Request& beside) {
    const auto n = static_cast<int64_t>(beside.prompt_token_ids.size());
    if (kind == "shorter") return neighbour(beside, kShortNeighbourTokens, beside.max_tokens);
    Item item = neighbour(beside, kind == "longer" ? n * kLongerFactor : n, beside.max_tokens);
    if (kind == "longer" && static_cast<int64_t>(item.work.request.prompt_token_ids.size()) > n)
      n_longer_++;
    if (kind == "sampled") {
      Sampling& sampling = item.work.request.sampling;
      sampling = {.logit_bias = {}, .seed = sampling.seed, .seed_source = SeedSource::kRequest};
      sampling.temperature = 1;
    }
    return item;
  }

  size_t missing_in_last_wave(size_t n) const {
    const auto c = static_cast<size_t>(concurrency_);
    return (c - n % c) % c;
  }

  std::vector<Item> interleaved(const std::string& kind) {
    std::vector<Item> items;
    for (size_t k = 0; k < probes_.size(); ++k) {
      items.push_back(probe(k));
      if (kind != "same") items.push_back(neighbour_of_kind(kind, items.back().work.request));
    }
    const size_t missing = missing_in_last_wave(items.size());
    for (size_t i = 0; i < missing; ++i) {
      const Request beside = probes_[order_[i % probes_.size()]];
      items.push_back(kind == "same" ? copy_of(beside) : neighbour_of_kind(kind, beside));
    }
    if (kind == "longer" && n_longer_ == 0) {
      throw Error(ErrorCode::usage,
                  "cell '" + cell_.name +
                      "' is impossible: no neighbour longer than its prompt fits the "
                      "context of " +
                      std::to_string(limits_.context_tokens) + " tokens",
                  "use shorter prompts (prompt.length) or other neighbours");
    }
    return items;
  }

  // The same question under another name: same tokens, same sampling, same seed.
  Item copy_of(const Request& beside) {
    Request copy = beside;
    copy.id = beside.id + "#copy-" + std::to_string(n_neighbours_++);
    return {{.request = std::move(copy), .recorded = false}, std::nullopt};
  }

  std::vector<Item> needles() {
    std::vector<Item> items;
    for (size_t k = 0; k < probes_.size(); ++k) {
      items.push_back(probe(k));
      const Request beside = items.back().work.request;
      for (int32_t i = 1; i < concurrency_; ++i) {
        items.push_back(neighbour(beside, kShortNeighbourTokens, beside.max_tokens));
      }
    }
    return items;
  }

  // True when the longest probe has at least twice the tokens of the shortest.
  bool lengths_differ() const {
    const auto [shortest, longest] = std::ranges::minmax(
        probes_, {}, [](const Request& r) { return r.prompt_token_ids.size(); });
    return longest.prompt_token_ids.size() >= 2 * shortest.prompt_token_ids.size();
  }

  void alternate_lengths() {
    std::vector<size_t> sorted = order_;
    std::ranges::stable_sort(sorted, [&](size_t a, size_t b) {
      return probes_[a].prompt_token_ids.size() > probes_[b].prompt_token_ids.size();
    });
    for (size_t k = 0; k < sorted.size(); ++k) {
      order_[k] = k % 2 == 0 ? sorted[k / 2] : sorted[sorted.size() - 1 - k / 2];
    }
  }

  void apply_position(std::vector<Item>& items, const std::string& position, bool inside_waves) {
    const auto c = static_cast<size_t>(concurrency_);
    if (position == "middle") {
      // Not of std::ranges: clang 14 does not read the subrange that it returns.
      std::rotate(items.begin(), items.begin() + static_cast<ptrdiff_t>(c / 2 % items.size()),
                  items.end());
    } else if (position == "last") {
      std::ranges::reverse(items);
    } else if (position == "permuted") {
      const size_t wave = inside_waves ? c : items.size();
      for (size_t at = 0; at < items.size(); at += wave) {
        shuffle(items.data() + at, std::min(wave, items.size() - at), random_);
      }
    }
  }

  void surround_with_staggered(std::vector<Item>& items) {
    const Request beside = probes_[0];
    std::vector<Item> all;
    for (int32_t i = 0; i < concurrency_; ++i) {
      int32_t max_tokens = kStaggerTokens * (i + 1);
      if (limits_.context_tokens > 0) {
        max_tokens =
            std::min(max_tokens, std::max(1, limits_.context_tokens - kShortNeighbourTokens));
      }
      all.push_back(neighbour(beside, kShortNeighbourTokens, max_tokens));
    }
    std::ranges::move(items, std::back_inserter(all));
    for (int32_t i = 0; i < concurrency_; ++i) {
      all.push_back(neighbour(beside, kShortNeighbourTokens, beside.max_tokens));
    }
    items = std::move(all);
  }

  const CellRecord& cell_;
  std::vector<Request> probes_;
  const ModelLimits& limits_;
  const NeighbourTokens& tokens_;
  SplitMix64 random_;
  int32_t concurrency_;
  int32_t n_neighbours_ = 0;
  int32_t n_longer_ = 0;
  std::vector<size_t> order_;  // of the probes, as indices into the prompts
};

}  // namespace

BuiltWorkload build_workload(const CellRecord& cell, std::span<const Request> requests,
                             const ModelLimits& limits, const NeighbourTokens& neighbour_tokens,
                             uint64_t seed) {
  if (requests.empty())
    throw Error(ErrorCode::usage, "cell '" + cell.name + "': there are no prompts to send");
  BuiltWorkload built;
  built.workload.concurrency = resolve_concurrency(cell, limits);
  ItemBuilder builder(cell, cell_requests(cell, requests, limits, neighbour_tokens, seed), limits,
                      neighbour_tokens, seed, built.workload.concurrency);
  for (Item& item : builder.build()) {
    built.workload.items.push_back(std::move(item.work));
    built.prompt_index.push_back(item.prompt_index);
  }
  for (const auto& [key, value] : cell.values) {
    const Axis& axis = find_axis(key);
    if (axis.applied_by == AxisAppliedBy::kTarget && !axis.only_default)
      built.workload.settings[key] = value;
  }
  return built;
}

std::vector<CellEstimate> estimate_plan(const Plan& plan, std::span<const Request> requests,
                                        const ModelLimits& limits,
                                        const NeighbourTokens& neighbour_tokens) {
  std::vector<CellEstimate> out;
  for (const CellRecord& cell : plan.cells) {
    CellEstimate one;
    const BuiltWorkload built =
        build_workload(cell, requests, limits, neighbour_tokens, plan.spec.seed);
    for (const WorkItem& item : built.workload.items) {
      (item.recorded ? one.n_probes : one.n_neighbours) += plan.spec.repeats;
      one.prompt_tokens +=
          static_cast<int64_t>(item.request.prompt_token_ids.size()) * plan.spec.repeats;
      one.max_generated_tokens += int64_t{item.request.max_tokens} *
                                  std::max(1, item.request.sampling.n) * plan.spec.repeats;
    }
    out.push_back(one);
  }
  return out;
}

}  // namespace isobit
