// A small run with everything in it that a file could lose: odd floats, bytes that are not UTF-8,
// evidence that is missing in places.
#pragma once

#include <bit>
#include <limits>

#include "record/run_record.h"

namespace isobit::testing {

inline Request recorded_request(int32_t index) {
  Request r;
  r.id = "p" + std::to_string(index);
  r.prompt_token_ids = {11, 12, 13 + index};
  r.max_tokens = 4;
  r.tags = {"tier-a"};
  r.stop = {.strings = {"THE END"}, .token_ids = {777}, .ignore_eos = index == 1};
  r.sampling.logit_bias = {{3, -1.5}, {900, 2.25}};
  r.sampling.seed = std::numeric_limits<uint64_t>::max() - static_cast<uint64_t>(index);
  r.sampling.temperature = 0.1;
  r.forced_token_ids = {21};
  return r;
}

inline std::vector<TracePosition> recorded_positions(int32_t salt) {
  std::vector<TracePosition> out(3);
  for (int32_t i = 0; i < 3; ++i) {
    TracePosition& p = out[static_cast<size_t>(i)];
    p.token_id = 100 + i;
    p.logprob = -0.1f * static_cast<float>(i + 1 + salt);
    p.margin = 0.25f;
    p.logits_hash = Hash128{};
    p.logits_hash->fill(static_cast<uint8_t>(0x30 + i + salt));
    p.top = {{100 + i, p.logprob}, {500 + salt, -3.5f}};
  }
  return out;
}

inline SampleRecord recorded_sample(const RunRecord& run, int32_t cell, int32_t prompt) {
  SampleRecord s;
  s.cell_index = cell;
  s.prompt_index = prompt;
  Trace& t = s.trace;
  t.request_id = run.requests[static_cast<size_t>(prompt)].id;
  t.seed = 5;
  t.text = "and it came to pass";
  t.positions = recorded_positions(cell);
  t.scheduling = {.max_batch_requests = 8, .prefill_chunks_tokens = {16, 3}, .n_steps = 4};
  t.ttft_ms = 0.25;
  t.total_ms = 3.5;
  t.embedding = {0.5f, -1.25f};
  return s;
}

inline RunRecord recorded_run() {
  RunRecord run;
  run.id = "run-1";
  run.created = "2026-01-02T03:04:05Z";
  run.target = "isobit:models/\xff";  // a path need not be UTF-8
  run.label = "a label with 'quotes'";
  run.plan_json = R"({"cells":[]})";
  run.prompts_digest = "00ff";
  run.status = "complete";
  run.fingerprint.id = "f1";
  run.fingerprint.items = {
      {FingerprintClass::kModel, "weights.stored_root", "ab", FingerprintSource::kMeasured, ""},
      {FingerprintClass::kHardware, "gpu", "", FingerprintSource::kUnknown, "no driver library"}};
  for (int32_t i = 0; i < 2; ++i) {
    run.requests.push_back(recorded_request(i));
    run.prompt_texts.push_back("In the beginning");
    CellRecord& cell = run.cells.emplace_back();
    cell.index = i;
    cell.name = i == 0 ? "reference" : "load.concurrency=8";
    cell.values = {{"load.concurrency", i == 0 ? "1" : "8"}};
    cell.complete = cell.exercised = true;
    cell.wall_ms = 12.75;
  }
  for (int32_t cell = 0; cell < 2; ++cell) {
    for (int32_t prompt = 0; prompt < 2; ++prompt)
      run.samples.push_back(recorded_sample(run, cell, prompt));
  }
  Trace& odd = run.samples[1].trace;
  odd.text = "cut \xe4\xba";                                     // the beginning of a character
  odd.positions[0].logprob = std::bit_cast<float>(0x7fc00123u);  // a NaN with a payload
  odd.positions[1].logprob = -0.0f;
  odd.positions[2].logprob = -std::numeric_limits<float>::infinity();
  odd.positions[1].margin.reset();
  odd.positions[1].logits_hash.reset();
  odd.positions[2].top.clear();
  odd.non_finite = true;
  odd.finish_reason = FinishReason::kError;
  odd.error = "the server said no";
  run.forced.push_back({.cell_index = 1,
                        .prompt_index = 0,
                        .repeat = 0,
                        .sample_index = 0,
                        .over_run = "",
                        .positions = recorded_positions(7)});
  return run;
}

}  // namespace isobit::testing
