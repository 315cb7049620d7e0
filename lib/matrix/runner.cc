#include "matrix/runner.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "matrix/axes.h"
#include "matrix/exercised.h"

namespace isobit {
namespace {

// Thrown through Target::run to leave it early. Not a std::exception, so that no target mistakes it
// for a failure of its own.
struct StopAsked {};

void check_capabilities(const Plan& plan, const Target& target) {
  const Capabilities capabilities = target.capabilities();
  if (plan.spec.embeddings && !capabilities.embeddings) {
    throw Error(ErrorCode::unsupported, "target '" + target.name() + "' gives no embeddings",
                "leave --embeddings out");
  }
  const std::vector<std::string>& offered = capabilities.axes;
  for (const CellRecord& cell : plan.cells) {
    for (const auto& [key, value] : cell.values) {
      const Axis& axis = find_axis(key);
      const bool settable = std::ranges::find(offered, key) != offered.end();
      if (axis.applied_by != AxisAppliedBy::kTarget || settable || value == axis.default_value)
        continue;
      throw Error(ErrorCode::unsupported,
                  "cell '" + cell.name + "': target '" + target.name() + "' cannot set " + key +
                      "=" + value,
                  "leave the axis out, or audit a target that declares it");
    }
  }
}

// Only what the target declares is passed on; a default that it does not declare is what it does
// anyway.
void keep_declared_settings(Workload& workload, const Capabilities& capabilities) {
  std::erase_if(workload.settings, [&](const auto& entry) {
    return std::ranges::find(capabilities.axes, entry.first) == capabilities.axes.end();
  });
}

class Runner {
 public:
  Runner(const Plan& plan, Target& target, RunSink& sink, const RunOptions& options)
      : plan_(plan),
        target_(target),
        sink_(sink),
        options_(options),
        capabilities_(target.capabilities()) {
    for (const SampleRecord& s : options.recorded) remember(s);
  }

  RunOutcome run() {
    check_capabilities(plan_, target_);
    for (const CellRecord& cell : plan_.cells) static_cast<void>(build(cell));
    start_ms_ = options_.now_ms();
    progress_.n_cells = plan_.cells.size() - options_.done_cells.size();
    try {
      for (const int32_t index : plan_.order) {
        if (options_.done_cells.contains(index)) continue;
        stop_if_asked();
        stop_at_a_limit();
        run_cell(plan_.cells[static_cast<size_t>(index)]);
      }
      force_flipped_answers();
    } catch (const StopAsked&) {
      outcome_.interrupted = outcome_.stop_reason.empty();
    } catch (const Error& e) {
      if (outcome_.n_samples == 0 || e.code() == ErrorCode::internal) throw;
      throw Error(ErrorCode::incomplete,
                  "the run stopped after " + std::to_string(outcome_.n_samples) +
                      " samples: " + e.message(),
                  e.hint().empty() ? "isobit run --resume continues it"
                                   : e.hint() + "; then isobit run --resume continues it");
    }
    return outcome_;
  }

 private:
  BuiltWorkload build(const CellRecord& cell) const {
    return build_workload(cell, options_.requests, options_.limits, options_.neighbour_tokens,
                          plan_.spec.seed);
  }

  void stop_if_asked() const {
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) throw StopAsked{};
  }

  void stop_at_a_limit() {
    if (options_.stop_reason) outcome_.stop_reason = options_.stop_reason();
    if (!outcome_.stop_reason.empty()) throw StopAsked{};
  }

  void run_cell(CellRecord cell) {
    BuiltWorkload built = build(cell);
    keep_declared_settings(built.workload, capabilities_);
    built.workload.record_embeddings = plan_.spec.embeddings;
    size_t n_expected = 0;
    for (const WorkItem& item : built.workload.items) {
      if (item.recorded) n_expected += static_cast<size_t>(std::max(1, item.request.sampling.n));
    }
    begin_progress(cell, n_expected * static_cast<size_t>(plan_.spec.repeats));
    sink_.begin_cell(cell);

    const double begin_ms = options_.now_ms();
    const int64_t tokens_before = progress_.generated_tokens;
    cell.complete = true;
    cell.exercised = true;
    for (int32_t repeat = 0; repeat < plan_.spec.repeats; ++repeat)
      run_repeat(cell, built, repeat, n_expected);
    set_speed(cell, begin_ms, tokens_before);
    end_cell(cell);
  }

  void begin_progress(const CellRecord& cell, size_t n_samples) {
    progress_.cell = &cell;
    progress_.cell_ended = false;
    progress_.n_cell_samples = n_samples;
    progress_.n_cell_samples_done = 0;
  }

  // Over the reference's tokens, then over the other run's.
  void force_flipped_answers() {
    if (!plan_.spec.teacher_forcing || !capabilities_.teacher_forcing) return;
    std::vector<ForcingSource> sources = {forcing_over_reference(plan_, answers_)};
    if (options_.against) sources.push_back(*options_.against);
    for (const ForcingSource& source : sources) {
      std::set<AnswerId> done;
      for (const ForcedRecord& f : options_.recorded_forced) {
        if (f.over_run == source.over_run)
          done.insert({f.cell_index, f.prompt_index, f.repeat, f.sample_index});
      }
      const std::vector<ForcedPass> passes = forced_passes(answers_, source, done);
      progress_.n_cells += passes.size();
      for (const ForcedPass& pass : passes) {
        stop_if_asked();
        stop_at_a_limit();
        run_forced(pass, source.over_run);
      }
    }
  }

  void run_forced(const ForcedPass& pass, const std::string& over_run) {
    CellRecord cell = plan_.cells[static_cast<size_t>(pass.cell_index)];
    BuiltWorkload built = build(cell);
    keep_declared_settings(built.workload, capabilities_);
    apply(pass, built);
    cell.name += " (teacher-forced)";
    cell.exercised = true;
    begin_progress(cell, pass.tokens.size());
    const double begin_ms = options_.now_ms();
    const int64_t tokens_before = progress_.generated_tokens;
    target_.run(built.workload, [&](size_t item, Trace trace) {
      check_delivery(built, item, trace);
      if (trace.sample_index != pass.sample_index) return;
      const size_t n_tokens = trace.positions.size();
      sink_.forced({.cell_index = pass.cell_index,
                    .prompt_index = *built.prompt_index[item],
                    .repeat = pass.repeat,
                    .sample_index = pass.sample_index,
                    .over_run = over_run,
                    .positions = std::move(trace.positions)});
      outcome_.n_forced++;
      note_landed(n_tokens);
    });
    set_speed(cell, begin_ms, tokens_before);
    end_progress(cell);
  }

  void set_speed(CellRecord& cell, double begin_ms, int64_t tokens_before) const {
    cell.wall_ms = options_.now_ms() - begin_ms;
    const auto n_tokens = static_cast<double>(progress_.generated_tokens - tokens_before);
    cell.generated_tokens_per_s = cell.wall_ms > 0 ? n_tokens * 1000 / cell.wall_ms : 0;
  }

  void remember(const SampleRecord& sample) {
    if (sample.trace.finish_reason == FinishReason::kError) return;
    std::vector<int32_t> tokens;
    for (const TracePosition& p : sample.trace.positions) tokens.push_back(p.token_id);
    answers_.emplace(
        AnswerId{sample.cell_index, sample.prompt_index, sample.repeat, sample.trace.sample_index},
        std::move(tokens));
  }

  void run_repeat(CellRecord& cell, const BuiltWorkload& built, int32_t repeat, size_t n_expected) {
    std::vector<SampleRecord> samples;
    std::set<std::pair<size_t, int32_t>> seen;
    target_.run(built.workload, [&](size_t item, Trace trace) {
      check_delivery(built, item, trace);
      if (!seen.insert({item, trace.sample_index}).second) {
        throw Error(ErrorCode::internal, "target '" + target_.name() + "' delivered choice " +
                                             std::to_string(trace.sample_index) + " of item " +
                                             std::to_string(item) + " twice");
      }
      SampleRecord& sample = samples.emplace_back();
      sample.cell_index = cell.index;
      sample.prompt_index = *built.prompt_index[item];
      sample.repeat = repeat;
      sample.trace = std::move(trace);
      land(sample);
      sample.trace.positions = {};  // stored; what remains is enough to judge the cell
    });
    std::vector<const SampleRecord*> landed;
    for (const SampleRecord& sample : samples) landed.push_back(&sample);
    const Exercised judged = judge_exercised(cell, landed, built);
    if (samples.size() < n_expected) {
      cell.complete = false;
      cell.exercised = false;
      cell.not_exercised_reason = "the target returned " + std::to_string(samples.size()) + " of " +
                                  std::to_string(n_expected) + " samples";
    } else if (!judged.exercised && cell.exercised) {
      cell.exercised = false;
      cell.not_exercised_reason = judged.reason;
    }
  }

  void check_delivery(const BuiltWorkload& built, size_t item, const Trace& trace) const {
    const auto refuse = [&](const std::string& what) {
      throw Error(ErrorCode::internal, "target '" + target_.name() + "' delivered " + what);
    };
    if (item >= built.workload.items.size()) {
      refuse("an answer to item " + std::to_string(item) + " of " +
             std::to_string(built.workload.items.size()));
    }
    const WorkItem& work = built.workload.items[item];
    if (!work.recorded) refuse("an answer to a neighbour (item " + std::to_string(item) + ")");
    if (trace.request_id != work.request.id) {
      refuse("the answer to '" + trace.request_id + "' as the answer to '" + work.request.id + "'");
    }
    if (trace.sample_index < 0 || trace.sample_index >= std::max(1, work.request.sampling.n)) {
      refuse("choice " + std::to_string(trace.sample_index) + " of a request for " +
             std::to_string(work.request.sampling.n));
    }
  }

  void land(const SampleRecord& sample) {
    if (sink_.sample(sample) == Landing::kAlreadyDifferent) outcome_.n_changed_on_rerun++;
    remember(sample);
    outcome_.n_samples++;
    note_landed(sample.trace.positions.size());
  }

  void note_landed(size_t n_tokens) {
    progress_.n_cell_samples_done++;
    progress_.generated_tokens += static_cast<int64_t>(n_tokens);
    report();
    stop_if_asked();
    // The last answer of a cell lets it end first: then it is complete.
    if (progress_.n_cell_samples_done < progress_.n_cell_samples) stop_at_a_limit();
  }

  void end_cell(const CellRecord& cell) {
    sink_.end_cell(cell);
    outcome_.n_cells_done += cell.complete;
    outcome_.n_incomplete += !cell.complete;
    outcome_.n_not_exercised += !cell.exercised;
    end_progress(cell);
  }

  void end_progress(const CellRecord& cell) {
    progress_.n_cells_done++;
    progress_.cell = &cell;
    progress_.cell_ended = true;
    report();
  }

  void report() {
    if (!options_.on_progress) return;
    progress_.elapsed_ms = options_.now_ms() - start_ms_;
    options_.on_progress(progress_);
  }

  const Plan& plan_;
  Target& target_;
  RunSink& sink_;
  const RunOptions& options_;
  const Capabilities capabilities_;
  RunProgress progress_;
  RunOutcome outcome_;
  AnswerTokens answers_;
  double start_ms_ = 0;
};

}  // namespace

RunOutcome run_plan(const Plan& plan, Target& target, RunSink& sink, const RunOptions& options) {
  ISOBIT_REQUIRE(options.now_ms && options.neighbour_tokens);
  return Runner(plan, target, sink, options).run();
}

}  // namespace isobit
