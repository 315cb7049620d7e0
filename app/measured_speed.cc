#include "app/measured_speed.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"

namespace isobit::app {
namespace {

// How prefill is cut is left out: it costs little, and a chunk of every size would be measured.
constexpr const char* kChunkAxis = "engine.chunked_prefill";

int32_t concurrency_of(const CellRecord& cell) {
  const std::string value = axis_value(cell, "load.concurrency");
  return value == "peak" ? kSpeedMostConcurrency
                         : std::min(kSpeedMostConcurrency, std::stoi(value));
}

std::map<std::string, std::string> settings_of(const CellRecord& cell,
                                               const std::vector<std::string>& axes) {
  std::map<std::string, std::string> out;
  for (const std::string& axis : axes) out[axis] = axis_value(cell, axis);
  return out;
}

Workload speed_workload(const MeasuredSpeed& row, const Tokenizer& tokenizer) {
  Workload workload;
  workload.concurrency = row.concurrency;
  workload.settings = row.settings;
  for (int32_t i = 0; i < row.concurrency; ++i) {
    WorkItem item;
    item.request.id = "speed-" + std::to_string(i);
    item.request.prompt_token_ids =
        neighbour_tokens(tokenizer, kSpeedPromptTokens, static_cast<uint64_t>(i) + 1);
    item.request.max_tokens = kSpeedOutputTokens;
    item.request.stop.ignore_eos = true;
    workload.items.push_back(std::move(item));
  }
  return workload;
}

using Rounds = std::array<double, kSpeedRounds>;

SpeedRange range_of(Rounds rounds) {
  std::ranges::sort(rounds);
  return {.slowest = rounds.front(), .median = rounds[kSpeedRounds / 2], .fastest = rounds.back()};
}

// All requests begin together, so the last first token ends the prefill and the last token the
// decode.
void measure_row(AuditSetup& setup, MeasuredSpeed& row) {
  const Workload workload = speed_workload(row, *setup.model.text.tokenizer);
  Rounds prefill{}, decode{};
  for (int round = -1; round < kSpeedRounds; ++round) {
    double prefill_ms = 0, total_ms = 0;
    setup.target->run(workload, [&](size_t, const Trace& t) {
      prefill_ms = std::max(prefill_ms, t.ttft_ms);
      total_ms = std::max(total_ms, t.total_ms);
    });
    if (round < 0) continue;
    constexpr double kLeastMs = 1e-3;
    const auto at = static_cast<size_t>(round);
    prefill[at] = row.concurrency * kSpeedPromptTokens * 1e3 / std::max(prefill_ms, kLeastMs);
    decode[at] = row.concurrency * (kSpeedOutputTokens - 1) * 1e3 /
                 std::max(total_ms - prefill_ms, kLeastMs);
  }
  row.prefill = range_of(prefill);
  row.decode = range_of(decode);
}

}  // namespace

SpeedTable SpeedTable::measure(AuditSetup& setup) {
  SpeedTable out;
  out.axes_ = setup.target->capabilities().axes;
  std::erase(out.axes_, kChunkAxis);
  std::set<std::pair<std::map<std::string, std::string>, int32_t>> wanted;
  for (const CellRecord& cell : setup.plan.cells)
    wanted.emplace(settings_of(cell, out.axes_), concurrency_of(cell));
  for (const auto& [settings, concurrency] : wanted) {
    MeasuredSpeed& row = out.rows_.emplace_back();
    row.settings = settings;
    row.concurrency = concurrency;
    measure_row(setup, row);
  }
  return out;
}

const MeasuredSpeed& SpeedTable::of(const CellRecord& cell) const {
  const auto settings = settings_of(cell, axes_);
  const int32_t concurrency = concurrency_of(cell);
  const auto at = std::ranges::find_if(rows_, [&](const MeasuredSpeed& row) {
    return row.settings == settings && row.concurrency == concurrency;
  });
  ISOBIT_REQUIRE(at != rows_.end());
  return *at;
}

SecondsRange seconds_for(const MeasuredSpeed& speed, int64_t prompt_tokens,
                         int64_t generated_tokens) {
  const auto prompt = static_cast<double>(prompt_tokens),
             generated = static_cast<double>(generated_tokens);
  return {.least = prompt / speed.prefill.fastest + generated / speed.decode.fastest,
          .likely = prompt / speed.prefill.median + generated / speed.decode.median,
          .most = prompt / speed.prefill.slowest + generated / speed.decode.slowest};
}

}  // namespace isobit::app
