// A target whose answers are a pure function of the request, with a scheduler that really batches,
// chunks and mixes in its bookkeeping, and with planted faults by switch. Detectors are tested
// against it: without a fault nothing may be found, with one the one.
//
// The arithmetic is a hash: token i depends on the prompt, on the tokens before it, and on the seed
// where the request samples. So a changed token changes every later one, as in a model.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/target.h"

namespace isobit::testing {

struct FakeFaults {
  std::optional<int32_t> diverge_above_batch =
      {};  // a step with more requests than this takes another token
  std::optional<int32_t> diverge_at =
      {};  // the position from which the fault above acts (default 0)
  std::optional<int32_t> shift_ulp_above_batch = {};  // a logprob moves by one ulp, the token stays
  std::optional<std::string> error_for = {};          // this request ends in an error
  bool reorder_answers = false;                       // the first two answers change places
  bool drop_last_token = false;                       // one token fewer than was asked for
  bool leak_neighbour = false;     // a row of a batch is computed with its neighbour's prompt too
  bool stale_cache = false;        // from the second call of run() on: another prompt's prefix
  bool wrong_seed = false;         // a sampled token is drawn from the right row with another seed
  bool truncate_evidence = false;  // logits hashes and margins end halfway
  bool skip_first_answer = false;  // one sample is never delivered
  bool deliver_twice = false;      // the first answer comes twice
  bool never_batches = false;      // one request at a time, whatever the concurrency
  bool ignores_chunking = false;   // prompts in one piece, whatever the setting
  bool chunks_always = false;      // pieces of 3 tokens although chunked prefill is off
  bool separates_prefill = false;  // prefill and decode never share a step
  bool reports_nothing = false;    // no scheduling facts
  std::optional<int32_t> unstable_from_run = {};  // from this call of run() on, other answers
  std::optional<int32_t> fail_after =
      {};  // Error(environment) after this many answers, over all calls
};

class FakeTarget : public Target {
 public:
  explicit FakeTarget(FakeFaults faults = {}) : faults_(std::move(faults)) {}

  std::string name() const override { return "fake"; }
  Capabilities capabilities() const override {
    return {.logprobs = true,
            .logits_hashes = true,
            .teacher_forcing = true,
            .axes = {"engine.chunked_prefill", "engine.kernel_set", "engine.kv_dtype",
                     "engine.threads", "engine.isa"}};
  }

  void run(const Workload& workload, const std::function<void(size_t, Trace)>& on_trace) override {
    workloads_.push_back(workload);
    std::vector<Answer> done = schedule(workload);
    if (faults_.reorder_answers && done.size() >= 2)
      std::swap(done[0].trace.positions, done[1].trace.positions);
    for (size_t i = 0; i < done.size(); ++i) {
      if (faults_.skip_first_answer && i == 0) continue;
      if (faults_.fail_after && n_delivered_ == *faults_.fail_after) {
        throw Error(ErrorCode::environment, "the fake server went away", "start it again");
      }
      ++n_delivered_;
      if (faults_.deliver_twice && i == 0) on_trace(done[i].item, done[i].trace);
      on_trace(done[i].item, std::move(done[i].trace));
    }
  }

  // Every workload that was run, in order.
  const std::vector<Workload>& workloads() const { return workloads_; }

 private:
  struct Answer {
    size_t item = 0;
    Trace trace;
  };
  struct Running {
    size_t item = 0;
    int32_t choice = 0;
    int32_t n_prefilled = 0;
    std::vector<int32_t> tokens;
    Trace trace;
  };

  static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a ^ (b + 0x9E3779B97F4A7C15u + (a << 6) + (a >> 2));
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  int32_t chunk_tokens(const Workload& workload) const {
    if (faults_.chunks_always) return 3;
    const auto at = workload.settings.find("engine.chunked_prefill");
    if (faults_.ignores_chunking || at == workload.settings.end() || at->second == "off")
      return INT32_MAX;
    return std::stoi(at->second);
  }

  // Continuous batching: each step computes one piece of every prompt that is not done and one
  // token of the others.
  std::vector<Answer> schedule(const Workload& workload) {
    std::vector<Answer> done;
    std::vector<Running> waiting, running;
    for (size_t i = workload.items.size(); i-- > 0;) {
      for (int32_t choice = workload.items[i].request.sampling.n; choice-- > 0;) {
        Running& r = waiting.emplace_back();
        r.item = i;
        r.choice = choice;
      }
    }
    const size_t limit = faults_.never_batches ? 1 : static_cast<size_t>(workload.concurrency);
    while (!waiting.empty() || !running.empty()) {
      for (; !waiting.empty() && running.size() < limit; waiting.pop_back())
        running.push_back(std::move(waiting.back()));
      step(workload, running);
      std::erase_if(running, [&](Running& r) {
        if (!finished(workload, r)) return false;
        if (workload.items[r.item].recorded) done.push_back({r.item, finish(workload, r)});
        return true;
      });
    }
    return done;
  }

  static bool finished(const Workload& workload, const Running& r) {
    return static_cast<int32_t>(r.trace.positions.size()) >=
           workload.items[r.item].request.max_tokens;
  }

  static bool in_prefill(const Workload& workload, const Running& r) {
    return r.n_prefilled <
           static_cast<int32_t>(workload.items[r.item].request.prompt_token_ids.size());
  }

  void step(const Workload& workload, std::vector<Running>& running) {
    bool any_prefill = false, any_decode = false;
    for (const Running& r : running) (in_prefill(workload, r) ? any_prefill : any_decode) = true;
    const bool decode_waits = faults_.separates_prefill && any_prefill;
    const bool mixed = any_prefill && any_decode && !decode_waits;
    int32_t n_requests = 0, n_rows = 0;
    for (const Running& r : running) n_requests += !decode_waits || in_prefill(workload, r);
    for (size_t row = 0; row < running.size(); ++row) {
      Running& r = running[row];
      const bool prefill = in_prefill(workload, r);
      if (decode_waits && !prefill) continue;
      SchedulingFacts& facts = r.trace.scheduling;
      facts.n_steps++;
      facts.n_mixed_steps += mixed;
      facts.max_batch_requests = std::max(facts.max_batch_requests, n_requests);
      facts.min_batch_requests =
          facts.n_steps == 1 ? n_requests : std::min(facts.min_batch_requests, n_requests);
      if (prefill) {
        const auto n_prompt =
            static_cast<int32_t>(workload.items[r.item].request.prompt_token_ids.size());
        const int32_t n = std::min(chunk_tokens(workload), n_prompt - r.n_prefilled);
        facts.prefill_chunks_tokens.push_back(n);
        r.n_prefilled += n;
        n_rows += n;
        if (r.n_prefilled < n_prompt) continue;
        facts.first_row = static_cast<int32_t>(row);
      } else {
        ++n_rows;
      }
      const Running& neighbour = running[(row + 1) % running.size()];
      generate(workload.items[r.item].request, r, n_requests,
               leaked(workload, neighbour, n_requests));
    }
    for (Running& r : running)
      r.trace.scheduling.max_batch_tokens = std::max(r.trace.scheduling.max_batch_tokens, n_rows);
  }

  // What a faulty step takes from the row beside it.
  uint64_t leaked(const Workload& workload, const Running& neighbour, int32_t n_requests) const {
    if (!faults_.leak_neighbour || n_requests < 2) return 0;
    return static_cast<uint64_t>(workload.items[neighbour.item].request.prompt_token_ids.back());
  }

  void generate(const Request& request, Running& r, int32_t n_requests, uint64_t leaked) {
    const auto at = static_cast<int32_t>(r.trace.positions.size());
    uint64_t state = 1;
    if (faults_.stale_cache && workloads_.size() > 1) state = mix(state, 99);
    for (const int32_t id : request.prompt_token_ids) state = mix(state, static_cast<uint64_t>(id));
    for (const int32_t id : r.tokens) state = mix(state, static_cast<uint64_t>(id));
    if (request.sampling.temperature > 0)
      state = mix(state, mix(request.sampling.seed, static_cast<uint64_t>(r.choice)));
    const bool acts = at >= faults_.diverge_at.value_or(0);
    if (faults_.diverge_above_batch && n_requests > *faults_.diverge_above_batch && acts)
      state = mix(state, 77);
    if (faults_.unstable_from_run &&
        static_cast<int32_t>(workloads_.size()) > *faults_.unstable_from_run) {
      state = mix(state, workloads_.size());
    }
    if (leaked != 0 && acts) state = mix(state, leaked);
    TracePosition p = position(state, request.n_top);
    if (faults_.wrong_seed && request.sampling.temperature > 0 && p.top.size() > 1)
      p.token_id = p.top[1].token_id;
    if (faults_.shift_ulp_above_batch && n_requests > *faults_.shift_ulp_above_batch && acts) {
      p.logprob = std::bit_cast<float>(std::bit_cast<uint32_t>(p.logprob) + 1);
    }
    if (static_cast<size_t>(at) < request.forced_token_ids.size())
      p.token_id = request.forced_token_ids[static_cast<size_t>(at)];
    r.tokens.push_back(p.token_id);
    r.trace.positions.push_back(std::move(p));
  }

  static TracePosition position(uint64_t state, int32_t n_top) {
    TracePosition p;
    p.token_id = static_cast<int32_t>(state % 1000);
    p.logprob = -0.125f - static_cast<float>(state >> 40) * 0x1p-24f;
    p.margin = static_cast<float>((state >> 16) & 0xffff) * 0x1p-14f;
    Hash128& hash = p.logits_hash.emplace();
    for (size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<uint8_t>(mix(state, i));
    for (int32_t k = 0; k < n_top; ++k)
      p.top.push_back({(p.token_id + k) % 1000,
                       k == 0 ? p.logprob : p.logprob - *p.margin - static_cast<float>(k - 1)});
    return p;
  }

  Trace finish(const Workload& workload, Running& r) const {
    const Request& request = workload.items[r.item].request;
    Trace& trace = r.trace;
    trace.request_id = request.id;
    trace.sample_index = r.choice;
    trace.seed = request.sampling.seed;
    trace.ttft_ms = 1;
    trace.total_ms = 2;
    if (faults_.drop_last_token && !trace.positions.empty()) trace.positions.pop_back();
    if (faults_.truncate_evidence) {
      for (size_t i = trace.positions.size() / 2; i < trace.positions.size(); ++i) {
        trace.positions[i].logits_hash.reset();
        trace.positions[i].margin.reset();
      }
    }
    if (faults_.reports_nothing) trace.scheduling = {};
    if (faults_.error_for == request.id) {
      trace.finish_reason = FinishReason::kError;
      trace.error = "planted";
      trace.positions.clear();
    }
    for (const TracePosition& p : trace.positions) trace.text += " t" + std::to_string(p.token_id);
    return std::move(trace);
  }

  FakeFaults faults_;
  std::vector<Workload> workloads_;
  int32_t n_delivered_ = 0;
};

}  // namespace isobit::testing
