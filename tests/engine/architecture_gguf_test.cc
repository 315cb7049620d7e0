// Each architecture as llama.cpp's converter writes it: the fixtures hold its metadata and which
// tensor is which (scripts/oracle/architecture_gguf.py), so that the file can be written here. It
// must give the bits of the safetensors checkpoint of the same configuration.
//
// Two kinds of files do not hold the same numbers, only close ones: `rope_freqs` (Llama 3) are
// ratios of frequencies that the converter rounds, and Phi-3's factor of attention is an F32. For
// those the logits must be as near to transformers as the checkpoint's own.
#include <doctest/doctest.h>

#include <cstdio>

#include "base/error.h"
#include "kernels/registry.h"
#include "tests/engine/architecture_fixture.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

constexpr uint32_t kGgufU32 = 4, kGgufF32 = 6, kGgufBool = 7, kGgufString = 8;

void write_metadata(test::GgufWriter& writer, const Json& entry) {
  const std::string key = entry[0];
  const auto type = entry[1][0].get<uint32_t>();
  const Json& value = entry[2];
  if (type == kGgufU32) writer.u32(key, value);
  if (type == kGgufF32) writer.f32(key, value);
  if (type == kGgufBool) writer.boolean(key, value.get<bool>());
  if (type == kGgufString) writer.string(key, value.get<std::string>());
  const bool known =
      type == kGgufU32 || type == kGgufF32 || type == kGgufBool || type == kGgufString;
  REQUIRE_MESSAGE(known, key << " has type " << type);
}

std::vector<float> formula_values(const FormulaTensor& tensor) {
  std::vector<float> values;
  const uint64_t start = fnv1a(tensor.name);
  for (size_t i = 0; i < tensor.n_elements(); ++i)
    values.push_back(formula_value(tensor, formula_bits(start, i)));
  return values;
}

// "as stored", "plus one", "interleaved N".
std::vector<float> in_order(std::vector<float> values, const std::vector<int64_t>& shape,
                            const std::string& order) {
  if (order == "plus one") {
    for (float& v : values) v += 1;
  } else if (order.starts_with("interleaved ")) {
    const int64_t n_heads = std::stoll(order.substr(order.find(' ')));
    const int64_t width = static_cast<int64_t>(values.size()) / shape[0];  // 1 for a bias
    return test::interleaved({{shape[0], width}, std::move(values)}, n_heads).values;
  } else {
    REQUIRE(order == "as stored");
  }
  return values;
}

std::vector<float> tensor_values(const Json& stored, const Json& tensors) {
  if (stored.contains("values")) return stored["values"].get<std::vector<float>>();
  std::vector<float> values;
  for (const std::string source : stored["source"]) {
    const auto it = std::find_if(tensors.begin(), tensors.end(),
                                 [&](const Json& t) { return t["name"] == source; });
    REQUIRE(it != tensors.end());
    const std::vector<float> part = formula_values(formula_tensor(*it));
    values.insert(values.end(), part.begin(), part.end());
  }
  return in_order(std::move(values), stored["shape"], stored["order"]);
}

std::string gguf_bytes(const Json& fixture) {
  test::GgufWriter writer;
  for (const Json& entry : fixture["gguf"]["metadata"]) write_metadata(writer, entry);
  std::vector<std::string> tokens;
  for (int i = 0; i < 151; ++i) tokens.push_back("t" + std::to_string(i));
  writer.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", tokens);
  for (const Json& stored : fixture["gguf"]["tensors"]) {
    writer.tensor(stored["name"].get<std::string>(), 0, stored["shape"],
                  test::f32_bytes(tensor_values(stored, fixture["tensors"])));
  }
  return writer.bytes();
}

Rows rows_of(const Checkpoint& checkpoint, const Json& fixture) {
  EngineOptions options;
  options.kv_dtype = KvDType::kF32;
  options.max_batch_requests = 16;
  ThreadPool pool(2);
  return computed_rows(Model(checkpoint, kernel_set("cpu"), pool), fixture, options, pool);
}

bool holds_rounded_rope(const Json& fixture) {
  for (const Json& stored : fixture["gguf"]["tensors"]) {
    const std::string name = stored["name"];
    if (name == "rope_freqs.weight" || name.starts_with("rope_factors_")) return true;
  }
  for (const Json& entry : fixture["gguf"]["metadata"]) {
    const bool factor = entry[0].get<std::string>().ends_with("rope.scaling.attn_factor");
    if (factor && entry[2] != 1.0) return true;
  }
  return false;
}

void check_gguf(const Json& fixture) {
  const test::TemporaryFolder folder;
  const auto gguf = open_checkpoint(folder.write("model.gguf", gguf_bytes(fixture)));
  const Rows rows = rows_of(*gguf, fixture);
  if (holds_rounded_rope(fixture)) {
    CHECK(fixture["gguf"]["config"] == fixture["config"]);
    CHECK(difference(fixture, rows).share <= fixture["tolerance"].get<double>());
    return;
  }
  const WrittenModel written(fixture["gguf"]["config"], fixture["tensors"]);
  const Rows expected = rows_of(written.checkpoint(), fixture);
  REQUIRE(rows.size() == expected.size());
  for (const auto& [key, row] : expected) {
    CAPTURE(key.first);
    CAPTURE(key.second);
    const std::vector<float>& other = rows.at(key);
    REQUIRE(other.size() == row.size());
    CHECK(std::memcmp(row.data(), other.data(), row.size() * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("a GGUF of each architecture, as llama.cpp's converter writes it, is the same model") {
  int n_checked = 0;
  for (const std::string& name : architecture_names()) {
    const Json fixture = architecture_fixture(name);
    if (!fixture.contains("gguf")) continue;
    CAPTURE(name);
    try {
      check_gguf(fixture);
      ++n_checked;
    } catch (const Error& e) {
      FAIL_CHECK(std::string(e.what()));
    }
  }
  CHECK(n_checked == 19);
}
