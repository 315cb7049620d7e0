#include "tests/schedules/schedule_bench.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace isobit::testing {
namespace {

bool same_scores(const TracePosition& a, const TracePosition& b) {
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  const auto same_score = [&](const TokenScore& s, const TokenScore& t) {
    return s.token_id == t.token_id && bits(s.logprob) == bits(t.logprob);
  };
  return bits(a.logprob) == bits(b.logprob) && a.margin.has_value() == b.margin.has_value() &&
         (!a.margin || bits(*a.margin) == bits(*b.margin)) &&
         std::equal(a.top.begin(), a.top.end(), b.top.begin(), b.top.end(), same_score);
}

struct Place {
  size_t position;
  Parting parting;
};

std::optional<Place> first_parting(const Trace& a, const Trace& b) {
  const size_t n = std::min(a.positions.size(), b.positions.size());
  for (size_t i = 0; i < n; ++i) {
    if (a.positions[i].logits_hash != b.positions[i].logits_hash) return Place{i, Parting::kLogits};
    if (a.positions[i].token_id != b.positions[i].token_id) return Place{i, Parting::kToken};
    if (!same_scores(a.positions[i], b.positions[i])) return Place{i, Parting::kScores};
  }
  const bool same_end = a.positions.size() == b.positions.size() &&
                        a.finish_reason == b.finish_reason && a.text == b.text;
  return same_end ? std::nullopt : std::optional(Place{n, Parting::kEnd});
}

std::string hex(float x) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", std::bit_cast<uint32_t>(x));
  return text;
}

std::string position_text(const Trace& trace, size_t i) {
  if (i >= trace.positions.size()) return "the answer had ended";
  const TracePosition& p = trace.positions[i];
  std::string text = "token " + std::to_string(p.token_id) + ", logprob " + hex(p.logprob);
  text += ", logits hash ";
  if (!p.logits_hash) return text + "absent";
  for (const uint8_t byte : *p.logits_hash) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

const char* name(Parting parting) {
  switch (parting) {
    case Parting::kLogits:
      return "the logits differ";
    case Parting::kToken:
      return "the same logits, another token: the sampler";
    case Parting::kScores:
      return "the same logits and token, other scores";
    case Parting::kEnd:
      return "one answer ends elsewhere or otherwise";
  }
  return "unknown";
}

}  // namespace

ScheduleBench::ScheduleBench(const Checkpoint& checkpoint, std::vector<Request> requests,
                             Subject subject)
    : checkpoint_(checkpoint),
      requests_(std::move(requests)),
      subject_(std::move(subject)),
      token_bytes_(static_cast<size_t>(checkpoint.config().vocab_size), "x") {}

ScheduleBench::~ScheduleBench() = default;

ScheduleSpace ScheduleBench::space() const {
  return {.n_requests = requests_.size(), .n_kernel_sets = subject_.kernel_sets.size()};
}

Engine& ScheduleBench::engine(size_t kernels, int n_threads) {
  auto& pool = pools_[n_threads];
  if (!pool) pool = std::make_unique<ThreadPool>(n_threads);
  auto& model = models_[kernels];
  if (!model) model = std::make_unique<Model>(checkpoint_, *subject_.kernel_sets[kernels], *pool);
  auto& engine = engines_[{kernels, n_threads}];
  if (!engine) engine = std::make_unique<Engine>(*model, token_bytes_, *pool);
  return *engine;
}

void ScheduleBench::execute(const Schedule& schedule, const TraceSink& on_trace,
                            const OperatorSink& on_operator) {
  std::vector<Request> requests;
  for (const size_t pick : schedule.picks) requests.push_back(requests_[pick]);
  Engine& computing = engine(schedule.kernels, schedule.n_threads);
  EngineOptions options = schedule.options;
  if (subject_.before_run) subject_.before_run(options);
  computing.run(requests, options, on_trace, {}, on_operator);
}

ScheduleBench::Answers ScheduleBench::answers_of(const Schedule& schedule) {
  Answers answers;
  execute(schedule,
          [&](size_t request_index, Trace trace) {
            const auto key = std::pair(request_index, trace.sample_index);
            answers.emplace(key, std::move(trace));
          },
          {});
  return answers;
}

Schedule ScheduleBench::alone_schedule(size_t request, KvDType kv_dtype) {
  Schedule s;
  s.picks = {request};
  s.options.kv_dtype = kv_dtype;
  return s;
}

const ScheduleBench::Answers& ScheduleBench::alone(size_t request, KvDType kv_dtype) {
  const auto [at, is_new] = alone_.try_emplace({request, kv_dtype});
  if (is_new) at->second = answers_of(alone_schedule(request, kv_dtype));
  return at->second;
}

std::optional<ScheduleFailure> ScheduleBench::failure_of(const Schedule& schedule) {
  const Answers found = answers_of(schedule);
  for (size_t i = 0; i < schedule.picks.size(); ++i) {
    for (const auto& [key, expected] : alone(schedule.picks[i], schedule.options.kv_dtype)) {
      const Trace& actual = found.at({i, key.second});
      n_compared_positions_ += expected.positions.size();
      const std::optional<Place> place = first_parting(expected, actual);
      if (!place) continue;
      ScheduleFailure failure{.schedule = schedule,
                              .request_index = i,
                              .sample_index = key.second,
                              .output_position = place->position,
                              .parting = place->parting,
                              .operator_difference = {},
                              .text = {}};
      if (failure.parting == Parting::kLogits) locate(failure);
      failure.text = text_of(failure, expected, actual);
      return failure;
    }
  }
  return std::nullopt;
}

void ScheduleBench::locate(ScheduleFailure& failure) {
  const Schedule& schedule = failure.schedule;
  const Schedule by_itself =
      alone_schedule(schedule.picks[failure.request_index], schedule.options.kv_dtype);
  const auto execution = [this](const Schedule& s) {
    return [this, s](const OperatorSink& sink) {
      execute(
          s, [](size_t, Trace) {}, sink);
    };
  };
  failure.operator_difference = first_operator_difference(
      {.execute = execution(by_itself), .request_index = 0, .sample_index = failure.sample_index},
      {.execute = execution(schedule),
       .request_index = failure.request_index,
       .sample_index = failure.sample_index});
}

std::string ScheduleBench::text_of(const ScheduleFailure& f, const Trace& alone,
                                   const Trace& found) const {
  const size_t pick = f.schedule.picks[f.request_index];
  std::string text =
      describe(f.schedule) + " (" + subject_.kernel_sets[f.schedule.kernels]->isa +
      ")\n  request " + std::to_string(pick) + " (number " + std::to_string(f.request_index) +
      " of the list, " + std::to_string(requests_[pick].prompt_token_ids.size()) +
      " prompt tokens), choice " + std::to_string(f.sample_index) + ", output position " +
      std::to_string(f.output_position) + ": " + name(f.parting);
  text += "\n  alone:           " + position_text(alone, f.output_position);
  text += "\n  in the schedule: " + position_text(found, f.output_position);
  if (f.operator_difference)
    text += "\n  first operator that differs: " + describe(*f.operator_difference);
  else if (f.parting == Parting::kLogits)
    text += "\n  replayed, every operator's rows were the same: the failure does not repeat itself";
  return text +
         "\n  again: ISOBIT_SCHEDULES=1 ISOBIT_SCHEDULE_SEED=" + std::to_string(f.schedule.seed);
}

std::optional<ScheduleFailure> first_failure(ScheduleBench& bench, uint64_t first_seed, size_t n) {
  for (uint64_t seed = first_seed; seed < first_seed + n; ++seed) {
    if (auto failure = bench.failure_of(random_schedule(seed, bench.space()))) return failure;
  }
  return std::nullopt;
}

}  // namespace isobit::testing
