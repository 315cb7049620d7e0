#include "app/bench_distinct.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "app/bench.h"
#include "app/prompt_requests.h"
#include "engine/engine.h"
#include "kernels/registry.h"
#include "matrix/seeded_order.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

constexpr int64_t kParts = 4;  // of the completions; the kernel sets take turns
constexpr int64_t kMaxBatchTokens = 2048;
constexpr size_t kShownTokens = 4;

struct Arm {
  ThreadPool& pool;
  Model model;
  Engine engine;
  std::map<std::vector<int32_t>, int64_t> outputs;
  std::map<std::vector<Hash128>, int64_t> rows;
  DistinctOutputs found;

  Arm(const KernelSet& kernels, const LoadedModel& loaded, ThreadPool& threads)
      : pool(threads),
        model(*loaded.checkpoint, kernels, threads),
        engine(model, loaded.token_bytes, threads) {
    found.kernel_set = kernels.name;
    found.isa = kernels.isa;
  }

  void add(const Trace& trace) {
    std::vector<int32_t> tokens;
    std::vector<Hash128> hashes;
    for (const TracePosition& p : trace.positions) {
      tokens.push_back(p.token_id);
      hashes.push_back(p.logits_hash.value_or(Hash128{}));
    }
    ++outputs[std::move(tokens)];
    ++rows[std::move(hashes)];
    const SchedulingFacts& facts = trace.scheduling;
    found.least_batch = found.n_completions == 0
                            ? facts.min_batch_requests
                            : std::min(found.least_batch, facts.min_batch_requests);
    found.most_batch = std::max(found.most_batch, facts.max_batch_requests);
    found.n_completions += 1;
    found.n_non_finite += trace.non_finite;
  }
};

Request prompt_request(const DistinctArguments& a, const LoadedModel& loaded) {
  PromptRecord record;
  record.id = "distinct";
  if (!loaded.text.chat.has_template())
    record.prompt = a.prompt;
  else
    record.messages = Json::array({{{"role", "user"}, {"content", a.prompt}}});
  return request_from(record, loaded.text, {.max_tokens = a.gen_tokens, .n_top = 0});
}

// As many arrive while one is answered as may run at once, on average, at random moments.
std::vector<int64_t> arrivals(size_t n, const DistinctArguments& a, uint64_t part) {
  SplitMix64 random(a.seed * 1000003 + part);
  const auto span = static_cast<uint64_t>(std::max(1, 2 * a.gen_tokens / a.concurrency)) + 1;
  std::vector<int64_t> out;
  int64_t step = 0;
  for (size_t i = 0; i < n; ++i) {
    out.push_back(step);
    step += static_cast<int64_t>(random.below(span));
  }
  return out;
}

void run_part(Arm& arm, const Request& request, size_t n, const DistinctArguments& a,
              uint64_t part) {
  EngineOptions options;
  options.max_batch_requests = a.concurrency;
  options.limits.max_batch_tokens = kMaxBatchTokens;
  options.arrival_steps = arrivals(n, a, part);
  std::vector<Request> requests(n, request);
  int64_t n_tokens = 0;
  const auto start = std::chrono::steady_clock::now();
  arm.engine.run(requests, options, [&](size_t, const Trace& trace) {
    n_tokens += static_cast<int64_t>(trace.positions.size());
    arm.add(trace);
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  arm.found.tokens_per_s.push_back(static_cast<double>(n_tokens) / seconds.count());
}

std::optional<int32_t> token_at(const std::vector<int32_t>& tokens, size_t position) {
  return position < tokens.size() ? std::optional(tokens[position]) : std::nullopt;
}

std::optional<Split> first_split(const std::map<std::vector<int32_t>, int64_t>& outputs) {
  if (outputs.size() < 2) return std::nullopt;
  for (size_t position = 0;; ++position) {
    std::map<std::optional<int32_t>, int64_t> counts;
    for (const auto& [tokens, n] : outputs) counts[token_at(tokens, position)] += n;
    if (counts.size() < 2) continue;
    Split split{.position = static_cast<int32_t>(position),
                .tokens = {counts.begin(), counts.end()}};
    std::stable_sort(split.tokens.begin(), split.tokens.end(),
                     [](const auto& x, const auto& y) { return x.second > y.second; });
    return split;
  }
}

void summarise(Arm& arm) {
  arm.found.n_distinct = static_cast<int64_t>(arm.outputs.size());
  arm.found.n_distinct_bits = static_cast<int64_t>(arm.rows.size());
  for (const auto& [tokens, n] : arm.outputs)
    arm.found.n_most_common = std::max(arm.found.n_most_common, n);
  arm.found.first_split = first_split(arm.outputs);
}

std::string range(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{:.0f} ({:.0f}-{:.0f})", median(values), *low, *high);
}

std::string split_text(const DistinctOutputs& d, const LoadedModel& loaded) {
  if (!d.first_split) return {};
  std::string out = fmt::format("{}, output token {}:", d.kernel_set, d.first_split->position);
  for (size_t i = 0; i < d.first_split->tokens.size() && i < kShownTokens; ++i) {
    const auto& [token, n] = d.first_split->tokens[i];
    const std::string text =
        token ? '"' + printable(loaded.token_bytes[static_cast<size_t>(*token)]) + '"' : "the end";
    out += fmt::format("{} {} in {}", i == 0 ? "" : ",", text, n);
  }
  return wrapped_text(out);
}

}  // namespace

std::vector<DistinctOutputs> bench_distinct(const DistinctArguments& a, const LoadedModel& loaded,
                                            Console& console) {
  const Request request = prompt_request(a, loaded);
  ThreadPool pool(a.threads);
  std::vector<std::unique_ptr<Arm>> arms;
  for (const std::string& set : a.kernel_sets) {
    arms.push_back(std::make_unique<Arm>(kernel_set(set, set == "cpu" ? a.isa : ""), loaded, pool));
  }
  const int64_t n_parts = std::min(kParts, a.n_completions);
  for (int64_t part = 0; part < n_parts; ++part) {
    const int64_t n = a.n_completions * (part + 1) / n_parts - a.n_completions * part / n_parts;
    for (size_t i = 0; i < arms.size(); ++i) {
      Arm& arm = *arms[part % 2 == 1 ? arms.size() - 1 - i : i];
      run_part(arm, request, static_cast<size_t>(n), a, static_cast<uint64_t>(part));
    }
    console.progress_of(part + 1, n_parts, fmt::format("parts of {} completions", n));
  }
  std::vector<DistinctOutputs> out;
  for (const auto& arm : arms) {
    summarise(*arm);
    out.push_back(arm->found);
  }
  return out;
}

std::string distinct_text(const std::vector<DistinctOutputs>& all, const DistinctArguments& a,
                          const LoadedModel& loaded) {
  std::vector<std::vector<std::string>> rows;
  for (const DistinctOutputs& d : all) {
    rows.push_back({d.kernel_set, fmt::format("{} of {}", d.n_distinct, d.n_completions),
                    std::to_string(d.n_most_common),
                    d.first_split ? fmt::format("token {}", d.first_split->position) : "-",
                    std::to_string(d.n_distinct_bits),
                    fmt::format("{} to {}", d.least_batch, d.most_batch), range(d.tokens_per_s)});
  }
  std::string out = wrapped_text(fmt::format(
      "one prompt, {} completions of up to {} tokens at temperature 0, at most {} at once, seed {}",
      a.n_completions, a.gen_tokens, a.concurrency, a.seed));
  out += wrapped_text(printable(a.prompt)) + "\n";
  out += text_table({{"kernel set", Align::kLeft},
                     {"distinct", Align::kRight},
                     {"most common", Align::kRight},
                     {"first split", Align::kRight},
                     {"distinct bits", Align::kRight},
                     {"batch", Align::kRight},
                     {"tokens/s", Align::kRight}},
                    rows);
  for (const DistinctOutputs& d : all) out += split_text(d, loaded);
  return out;
}

Json distinct_json(const std::vector<DistinctOutputs>& all, const DistinctArguments& a) {
  Json sets = Json::array();
  for (const DistinctOutputs& d : all) {
    Json split = nullptr;
    if (d.first_split) {
      split = {{"position", d.first_split->position}, {"tokens", Json::array()}};
      for (const auto& [token, n] : d.first_split->tokens)
        split["tokens"].push_back(
            {{"token_id", token ? Json(*token) : Json(nullptr)}, {"completions", n}});
    }
    sets.push_back({{"kernel_set", d.kernel_set},
                    {"isa", d.isa},
                    {"completions", d.n_completions},
                    {"distinct", d.n_distinct},
                    {"distinct_bits", d.n_distinct_bits},
                    {"most_common", d.n_most_common},
                    {"non_finite", d.n_non_finite},
                    {"least_batch", d.least_batch},
                    {"most_batch", d.most_batch},
                    {"first_split", split},
                    {"tokens_per_s", d.tokens_per_s},
                    {"median_tokens_per_s", median(d.tokens_per_s)}});
  }
  return {{"prompt", a.prompt},
          {"completions", a.n_completions},
          {"max_tokens", a.gen_tokens},
          {"concurrency", a.concurrency},
          {"seed", std::to_string(a.seed)},
          {"kernel_sets", sets}};
}

}  // namespace isobit::app
