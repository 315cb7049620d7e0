// The probe shows every operator of every layer in the contract's order, and the first difference
// is the planted one: its position, layer, operator, element and both bit patterns.
#include "engine/operator_difference.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "kernels/registry.h"
#include "tests/support/random_checkpoint.h"

using namespace isobit;

namespace {

// Three prompt rows, then two generated tokens, one of which is computed: four rows.
struct Execution {
  explicit Execution(const char* set) : model(checkpoint, kernel_set(set), pool) {}

  void operator()(const OperatorSink& sink) {
    Request r;
    r.id = "r";
    r.prompt_token_ids = {5, 6, 7};
    r.max_tokens = 2;
    Engine(model, token_bytes, pool)
        .run(
            {r}, {}, [](size_t, Trace) {}, {}, sink);
  }

  testing::RandomCheckpoint checkpoint;
  ThreadPool pool{1};
  Model model;
  std::vector<std::string> token_bytes = std::vector<std::string>(512, "x");
};

// Moves one value of one row by an ulp on its way to the sink.
ProbedExecution with_ulp_at(Execution& execution, int32_t position, int64_t layer, Operator op,
                            int64_t element) {
  return [=, &execution](const OperatorSink& sink) {
    execution([&](int64_t step, std::span<const ProbedRow> rows, const OperatorOutput& out) {
      std::vector<float> values(out.values, out.values + out.n_rows * out.width);
      for (size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].position != position || out.layer != layer || out.op != op) continue;
        float& v = values[r * static_cast<size_t>(out.width) + static_cast<size_t>(element)];
        v = std::nextafterf(v, HUGE_VALF);
      }
      OperatorOutput changed = out;
      changed.values = values.data();
      sink(step, rows, changed);
    });
  };
}

ProbedChoice choice(ProbedExecution execute) {
  return {.execute = std::move(execute), .request_index = 0, .sample_index = 0};
}

}  // namespace

const std::set<Operator> kNotInLlama = {Operator::kQueryKeyNorm, Operator::kAttentionOutNorm,
                                        Operator::kRouter,       Operator::kGeluMul,
                                        Operator::kExperts,      Operator::kMlpOutNorm};

TEST_CASE("a probe sees every operator of every layer, in order, with the rows it computed") {
  Execution execution("reference");
  std::vector<std::string> seen, expected;
  execution([&](int64_t step, std::span<const ProbedRow> rows, const OperatorOutput& out) {
    CHECK(static_cast<int64_t>(rows.size()) == out.n_rows);
    CHECK(rows.back().position == (step == 0 ? 2 : 3));
    seen.push_back(std::to_string(out.layer) + " " + name(out.op));
  });
  for (int step = 0; step < 2; ++step) {
    expected.push_back("0 embed");
    for (int layer = 0; layer < 2; ++layer) {
      for (auto op = static_cast<uint8_t>(Operator::kAttentionNorm);
           op <= static_cast<uint8_t>(Operator::kMlpResidual); ++op) {
        if (kNotInLlama.contains(static_cast<Operator>(op))) continue;
        expected.push_back(std::to_string(layer) + " " + name(static_cast<Operator>(op)));
      }
    }
    expected.push_back("2 rms_norm (final)");
    expected.push_back("2 matmul (head)");
  }
  CHECK(seen == expected);
}

TEST_CASE("two sets that promise the same bits show no difference in any operator") {
  Execution reference("reference"), cpu("cpu");
  CHECK_FALSE(first_operator_difference(choice(std::ref(reference)), choice(std::ref(cpu))));
}

TEST_CASE("one ulp of one operator's row is located") {
  Execution execution("cpu");
  const auto difference = first_operator_difference(
      choice(std::ref(execution)), choice(with_ulp_at(execution, 3, 1, Operator::kSiluMul, 350)));
  REQUIRE(difference);
  CHECK(difference->position == 3);
  CHECK(difference->layer == 1);
  CHECK(difference->op == Operator::kSiluMul);
  CHECK(difference->element == 350);
  CHECK(difference->candidate == std::nextafterf(difference->reference, HUGE_VALF));
  CHECK(difference->reference_step == 1);
  CHECK(describe(*difference).starts_with("position 3, layer 1, silu_mul, element 350: 0x"));
}

TEST_CASE("an execution that does not repeat itself is an error, not a difference") {
  Execution execution("cpu");
  int n_executions = 0;
  const auto only_at_first = [&](const OperatorSink& sink) {
    if (n_executions++ == 0)
      with_ulp_at(execution, 1, 0, Operator::kDown, 0)(sink);
    else
      execution(sink);
  };
  CHECK_THROWS_WITH_AS(
      first_operator_difference(choice(std::ref(execution)), choice(only_at_first)),
      doctest::Contains("does not repeat itself: matmul (down) of layer 0 at position 1"), Error);
}
