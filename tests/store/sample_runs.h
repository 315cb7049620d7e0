// Small runs to record, a folder that goes away, and the error that a call throws.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace isobit::testing {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "isobit-store-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline uint32_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}

template <typename Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  FAIL("no error was thrown");
  std::abort();
}

// Three prompts (the second with two choices), three cells: a reference and two compared with it.
inline RunRecord sample_header(const std::string& id) {
  RunRecord run;
  run.id = id;
  run.created = "2026-01-02T03:04:05Z";
  run.target = "fake";
  run.label = "a label with 'quotes' and \"more\"";
  run.plan_json = R"({"cells":[]})";
  run.prompts_digest = "00ff";
  run.fingerprint.id = "f1";
  run.fingerprint.items = {
      {FingerprintClass::kModel, "weights.stored_root", "ab", FingerprintSource::kMeasured, ""},
      {FingerprintClass::kHardware, "gpu", "", FingerprintSource::kUnknown, "no driver library"},
  };
  for (int32_t i = 0; i < 3; ++i) {
    Request request;
    request.id = "p" + std::to_string(i);
    request.prompt_token_ids = {1, 2, 3 + i};
    request.sampling.n = i == 1 ? 2 : 1;
    run.requests.push_back(request);
    run.prompt_texts.push_back("text " + std::to_string(i));
  }
  Request& special = run.requests[2];
  special.forced_token_ids = {7, 8};
  special.max_tokens = 99;
  special.n_top = 0;
  special.tags = {"a", "b\"c"};
  special.stop = {.strings = {"\n\n", "\xc3\xa9"}, .token_ids = {5, 1}, .ignore_eos = true};
  special.sampling.logit_bias = {{3, -1.5}, {9, 2.25}};
  special.sampling.seed = 0xfedcba9876543210u;
  special.sampling.seed_source = SeedSource::kRequest;
  special.sampling.temperature = 0.7;
  special.sampling.top_k = 40;
  special.sampling.top_p = 0.9;
  special.sampling.min_p = 0.05;
  special.sampling.repetition_penalty = 1.1;
  special.sampling.frequency_penalty = -0.5;
  special.sampling.presence_penalty = 0.25;
  for (int32_t i = 0; i < 3; ++i) {
    CellRecord& cell = run.cells.emplace_back();
    cell.index = i;
    cell.name = i == 0 ? "reference" : "load.concurrency=" + std::to_string(8 * i);
    cell.values = {{"load.concurrency", i == 0 ? "1" : std::to_string(8 * i)},
                   {"engine.kernel_set", "cpu"}};
  }
  return run;
}

inline Trace sample_trace(const Request& request, int32_t choice, int32_t n_positions) {
  Trace trace;
  trace.request_id = request.id;
  trace.sample_index = choice;
  trace.seed = request.sampling.seed;
  trace.text = "an answer";
  trace.ttft_ms = 0.25;
  trace.total_ms = 3.5;
  trace.scheduling = {.max_batch_requests = 8,
                      .min_batch_requests = 2,
                      .max_batch_tokens = 100,
                      .first_row = 3,
                      .prefill_chunks_tokens = {16, 16, 4},
                      .n_steps = 12,
                      .n_mixed_steps = 5,
                      .n_cached_tokens = 1,
                      .n_preemptions = 2};
  for (int32_t i = 0; i < n_positions; ++i) {
    TracePosition& p = trace.positions.emplace_back();
    p.token_id = 100 * (choice + 1) + i;
    p.logprob = -0.1f * static_cast<float>(i + 1);
    p.margin = 0.5f + static_cast<float>(i);
    p.logits_hash.emplace().fill(static_cast<uint8_t>(i + 1));
    for (int32_t k = 0; k < 5; ++k)
      p.top.push_back({p.token_id + k, p.logprob - static_cast<float>(k)});
  }
  return trace;
}

// Every sample of a run, two repeats of the reference cell and of the last one, in the order in
// which they are read back.
inline std::vector<SampleRecord> sample_answers(const RunRecord& run, int32_t n_positions) {
  std::vector<SampleRecord> out;
  for (const CellRecord& cell : run.cells) {
    for (size_t p = 0; p < run.requests.size(); ++p) {
      for (int32_t repeat = 0; repeat < (cell.index == 1 ? 1 : 2); ++repeat) {
        for (int32_t choice = 0; choice < run.requests[p].sampling.n; ++choice) {
          SampleRecord& s = out.emplace_back();
          s.cell_index = cell.index;
          s.prompt_index = static_cast<int32_t>(p);
          s.repeat = repeat;
          s.trace = sample_trace(run.requests[p], choice, n_positions);
        }
      }
    }
  }
  return out;
}

// Records samples and ends every cell; the third cell was not exercised.
inline void record_all(Store& store, const RunRecord& run,
                       const std::vector<SampleRecord>& samples) {
  const auto recorder = store.recorder(run.id);
  for (CellRecord cell : run.cells) {
    recorder->begin_cell(cell);
    for (const SampleRecord& s : samples) {
      if (s.cell_index == cell.index) REQUIRE(recorder->sample(s) == Landing::kStored);
    }
    cell.complete = true;
    cell.exercised = cell.index != 2;
    cell.not_exercised_reason = cell.exercised ? "" : "planted";
    cell.wall_ms = 12.5;
    recorder->end_cell(cell);
  }
}

}  // namespace isobit::testing
