#include "app/run_watch.h"

#include <cmath>

#include <fmt/format.h>

#include "compare/recorded_samples.h"

namespace isobit::app {
namespace {

// "at token 5"; where the two end differently there is no such position.
std::string place(const Divergence& divergence) {
  if (divergence.token) return fmt::format("at token {}", divergence.token->position);
  if (divergence.numeric)
    return fmt::format("in the bits of token {}", divergence.numeric->position);
  return "in how it ends";
}

// CLI11's own range would let NaN through and name its bounds with 300 digits.
std::string refuse_unless_positive(const std::string& text) {
  double value = 0;
  const bool is_number = CLI::detail::lexical_cast(text, value);
  return is_number && std::isfinite(value) && value > 0
             ? std::string()
             : "'" + text.substr(0, 40) + "' is not a number above 0";
}

}  // namespace

void declare_run_caps(CLI::App& app, RunCaps& caps) {
  const CLI::Validator positive(refuse_unless_positive, "above 0");
  app.add_option("--max-seconds", caps.seconds,
                 "Stop between two answers once this time has passed (exit 8; --resume continues)")
      ->check(positive);
  app.add_option("--max-requests", caps.requests, "Stop after this many answered requests")
      ->check(positive);
  app.add_option("--max-total-tokens", caps.tokens, "Stop after this many generated tokens")
      ->check(positive);
}

FirstDifference::FirstDifference(const RunRecord& run, Level level) : run_(run), level_(level) {
  for (const SampleRecord& sample : run.samples) add(sample);
}

void FirstDifference::add(const SampleRecord& sample) {
  if (!found_.empty()) return;
  const int32_t reference_cell = run_.cells[static_cast<size_t>(sample.cell_index)].reference_index;
  const Key key{reference_cell, sample.prompt_index, sample.trace.sample_index};
  const auto reference = references_.find(key);
  if (sample.cell_index == reference_cell && sample.repeat == 0) {
    if (reference != references_.end()) return;  // delivered again
    const SampleRecord& kept = references_.emplace(key, sample).first->second;
    for (const SampleRecord& early : waiting_[key]) compare(kept, early);
    waiting_.erase(key);
  } else if (reference != references_.end()) {
    compare(reference->second, sample);
  } else {
    waiting_[key].push_back(sample);
  }
}

void FirstDifference::compare(const SampleRecord& reference, const SampleRecord& sample) {
  const Request& request = run_.requests[static_cast<size_t>(sample.prompt_index)];
  const CellRecord &from = run_.cells[static_cast<size_t>(reference.cell_index)],
                   &to = run_.cells[static_cast<size_t>(sample.cell_index)];
  const Divergence divergence =
      compare_samples(reference.trace, sample.trace, comparison_options(request, from, to));
  if (!found_.empty() || sameness_at(level_, divergence) != Sameness::kDifferent) return;
  found_ = fmt::format("{}, prompt {}: the answer differs from {} {}", to.name, request.id,
                       from.index == to.index ? "its first repeat" : "that of cell " + from.name,
                       place(divergence));
}

RunWatch::RunWatch(RunSink& inner, const RunRecord& run, const RunLimits& limits,
                   std::function<double()> now_ms)
    : inner_(inner), caps_(limits.caps, std::move(now_ms)) {
  if (limits.fail_fast) difference_.emplace(run, *limits.fail_fast);
}

Landing RunWatch::sample(const SampleRecord& sample) {
  const Landing landing = inner_.sample(sample);
  caps_.landed(sample, landing);
  if (difference_) difference_->add(sample);
  return landing;
}

std::string RunWatch::stop_reason() const {
  if (difference_ && !difference_->found().empty()) return "--fail-fast: " + difference_->found();
  return caps_.reached();
}

}  // namespace isobit::app
