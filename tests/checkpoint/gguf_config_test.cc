// What the metadata of a GGUF leaves out because llama.cpp's code has it, and what it may say
// instead.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "checkpoint/gguf_checkpoint.h"
#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

ModelConfig read_with(
    const std::string& architecture, int64_t n_layers,
    const std::function<void(GgufWriter&)>& add = [](GgufWriter&) {}) {
  SmallModel model;
  model.n_layers = n_layers;
  model.max_positions = 8192;
  GgufWriter writer = gguf_metadata(model, architecture);
  add(writer);
  writer.tensor("token_embd.weight", 0, {model.vocab, model.hidden},
                f32_bytes(std::vector<float>(static_cast<size_t>(model.vocab * model.hidden), 1)));
  const TemporaryFolder folder;
  return read_gguf_config(GgufFile(folder.write("m.gguf", writer.bytes())));
}

}  // namespace

TEST_CASE("Gemma 3: another theta under a window, 10000 unless the file says it") {
  const auto with_window = [](GgufWriter& w) { w.u32("gemma3.attention.sliding_window", 512); };
  CHECK(read_with("gemma3", 12, with_window).ropes.size() == 1);  // the global one is 10000 here
  const ModelConfig other = read_with("gemma3", 12, [&](GgufWriter& w) {
    with_window(w), w.f32("gemma3.rope.freq_base_swa", 5000.0f);
  });
  REQUIRE(other.ropes.size() == 2);
  CHECK(other.ropes[1].theta == 5000);
  for (int64_t i = 0; i < 12; ++i) {
    CHECK(other.layer(i).rope == (i % 6 == 5 ? 0u : 1u));
    CHECK(other.layer(i).window == (i % 6 == 5 ? 0 : 512));
  }
  const ModelConfig without =
      read_with("gemma3", 12, [](GgufWriter& w) { w.f32("gemma3.rope.freq_base_swa", 5000.0f); });
  CHECK(without.ropes.size() == 1);
}

TEST_CASE("Gemma 2: caps and window are llama.cpp's defaults unless the file says them") {
  const ModelConfig plain = read_with("gemma2", 4);
  CHECK(plain.attention_soft_cap == 50);
  CHECK(plain.final_soft_cap == 30);
  for (int64_t i = 0; i < 4; ++i) CHECK(plain.layer(i).window == (i % 2 == 0 ? 4096 : 0));
  const ModelConfig said = read_with("gemma2", 4, [](GgufWriter& w) {
    w.f32("gemma2.attn_logit_softcapping", 20).f32("gemma2.final_logit_softcapping", 10);
  });
  CHECK(said.attention_soft_cap == 20);
  CHECK(said.final_soft_cap == 10);
  CHECK(refusal([] {
          read_with("gemma2", 4, [](GgufWriter& w) { w.f32("gemma2.attn_logit_softcapping", -1); });
        }).ends_with("is -1.000000, expected a positive number, or 0 for none"));
}

TEST_CASE("Gemma's multiplier of scores is by head_dim, and of the 27B by the width") {
  CHECK(*read_with("gemma2", 4).attention_multiplier == 0.5);                  // 1 / sqrt(4)
  CHECK(*read_with("gemma2", 46).attention_multiplier == 1 / std::sqrt(2.0));  // 4 wide, 2 heads
  CHECK(*read_with("gemma3", 62).attention_multiplier == 1 / std::sqrt(2.0));
  CHECK_FALSE(read_with("llama", 4).attention_multiplier.has_value());
}
