#include "engine/engine.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "base/error.h"
#include "engine/row_scores.h"
#include "engine/stop_check.h"
#include "numeric/lanes_scalar.h"

namespace isobit {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

int64_t longest_tokens(const Request& r) {
  return static_cast<int64_t>(r.prompt_token_ids.size()) + r.max_tokens;
}

// Blocks that the `concurrency` longest choices need at once.
int64_t pool_blocks(const std::vector<Request>& requests, int64_t concurrency) {
  std::vector<int64_t> needs;
  for (const Request& r : requests)
    needs.insert(needs.end(), static_cast<size_t>(r.sampling.n),
                 KvCache::blocks_for(longest_tokens(r)));
  std::sort(needs.begin(), needs.end(), std::greater<>());
  needs.resize(std::min(needs.size(), static_cast<size_t>(concurrency)));
  return std::max<int64_t>(1, std::accumulate(needs.begin(), needs.end(), int64_t{0}));
}

}  // namespace

// One choice of one request, from its admission to its last token.
struct Engine::Sequence {
  Sequence(const Request& request, size_t request_index, int32_t sample_index,
           const std::vector<int32_t>& eos)
      : request(request),
        request_index(request_index),
        stop(request, eos),
        tokens(request.prompt_token_ids) {
    progress.n_prompt_tokens = static_cast<int64_t>(tokens.size());
    trace.request_id = request.id;
    trace.sample_index = sample_index;
    trace.seed = request.sampling.seed;
    trace.scheduling.min_batch_requests = INT32_MAX;
  }

  const Request& request;
  size_t request_index;
  StopCheck stop;
  std::vector<int32_t> tokens;  // prompt, then output
  SequenceProgress progress;
  std::vector<int32_t> blocks;
  Trace trace;
  SamplePoint draw;                   // of the next token
  std::vector<double> embedding_sum;  // (hidden_size), over the positions scored so far
  Clock::time_point admitted = Clock::now();
  bool finished = false;

  std::span<const int32_t> output() const {
    return std::span(tokens).subspan(request.prompt_token_ids.size());
  }
};

// One call of Engine::run.
struct Engine::Run {
  Engine& engine;
  const std::vector<Request>& requests;
  const EngineOptions& options;
  const TraceSink& on_trace;
  const RowSink& on_row;
  const OperatorSink& on_operator;
  KvCache cache;
  std::deque<std::pair<size_t, int32_t>> waiting;  // (request index, sample index)
  std::vector<std::unique_ptr<Sequence>> running;  // slot order = admission order
  int64_t step_index = 0;

  const Model& model() const { return engine.model_; }

  int64_t arrival(size_t request_index) const {
    return options.arrival_steps.empty() ? 0 : options.arrival_steps[request_index];
  }

  void enqueue() {
    for (size_t i = 0; i < requests.size(); ++i) {
      for (int32_t choice = 0; choice < requests[i].sampling.n; ++choice)
        waiting.emplace_back(i, choice);
    }
    std::sort(waiting.begin(), waiting.end(), [&](const auto& a, const auto& b) {
      return std::pair(arrival(a.first), a) < std::pair(arrival(b.first), b);
    });
  }

  void admit() {
    // Nobody is there: the steps until the next arrival would be empty.
    if (running.empty() && !waiting.empty())
      step_index = std::max(step_index, arrival(waiting.front().first));
    while (!waiting.empty() && static_cast<int64_t>(running.size()) < options.max_batch_requests) {
      const auto [request_index, sample_index] = waiting.front();
      if (arrival(request_index) > step_index) return;
      const Request& request = requests[request_index];
      const int64_t n_blocks = KvCache::blocks_for(longest_tokens(request));
      if (n_blocks > cache.n_free_blocks()) return;  // a long one waits for a longer one to leave
      waiting.pop_front();
      running.push_back(std::make_unique<Sequence>(request, request_index, sample_index,
                                                   model().config().eos_token_ids));
      running.back()->blocks = cache.take_blocks(n_blocks);
    }
  }

  void step() {
    std::vector<SequenceProgress> progress;
    for (const auto& s : running) progress.push_back(s->progress);
    const std::vector<StepPart> parts = plan_step(progress, options.limits);
    ISOBIT_REQUIRE(!parts.empty());
    std::vector<std::pair<Sequence*, int64_t>>
        scored;  // sequences whose last row gets logits, and that row
    compute(parts, scored);
    note_schedule(parts, scored);
    score(scored);
    retire();
    ++step_index;
  }

  void compute(const std::vector<StepPart>& parts,
               std::vector<std::pair<Sequence*, int64_t>>& scored) {
    std::vector<int32_t> token_ids, positions, sequence_of_row;
    std::vector<const int32_t*> block_tables;
    std::vector<int64_t> logits_rows;
    for (const StepPart& part : parts) {
      Sequence& s = *running[static_cast<size_t>(part.slot)];
      for (int64_t p = part.start; p < part.start + part.n_tokens; ++p) {
        token_ids.push_back(s.tokens[static_cast<size_t>(p)]);
        positions.push_back(static_cast<int32_t>(p));
        sequence_of_row.push_back(static_cast<int32_t>(block_tables.size()));
      }
      block_tables.push_back(s.blocks.data());
      s.progress.n_computed_tokens = part.start + part.n_tokens;
      if (s.progress.n_computed_tokens == static_cast<int64_t>(s.tokens.size())) {
        logits_rows.push_back(static_cast<int64_t>(token_ids.size()) - 1);
        scored.emplace_back(&s, logits_rows.back());
      }
    }
    const BatchView batch{.n_rows = static_cast<int64_t>(token_ids.size()),
                          .positions = positions.data(),
                          .sequence_of_row = sequence_of_row.data(),
                          .n_sequences = static_cast<int64_t>(block_tables.size()),
                          .block_tables = block_tables.data()};
    model().forward(token_ids, batch, logits_rows, cache, engine.buffers_, engine.pool_,
                    observer(parts, scored));
  }

  // Names the rows of this step to on_operator.
  OperatorObserver observer(const std::vector<StepPart>& parts,
                            const std::vector<std::pair<Sequence*, int64_t>>& scored) const {
    if (!on_operator) return {};
    std::vector<ProbedRow> rows, logits_rows;
    for (const StepPart& part : parts) {
      const Sequence& s = *running[static_cast<size_t>(part.slot)];
      for (int64_t p = part.start; p < part.start + part.n_tokens; ++p)
        rows.push_back({s.request_index, s.trace.sample_index, static_cast<int32_t>(p)});
    }
    for (const auto& [s, row] : scored) logits_rows.push_back(rows[static_cast<size_t>(row)]);
    return [this, rows = std::move(rows),
            logits_rows = std::move(logits_rows)](const OperatorOutput& output) {
      const bool of_logits = is_of_logits(output.op);
      on_operator(step_index, of_logits ? logits_rows : rows, output);
    };
  }

  void note_schedule(const std::vector<StepPart>& parts,
                     const std::vector<std::pair<Sequence*, int64_t>>& scored) {
    const auto n_requests = static_cast<int32_t>(parts.size());
    int32_t n_rows = 0;
    bool any_prefill = false, any_decode = false;
    const auto is_prefill = [&](const StepPart& part) {
      return part.start < running[static_cast<size_t>(part.slot)]->progress.n_prompt_tokens;
    };
    for (const StepPart& part : parts) {
      n_rows += static_cast<int32_t>(part.n_tokens);
      (is_prefill(part) ? any_prefill : any_decode) = true;
    }
    for (const StepPart& part : parts) {
      SchedulingFacts& facts = running[static_cast<size_t>(part.slot)]->trace.scheduling;
      facts.max_batch_requests = std::max(facts.max_batch_requests, n_requests);
      facts.min_batch_requests = std::min(facts.min_batch_requests, n_requests);
      facts.max_batch_tokens = std::max(facts.max_batch_tokens, n_rows);
      facts.n_steps += 1;
      facts.n_mixed_steps += any_prefill && any_decode;
      if (is_prefill(part))
        facts.prefill_chunks_tokens.push_back(static_cast<int32_t>(part.n_tokens));
    }
    for (const auto& [s, row] : scored) {
      if (s->trace.positions.empty()) s->trace.scheduling.first_row = static_cast<int32_t>(row);
    }
  }

  void score(const std::vector<std::pair<Sequence*, int64_t>>& scored) {
    if (scored.empty()) return;
    const auto n = static_cast<int64_t>(scored.size()), vocab = model().config().vocab_size;
    const float* logits = engine.buffers_.logits.data();
    std::vector<float> max(scored.size()), sum(scored.size());
    model().kernels().log_sum_exp(logits, n, vocab, max.data(), sum.data(), engine.pool_);
    for (const auto& [s, row] : scored) s->draw = draw_point(*s);
    if (options.record_embeddings) add_embeddings(scored);
    engine.pool_.run(scored.size(), [&](size_t i, int) {
      score_row(*scored[i].first,
                {logits + static_cast<int64_t>(i) * vocab, static_cast<size_t>(vocab)}, max[i],
                sum[i]);
    });
    for (size_t i = 0; i < scored.size() && on_row; ++i) {
      Sequence& s = *scored[i].first;
      on_row(s.request_index, s.trace.sample_index, s.output().size() - 1,
             {logits + static_cast<int64_t>(i) * vocab, static_cast<size_t>(vocab)});
    }
  }

  // In the order of the positions of each answer, so that the sum does not depend on traffic.
  void add_embeddings(const std::vector<std::pair<Sequence*, int64_t>>& scored) const {
    const auto width = static_cast<size_t>(model().config().hidden_size);
    const float* row = engine.buffers_.logits_in.data();
    for (const auto& [s, ignored] : scored) {
      s->embedding_sum.resize(width);
      for (size_t i = 0; i < width; ++i) s->embedding_sum[i] += row[i];
      row += width;
    }
  }

  // Touches only its own sequence, so rows are scored in parallel.
  void score_row(Sequence& s, std::span<const float> row, float max, float sum) {
    if (!all_finite(row)) {
      s.trace.non_finite = true;
      s.trace.error = "a logits row holds a NaN or an infinity at output position " +
                      std::to_string(s.output().size());
      finish(s, FinishReason::kError);
      s.tokens.push_back(0);
      return;
    }
    const float log_of_sum = log_f32(sum);
    const std::vector<RankedLogit> top = top_logits(row, std::max(2, s.request.n_top));
    TracePosition position;
    position.token_id = next_token(s, row, top.front().token_id);
    position.logprob = logprob(row[static_cast<size_t>(position.token_id)], max, log_of_sum);
    if (top.size() > 1) position.margin = top[0].logit - top[1].logit;
    for (size_t i = 0; i < top.size() && i < static_cast<size_t>(s.request.n_top); ++i) {
      position.top.push_back({top[i].token_id, logprob(top[i].logit, max, log_of_sum)});
    }
    if (options.hash_logits) position.logits_hash = logits_hash(row);
    const bool forced = s.trace.positions.size() < s.request.forced_token_ids.size();
    s.trace.positions.push_back(std::move(position));
    const int32_t token_id = s.trace.positions.back().token_id;
    s.tokens.push_back(token_id);
    if (s.trace.positions.size() == 1) s.trace.ttft_ms = ms_since(s.admitted);
    if (const auto reason =
            s.stop.add(token_id, engine.token_bytes_[static_cast<size_t>(token_id)], forced))
      finish(s, *reason);
  }

  SamplePoint draw_point(const Sequence& s) const {
    const SamplePoint point{.seed = s.request.sampling.seed,
                            .position = static_cast<int64_t>(s.tokens.size()),
                            .sample_index = s.trace.sample_index};
    const bool draws = options.draw_point && s.request.sampling.temperature != 0;
    return draws ? options.draw_point(point) : point;
  }

  int32_t next_token(Sequence& s, std::span<const float> row, int32_t argmax) {
    const size_t at = s.trace.positions.size();
    if (at < s.request.forced_token_ids.size()) return s.request.forced_token_ids[at];
    if (is_plain_greedy(s.request.sampling)) return argmax;
    std::vector<float> penalised;  // its own: rows are scored in parallel
    return sample_token(row, s.request.sampling, s.draw, s.request.prompt_token_ids, s.output(),
                        penalised);
  }

  static void finish(Sequence& s, FinishReason reason) {
    s.trace.finish_reason = reason;
    s.finished = true;
  }

  static std::vector<float> embedding(const Sequence& s) {
    std::vector<float> mean;
    const auto n = static_cast<double>(s.trace.positions.size());
    for (const double sum : s.embedding_sum) mean.push_back(static_cast<float>(sum / n));
    return s.trace.non_finite || s.trace.positions.empty() ? std::vector<float>() : mean;
  }

  void retire() {
    for (const auto& s : running) {
      if (!s->finished) continue;
      cache.give_back(s->blocks);
      s->trace.text = s->stop.text();
      s->trace.total_ms = ms_since(s->admitted);
      s->trace.embedding = embedding(*s);
      on_trace(s->request_index, std::move(s->trace));
    }
    std::erase_if(running, [](const auto& s) { return s->finished; });
  }
};

Engine::Engine(const Model& model, const std::vector<std::string>& token_bytes, ThreadPool& pool)
    : model_(model), token_bytes_(token_bytes), pool_(pool) {
  // Rows beyond the tokenizer's vocabulary (padding of the embedding) can be generated: they add no
  // text.
  ISOBIT_REQUIRE(static_cast<int64_t>(token_bytes.size()) >= model.config().vocab_size);
}

Engine::~Engine() = default;

void Engine::validate(const Request& r) const {
  const ModelConfig& c = model_.config();
  const std::string where = "request '" + r.id + "': ";
  if (r.prompt_token_ids.empty()) throw Error(ErrorCode::usage, where + "the prompt has no tokens");
  if (r.max_tokens < 1)
    throw Error(ErrorCode::usage,
                where + "max_tokens is " + std::to_string(r.max_tokens) + "; at least 1 is needed");
  if (longest_tokens(r) > c.max_positions) {
    throw Error(ErrorCode::usage,
                where + std::to_string(r.prompt_token_ids.size()) + " prompt tokens and " +
                    std::to_string(r.max_tokens) +
                    " output tokens do not fit the model's context of " +
                    std::to_string(c.max_positions),
                "shorten the prompt or lower max_tokens");
  }
  for (const auto* ids : {&r.prompt_token_ids, &r.forced_token_ids}) {
    for (const int32_t id : *ids) {
      if (id < 0 || id >= c.vocab_size) {
        throw Error(ErrorCode::usage, where + "token id " + std::to_string(id) +
                                          " is outside the vocabulary of " +
                                          std::to_string(c.vocab_size));
      }
    }
  }
  if (r.n_top < 0 || r.n_top > 1024)
    throw Error(ErrorCode::usage,
                where + "the number of recorded alternatives must lie in [0, 1024]");
  validate_sampling(r.sampling, c.vocab_size);
}

void Engine::run(const std::vector<Request>& requests, const EngineOptions& options,
                 const TraceSink& on_trace, const RowSink& on_row,
                 const OperatorSink& on_operator) {
  ISOBIT_REQUIRE(options.max_batch_requests >= 1);
  ISOBIT_REQUIRE(options.arrival_steps.empty() || options.arrival_steps.size() == requests.size());
  for (const Request& r : requests) validate(r);
  Run run{.engine = *this,
          .requests = requests,
          .options = options,
          .on_trace = on_trace,
          .on_row = on_row,
          .on_operator = on_operator,
          .cache = KvCache(model_.kv_shape(options.kv_dtype),
                           pool_blocks(requests, options.max_batch_requests)),
          .waiting = {},
          .running = {}};
  run.enqueue();
  for (run.admit(); !run.running.empty(); run.admit()) run.step();
}

}  // namespace isobit
