// Answers and runs written by hand, for tests that compare them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "record/run_record.h"

namespace isobit::testing {

inline Hash128 row_hash(uint64_t seed) {
  Hash128 hash{};
  for (size_t i = 0; i < 16; ++i)
    hash[i] = static_cast<uint8_t>(seed * 0x9E3779B97F4A7C15ull >> (8 * (i % 8)) ^ i * seed);
  return hash;
}

// One position as the engine records it: a hash, a logprob, a margin and two alternatives.
inline TracePosition position(int32_t token_id, float logprob, float margin, uint64_t row) {
  TracePosition p;
  p.token_id = token_id;
  p.logprob = logprob;
  p.margin = margin;
  p.top = {{token_id, logprob}, {token_id + 1, logprob - margin}};
  p.logits_hash = row_hash(row);
  return p;
}

inline Trace answer(const std::vector<int32_t>& tokens,
                    FinishReason finish = FinishReason::kLength) {
  Trace trace;
  trace.request_id = "p0";
  trace.finish_reason = finish;
  for (size_t i = 0; i < tokens.size(); ++i) {
    trace.positions.push_back(
        position(tokens[i], -0.5f - 0.125f * static_cast<float>(i), 0.25f, 100 + i));
  }
  return trace;
}

// As a server without hashes records it.
inline Trace without_hashes(Trace trace) {
  for (TracePosition& p : trace.positions) p.logits_hash.reset();
  return trace;
}

inline Trace tokens_only(Trace trace) {
  for (TracePosition& p : trace.positions) {
    p.logits_hash.reset();
    p.logprob = 0;
    p.margin.reset();
    p.top.clear();
  }
  return trace;
}

inline FingerprintItem item(FingerprintClass item_class, std::string name, std::string value) {
  return {.item_class = item_class,
          .name = std::move(name),
          .value = std::move(value),
          .source = FingerprintSource::kMeasured,
          .reason = {}};
}

inline Fingerprint known_fingerprint() {
  return {.items = {item(FingerprintClass::kModel, "weights.stored_root", "aa11"),
                    item(FingerprintClass::kText, "chat_template", "cc33"),
                    item(FingerprintClass::kText, "tokenizer", "bb22")},
          .id = "f0"};
}

// A complete run: a reference cell and two schedule cells, n_prompts prompts of four tokens, all
// answers the same.
inline RunRecord clean_run(int32_t n_prompts = 4, int32_t n_repeats = 1) {
  RunRecord run;
  run.id = "run-a";
  run.target = "isobit:cpu";
  run.status = "complete";
  run.prompts_digest = "dd44";
  run.fingerprint = known_fingerprint();
  const char* names[] = {"reference", "load.concurrency=8", "load.concurrency=32"};
  const char* values[] = {"1", "8", "32"};
  for (int32_t c = 0; c < 3; ++c) {
    CellRecord cell;
    cell.index = c;
    cell.name = names[c];
    cell.values = {{"load.concurrency", values[c]}};
    cell.complete = cell.exercised = true;
    run.cells.push_back(cell);
  }
  for (int32_t p = 0; p < n_prompts; ++p) {
    Request request;
    request.id = "p" + std::to_string(p);
    request.prompt_token_ids = {1, 2, 3 + p};
    request.max_tokens = 4;
    run.requests.push_back(request);
    run.prompt_texts.push_back("prompt " + std::to_string(p));
  }
  for (int32_t c = 0; c < 3; ++c) {
    for (int32_t p = 0; p < n_prompts; ++p) {
      for (int32_t r = 0; r < n_repeats; ++r) {
        SampleRecord sample{
            .cell_index = c, .prompt_index = p, .repeat = r, .trace = answer({10, 20, 30, 40 + p})};
        sample.trace.request_id = run.requests[static_cast<size_t>(p)].id;
        run.samples.push_back(sample);
      }
    }
  }
  return run;
}

inline Trace& trace_of(RunRecord& run, int32_t cell, int32_t prompt, int32_t repeat = 0) {
  for (SampleRecord& s : run.samples) {
    if (s.cell_index == cell && s.prompt_index == prompt && s.repeat == repeat) return s.trace;
  }
  throw std::logic_error("no such sample");
}

}  // namespace isobit::testing
