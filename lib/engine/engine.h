// The built-in engine: admits requests, forms steps, scores and samples, and reports what it did.
//
// One answer per request, in bits, whatever shares the batch: everything here that depends on
// traffic (which slot, which blocks, which step) only decides when and where a row is computed,
// never how.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/model.h"
#include "engine/operator_probe.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"
#include "record/request.h"
#include "record/trace.h"

namespace isobit {

struct EngineOptions {
  KvDType kv_dtype = KvDType::kF16;
  ScheduleLimits limits;
  int64_t max_batch_requests = 1;  // requests in flight
  bool hash_logits = true;
  bool record_embeddings = false;  // Trace::embedding
  // The step before which each request is not there yet (one number per request); empty: all wait
  // from the start. Steps, not milliseconds, so that an arrival can be repeated.
  std::vector<int64_t> arrival_steps;
  // Replaces, in tests, where a draw's noise comes from: called once per sampled token, in row
  // order. Empty: the request's own seed and position (numeric contract section 5).
  std::function<SamplePoint(const SamplePoint&)> draw_point;
};

// Receives each finished choice, in completion order.
using TraceSink = std::function<void(size_t request_index, Trace trace)>;

// Sees every scored row: request index, sample index, generated position, logits (vocab). For
// oracles and `explain`.
using RowSink = std::function<void(size_t request_index, int32_t sample_index, size_t position,
                                   std::span<const float> logits)>;

class Engine {
 public:
  // `token_bytes[id]`: what a token adds to the text (empty for special tokens). All references
  // must outlive the engine.
  Engine(const Model& model, const std::vector<std::string>& token_bytes, ThreadPool& pool);
  ~Engine();

  // Throws Error(usage) for a request the model cannot take (empty, past the context, a token id
  // outside the vocabulary).
  void validate(const Request& request) const;

  // Answers all requests, admitted in order of arrival and then of the list, at most
  // options.max_batch_requests choices in flight.
  void run(const std::vector<Request>& requests, const EngineOptions& options,
           const TraceSink& on_trace, const RowSink& on_row = {},
           const OperatorSink& on_operator = {});

 private:
  struct Sequence;
  struct Run;

  const Model& model_;
  const std::vector<std::string>& token_bytes_;
  ThreadPool& pool_;
  StepBuffers buffers_;
};

}  // namespace isobit
