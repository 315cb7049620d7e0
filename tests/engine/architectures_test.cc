// Every architecture against transformers in f32, and the promise of bits for each.
//
// The models are tiny, with weights by formula (tests/support/formula_weights.h); the logits come
// from scripts/oracle/architectures.py, in which nothing of isobit takes part. The tolerance is the
// fixtures': 2e-5 of a row's largest logit, some four times what another order of f32 sums makes of
// these models (5.2e-6 at most). isobit's side of the difference is the same on every machine. A
// wrong operator is far beyond it: architecture_faults_test.cc.
#include <doctest/doctest.h>

#include <cstdio>

#include "base/error.h"
#include "engine/row_scores.h"
#include "kernels/registry.h"
#include "tests/engine/architecture_fixture.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// Null, and a failed check that says why, when the checkpoint cannot be opened.
std::unique_ptr<WrittenModel> opened(const std::string& name, const Json& config,
                                     const Json& tensors) {
  try {
    return std::make_unique<WrittenModel>(config, tensors);
  } catch (const Error& e) {
    const std::string problem = name + ": " + e.what();
    FAIL_CHECK(problem);
    return nullptr;
  }
}

EngineOptions schedule(KvDType kv_dtype, int64_t max_batch_requests = 1, int64_t chunk_tokens = 0) {
  EngineOptions options;
  options.kv_dtype = kv_dtype;
  options.max_batch_requests = max_batch_requests;
  if (chunk_tokens > 0) options.limits.prefill_chunk_tokens = chunk_tokens;
  return options;
}

Rows rows_of(const Checkpoint& checkpoint, const Json& fixture, const KernelSet& kernels,
             const EngineOptions& options, int n_threads = 1) {
  ThreadPool pool(n_threads);
  return computed_rows(Model(checkpoint, kernels, pool), fixture, options, pool);
}

// The same bits in every row; says where the first difference is.
void check_same_rows(const Rows& expected, const Rows& found) {
  REQUIRE(expected.size() == found.size());
  for (const auto& [key, row] : expected) {
    INFO("prompt " << key.first << ", position " << key.second);
    const std::vector<float>& other = found.at(key);
    REQUIRE(row.size() == other.size());
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::bit_cast<uint32_t>(row[i]) == std::bit_cast<uint32_t>(other[i])) continue;
      FAIL_CHECK("logit " << i << ": expected bits " << std::bit_cast<uint32_t>(row[i])
                          << ", found " << std::bit_cast<uint32_t>(other[i]));
      break;
    }
  }
}

}  // namespace

TEST_CASE("the architectures' fixtures are there") {
  CHECK(architecture_names().size() == 23);
}

TEST_CASE("each architecture's logits are transformers' in f32, within 2e-5 of a row's largest") {
  for (const std::string& name : architecture_names()) {
    const Json fixture = architecture_fixture(name);
    const auto model = opened(name, fixture["config"], fixture["tensors"]);
    if (!model) continue;
    CAPTURE(name);
    const Rows rows =
        rows_of(model->checkpoint(), fixture, kernel_set("cpu"), schedule(KvDType::kF32));
    const Difference worst = difference(fixture, rows);
    std::printf("%s: %d rows, largest difference %.1e of the row's maximum\n", name.c_str(),
                worst.n_rows, worst.share);
    CAPTURE(worst.prompt);
    CAPTURE(worst.position);
    CAPTURE(worst.token_id);
    CHECK(worst.n_rows == 33);
    CHECK(worst.share <= fixture["tolerance"].get<double>());
    // And so are the reference's, whose bits they are.
    check_same_rows(rows, rows_of(model->checkpoint(), fixture, kernel_set("reference"),
                                  schedule(KvDType::kF32, 16, 50), 2));
  }
}

TEST_CASE("each architecture's bits do not depend on chunks, company, threads or instructions") {
  for (const std::string& name : architecture_names()) {
    const Json fixture = architecture_fixture(name);
    const auto model = opened(name, fixture["config"], fixture["tensors"]);
    if (!model) continue;
    CAPTURE(name);
    const Checkpoint& checkpoint = model->checkpoint();
    const KernelSet& cpu = kernel_set("cpu");
    for (const KvDType kv : {KvDType::kF32, KvDType::kF16, KvDType::kBF16}) {
      const Rows alone = rows_of(checkpoint, fixture, cpu, schedule(kv));
      for (const int64_t chunk : {1, 7, 33, 128}) {
        CAPTURE(chunk);
        check_same_rows(alone, rows_of(checkpoint, fixture, cpu, schedule(kv, 1, chunk)));
        check_same_rows(alone, rows_of(checkpoint, fixture, cpu, schedule(kv, 5, chunk), 2));
      }
      if (kv != KvDType::kF16) continue;
      for (const KernelSetStatus& status : list_kernel_sets()) {
        if (status.name != "cpu" || !status.available) continue;
        CAPTURE(status.isa);
        const KernelSet& set = kernel_set("cpu", status.isa);
        check_same_rows(alone, rows_of(checkpoint, fixture, set, schedule(kv, 16), 2));
      }
    }
  }
}

TEST_CASE("the older spelling of a configuration is the same model, in bits") {
  for (const std::string& name : architecture_names()) {
    const Json fixture = architecture_fixture(name);
    const auto model = opened(name, fixture["config"], fixture["tensors"]),
               older =
                   opened(name + ", older spelling", fixture["older_config"], fixture["tensors"]);
    if (!model || !older) continue;
    CAPTURE(name);
    const KernelSet& cpu = kernel_set("cpu");
    const EngineOptions options = schedule(KvDType::kF32, 16);
    check_same_rows(rows_of(model->checkpoint(), fixture, cpu, options),
                    rows_of(older->checkpoint(), fixture, cpu, options));
  }
}
