// A mixture gives a row the same bits wherever a long step is cut.
#include "engine/experts.h"

#include <doctest/doctest.h>

#include <cstring>

#include "kernels/registry.h"
#include "tests/engine/architecture_fixture.h"
#include "tests/kernels/reference_case.h"

namespace isobit::testing {

TEST_CASE("the rows of a mixture do not depend on how many outputs are kept at once") {
  const Json fixture = architecture_fixture("mixtral");
  const WrittenModel written(fixture["config"], fixture["tensors"]);
  const Checkpoint& checkpoint = written.checkpoint();
  const ModelConfig& config = checkpoint.config();
  ThreadPool pool(2);
  const KernelSet& kernels = kernel_set("cpu");
  WeightLoader loader(checkpoint, kernels, pool);
  const LayerWeights layer = loader.layer(0);
  constexpr int64_t kRows = 23;
  const std::vector<float> x = test::rough_values(kRows * config.hidden_size, 3);
  const auto run = [&](int64_t rows_at_once) {
    ExpertBuffers buffers;
    buffers.most_output_floats =
        rows_at_once * config.experts.top_k * config.n_segments() * config.hidden_size;
    std::vector<float> out(x.size());
    mix_experts(layer, config, kernels, x.data(), kRows, out.data(), buffers, pool);
    return out;
  };
  const std::vector<float> whole = run(kRows);
  for (const int64_t rows_at_once : {0, 1, 5, 22}) {
    CAPTURE(rows_at_once);
    CHECK(test::bits_of(run(rows_at_once)) == test::bits_of(whole));
  }
}

}  // namespace isobit::testing
