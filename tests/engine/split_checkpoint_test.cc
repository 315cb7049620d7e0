// How a checkpoint is cut into files says nothing about the model: the bundled one, written as a
// GGUF, has the same logits to the bit in one file and in several. (Not those of its folder: a GGUF
// has the norms' epsilon as a binary32, the folder as a decimal.)
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "checkpoint/open.h"
#include "kernels/registry.h"
#include "tests/checkpoint/written_checkpoint.h"
#include "tests/goldens/golden_models.h"
#include "tests/goldens/model_digest.h"

namespace isobit::testing {
namespace {

using test::GgufWriter;
using test::little_endian;
using test::TemporaryFolder;

std::string bytes_of_rows(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size()};
}

// Q and K of the llama architecture are stored with the rows of a head's two halves in turn.
std::string stored_rows(const TensorView& view, int64_t n_heads) {
  const std::string rows = bytes_of_rows(view);
  const auto row_bytes = static_cast<size_t>(view.row_elems()) * 2;
  const int64_t head_dim = view.n_rows() / n_heads;
  std::string out;
  for (int64_t row = 0; row < view.n_rows(); ++row) {
    const int64_t i = row % head_dim;
    const int64_t from = row - i + (i % 2) * (head_dim / 2) + i / 2;
    out += rows.substr(static_cast<size_t>(from) * row_bytes, row_bytes);
  }
  return out;
}

void add_tensor(GgufWriter& writer, const TensorView& view, const ModelConfig& config) {
  REQUIRE(view.dtype == DType::kBF16);
  constexpr uint32_t kBf16 = 30;
  const bool is_q = view.name.ends_with("q_proj.weight"),
             is_k = view.name.ends_with("k_proj.weight");
  writer.tensor(test::gguf_name(view.name), kBf16, view.shape,
                is_q || is_k ? stored_rows(view, is_q ? config.n_heads : config.n_kv_heads)
                             : bytes_of_rows(view));
}

test::SmallModel sizes_of(const ModelConfig& c) {
  return {.hidden = c.hidden_size,
          .intermediate = c.intermediate_size,
          .n_layers = c.n_layers,
          .n_heads = c.n_heads,
          .n_kv_heads = c.n_kv_heads,
          .head_dim = c.head_dim,
          .vocab = c.vocab_size,
          .max_positions = c.max_positions};
}

// The bundled checkpoint in `n_files` files, tensors dealt in turn; the path of the first.
std::filesystem::path write_gguf(const Checkpoint& checkpoint, size_t n_files,
                                 const TemporaryFolder& folder) {
  std::vector<GgufWriter> files(n_files);
  files[0] = test::gguf_metadata(sizes_of(checkpoint.config()));
  for (size_t i = 0; n_files > 1 && i < n_files; ++i) {
    files[i]
        .u32("split.no", static_cast<uint32_t>(i))
        .u32("split.count", static_cast<uint32_t>(n_files))
        .u32("split.tensors.count", static_cast<uint32_t>(checkpoint.tensors().size()));
  }
  size_t next = 0;
  for (const auto& [name, view] : checkpoint.tensors())
    add_tensor(files[next++ % n_files], view, checkpoint.config());
  std::filesystem::path first;
  for (size_t i = n_files; i-- > 0;) {
    const std::string name = n_files == 1 ? "m.gguf"
                                          : "m-0000" + std::to_string(i + 1) + "-of-0000" +
                                                std::to_string(n_files) + ".gguf";
    first = folder.write(name, files[i].bytes());
  }
  return first;
}

}  // namespace

TEST_CASE("the bundled checkpoint has the same bits as a GGUF in one file, in two and in five") {
  const auto checkpoint = open_checkpoint(std::string(ISOBIT_SOURCE_DIR) + "/examples/tiny-kjv");
  std::string whole;
  for (const size_t n_files : {size_t{1}, size_t{2}, size_t{5}}) {
    CAPTURE(n_files);
    const TemporaryFolder folder;
    const auto gguf = open_checkpoint(write_gguf(*checkpoint, n_files, folder));
    CHECK(gguf->files().size() == n_files);
    const std::string digest =
        model_digest(*gguf, kernel_set("cpu"), KvDType::kF16, kBundledPromptLengths);
    if (n_files == 1) whole = digest;
    CHECK(digest == whole);
  }
}

}  // namespace isobit::testing
