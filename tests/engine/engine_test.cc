#include "engine/engine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "base/error.h"
#include "kernels/registry.h"
#include "tests/support/float_control.h"
#include "tests/support/random_checkpoint.h"

using namespace isobit;
using isobit::testing::RandomCheckpoint;

namespace {

// A model with its engine, and answers by (request id, sample index).
struct Bench {
  explicit Bench(const Checkpoint& checkpoint, const KernelSet& kernels, int n_threads = 2)
      : pool(n_threads), model(checkpoint, kernels, pool), engine(model, token_bytes, pool) {}

  using Answers = std::map<std::pair<std::string, int32_t>, Trace>;
  Answers run(const std::vector<Request>& requests, const EngineOptions& options) {
    Answers answers;
    engine.run(requests, options, [&](size_t, Trace t) {
      const auto key = std::make_pair(t.request_id, t.sample_index);
      REQUIRE(answers.emplace(key, std::move(t)).second);
    });
    return answers;
  }

  std::vector<std::string> token_bytes = std::vector<std::string>(512, "x");
  ThreadPool pool;
  Model model;
  Engine engine;
};

std::vector<Request> mixed_requests() {
  std::vector<Request> out;
  const int lengths[] = {1, 3, 16, 17, 40, 130};
  for (size_t i = 0; i < std::size(lengths); ++i) {
    Request r;
    r.id = "r" + std::to_string(i);
    for (int t = 0; t < lengths[i]; ++t)
      r.prompt_token_ids.push_back((t * 37 + static_cast<int>(i) * 11) % 307);
    r.max_tokens = 6 + static_cast<int>(i);
    if (i % 2) {
      r.sampling.temperature = 0.8;
      r.sampling.seed = 99 + i;
    }
    out.push_back(std::move(r));
  }
  return out;
}

void check_same(const Bench::Answers& a, const Bench::Answers& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [key, t] : a) {
    INFO("request " << key.first);
    const Trace& u = b.at(key);
    REQUIRE(t.positions.size() == u.positions.size());
    for (size_t i = 0; i < t.positions.size(); ++i) {
      INFO("position " << i);
      CHECK(t.positions[i].token_id == u.positions[i].token_id);
      CHECK(t.positions[i].logits_hash == u.positions[i].logits_hash);
      CHECK(std::memcmp(&t.positions[i].logprob, &u.positions[i].logprob, 4) == 0);
    }
  }
}

EngineOptions options(int64_t concurrency, int64_t chunk = 0, int64_t budget = 2048) {
  EngineOptions o;
  o.max_batch_requests = concurrency;
  o.limits.max_batch_tokens = budget;
  if (chunk) o.limits.prefill_chunk_tokens = chunk;
  return o;
}

}  // namespace

TEST_CASE("an answer does not depend on company, chunking, budget or threads") {
  const RandomCheckpoint checkpoint;
  const std::vector<Request> requests = mixed_requests();
  for (const char* set : {"reference", "cpu"}) {
    INFO("kernel set " << set);
    Bench bench(checkpoint, kernel_set(set));
    const auto alone = bench.run(requests, options(1));
    for (const int64_t concurrency : {2, 6}) {
      for (const int64_t chunk : {0, 1, 16, 50})
        check_same(alone, bench.run(requests, options(concurrency, chunk)));
    }
    check_same(alone, bench.run(requests, options(6, 0, 20)));
    std::vector<Request> reversed(requests.rbegin(), requests.rend());
    check_same(alone, bench.run(reversed, options(4, 7)));
    Bench one_thread(checkpoint, kernel_set(set), 1), three_threads(checkpoint, kernel_set(set), 3);
    check_same(alone, one_thread.run(requests, options(3)));
    check_same(alone, three_threads.run(requests, options(3)));
  }
}

TEST_CASE("an embedding is the mean of the final rows, the same bits in any company") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("cpu"));
  EngineOptions options;
  options.record_embeddings = true;
  const std::vector<Request> requests = mixed_requests();
  std::map<std::pair<size_t, int32_t>, std::vector<double>> sums;
  Bench::Answers alone;
  for (const Request& request : requests) {
    std::vector<double> sum;
    bench.engine.run(
        {request}, options,
        [&](size_t, Trace t) { alone.emplace(std::pair(t.request_id, t.sample_index), t); }, {},
        [&](int64_t, std::span<const ProbedRow>, const OperatorOutput& output) {
          if (output.op != Operator::kFinalNorm) return;
          sum.resize(static_cast<size_t>(output.width));
          for (size_t i = 0; i < sum.size(); ++i) sum[i] += output.values[i];
        });
    const Trace& trace = alone.at({request.id, 0});
    REQUIRE(trace.embedding.size() == sum.size());
    for (size_t i = 0; i < sum.size(); ++i) {
      CHECK(trace.embedding[i] ==
            static_cast<float>(sum[i] / static_cast<double>(trace.positions.size())));
    }
  }
  options.max_batch_requests = 6;
  options.limits.prefill_chunk_tokens = 7;
  const Bench::Answers together = bench.run(requests, options);
  for (const auto& [key, trace] : alone) CHECK(together.at(key).embedding == trace.embedding);
  options.record_embeddings = false;
  for (const auto& [key, trace] : bench.run(requests, options)) CHECK(trace.embedding.empty());
}

TEST_CASE("every available instruction set of the cpu set gives the reference's bits, end to end") {
  testing::RandomSizes sizes;
  sizes.qkv_bias = true;
  sizes.tied_head = false;
  sizes.intermediate_size = 384;  // R = gcd(4, 384, 24) = 4; 96 is a multiple of 32
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    sizes.dtype = dtype;
    const RandomCheckpoint checkpoint(sizes, 7);
    const std::vector<Request> requests = mixed_requests();
    const auto expected = Bench(checkpoint, kernel_set("reference")).run(requests, options(3));
    for (const KernelSetStatus& status : list_kernel_sets()) {
      if (status.name != "cpu" || !status.available) continue;
      INFO("instruction set " << status.isa);
      check_same(expected,
                 Bench(checkpoint, kernel_set("cpu", status.isa)).run(requests, options(3)));
    }
  }
}

TEST_CASE("n choices of one request are drawn apart, and greedy ones agree") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("reference"));
  std::vector<Request> requests = {mixed_requests()[3]};
  requests[0].sampling.n = 4;
  requests[0].sampling.temperature = 3;
  const auto answers = bench.run(requests, options(2));
  REQUIRE(answers.size() == 4);
  std::vector<std::vector<int32_t>> tokens;
  for (const auto& [key, t] : answers) {
    tokens.emplace_back();
    for (const auto& p : t.positions) tokens.back().push_back(p.token_id);
  }
  std::sort(tokens.begin(), tokens.end());
  CHECK(std::unique(tokens.begin(), tokens.end()) == tokens.end());
  check_same(answers, bench.run(requests, options(4, 3)));
}

TEST_CASE(
    "forced tokens are scored, not chosen, and the scores are those of the free run that took "
    "them") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("reference"));
  Request r = mixed_requests()[2];
  const Trace free = bench.run({r}, options(1)).begin()->second;
  for (const auto& p : free.positions) r.forced_token_ids.push_back(p.token_id);
  check_same({{{r.id, 0}, free}}, bench.run({r}, options(1)));
  r.forced_token_ids[0] = (r.forced_token_ids[0] + 1) % 307;
  const Trace other = bench.run({r}, options(1)).begin()->second;
  CHECK(other.positions[0].logits_hash == free.positions[0].logits_hash);
  CHECK(other.positions[0].logprob < free.positions[0].logprob);
  CHECK(other.positions[1].logits_hash != free.positions[1].logits_hash);
}

TEST_CASE("the trace says what the scheduler did") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("cpu"));
  const auto answers = bench.run(mixed_requests(), options(6, 16));
  const SchedulingFacts& longest = answers.at({"r5", 0}).scheduling;
  CHECK(longest.prefill_chunks_tokens == std::vector<int32_t>{16, 16, 16, 16, 16, 16, 16, 16, 2});
  CHECK(longest.max_batch_requests == 6);
  CHECK(longest.n_mixed_steps > 0);
  CHECK(answers.at({"r0", 0}).scheduling.first_row == 0);
}

TEST_CASE("a request that arrives later meets the others where they are, with the same answer") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("cpu"));
  const std::vector<Request> requests = mixed_requests();
  const auto together = bench.run(requests, options(6));
  EngineOptions apart = options(6);
  apart.arrival_steps = {0, 4, 0, 100, 2, 1};  // 100: after everyone else has gone
  const auto answers = bench.run(requests, apart);
  check_same(together, answers);
  CHECK(together.at({"r1", 0}).scheduling.n_mixed_steps == 0);
  CHECK(answers.at({"r1", 0}).scheduling.n_mixed_steps > 0);
  CHECK(answers.at({"r3", 0}).scheduling.max_batch_requests == 1);
}

TEST_CASE("requests that the model cannot take are refused before anything runs") {
  const RandomCheckpoint checkpoint;
  Bench bench(checkpoint, kernel_set("reference"));
  Request r = mixed_requests()[0];
  const auto refuses = [&](const char* text) {
    CHECK_THROWS_WITH_AS(bench.run({mixed_requests()[1], r}, options(1)), doctest::Contains(text),
                         Error);
  };
  r.max_tokens = 2000;
  refuses("context of 1024");
  r.max_tokens = 0;
  refuses("max_tokens");
  r.max_tokens = 1;
  r.prompt_token_ids = {307};
  refuses("outside the vocabulary");
  r.prompt_token_ids.clear();
  refuses("no tokens");
}

TEST_CASE("an infinity in a row ends the answer as a finding and leaves neighbours alone") {
  RandomCheckpoint checkpoint;
  // An embedding row that overflows: only the request that contains token 5 meets it.
  TensorView& embedding = checkpoint.mutable_tensors().at("model.embed_tokens.weight");
  std::vector<std::byte> bytes(embedding.bytes.begin(), embedding.bytes.end());
  for (int i = 0; i < 160; ++i) {
    const float huge = i % 2 ? 3e38f : -3e38f;
    std::memcpy(bytes.data() + (5 * 160 + i) * 4, &huge, 4);
  }
  embedding.bytes = bytes;
  Bench bench(checkpoint, kernel_set("reference"));
  std::vector<Request> requests(2, mixed_requests()[1]);
  requests[0].prompt_token_ids = {1, 5, 2};
  requests[1].id = "clean";
  requests[1].prompt_token_ids = {1, 6, 2};
  const auto answers = bench.run(requests, options(2));
  CHECK(answers.at({"r1", 0}).non_finite);
  CHECK(answers.at({"r1", 0}).finish_reason == FinishReason::kError);
}

#if defined(ISOBIT_CAN_FLUSH_SUBNORMALS)
TEST_CASE("a caller that flushes subnormals gets the same answers, and flushes no more") {
  const testing::FloatControlGuard guard;
  testing::RandomSizes sizes;
  sizes.dtype = DType::kQ8_0;  // its weights are products, in whole blocks of 32
  sizes.head_dim = 40;
  const RandomCheckpoint checkpoint(sizes);
  Bench clean(checkpoint, kernel_set("cpu"), 1);
  const auto expected = clean.run(mixed_requests(), options(3));
  for (const testing::FloatFault& fault : testing::kFloatFaults) {
    CAPTURE(fault.name);
    testing::plant(fault);
    Bench bench(checkpoint, kernel_set("cpu"), 1);
    CHECK(testing::keeps_subnormals());
    testing::plant(fault);
    check_same(expected, bench.run(mixed_requests(), options(3)));
    CHECK(testing::keeps_subnormals());
  }
}
#endif

TEST_CASE("a tensor of a wrong shape is refused with both shapes") {
  RandomCheckpoint checkpoint;
  checkpoint.mutable_tensors().at("model.layers.1.mlp.up_proj.weight").shape = {352, 161};
  ThreadPool pool(1);
  CHECK_THROWS_WITH_AS(Model(checkpoint, kernel_set("reference"), pool),
                       doctest::Contains("(352, 161), the configuration asks for (352, 160)"),
                       Error);
}
