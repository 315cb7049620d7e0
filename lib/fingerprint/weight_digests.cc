#include "fingerprint/weight_digests.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/error.h"
#include "checkpoint/open.h"
#include "fingerprint/merkle.h"
#include "numeric/dequantise.h"

namespace isobit {
namespace {

static_assert(std::endian::native == std::endian::little,
              "digests are taken over little-endian values as they lie in memory");

constexpr size_t kChunkBytes = size_t{16} << 20;

void frame_u64(Sha256& digest, uint64_t value) {
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  digest.update(bytes, sizeof bytes);
}

void frame_shape(Sha256& digest, const std::vector<int64_t>& shape) {
  frame_u64(digest, shape.size());
  for (const int64_t d : shape) frame_u64(digest, static_cast<uint64_t>(d));
}

// Hashes `bytes` in chunks and gives each chunk's pages back.
void update_and_release(Sha256& digest, const Checkpoint& checkpoint,
                        std::span<const std::byte> bytes) {
  for (size_t at = 0; at < bytes.size(); at += kChunkBytes) {
    const auto chunk = bytes.subspan(at, std::min(kChunkBytes, bytes.size() - at));
    digest.update(chunk.data(), chunk.size());
    checkpoint.release(chunk);
  }
}

Sha256Digest stored_digest(const Checkpoint& checkpoint, const TensorView& tensor) {
  Sha256 digest;
  digest.update_framed("isobit stored tensor 1")
      .update_framed(tensor.name)
      .update_framed(name(tensor.dtype));
  frame_shape(digest, tensor.shape);
  update_and_release(digest, checkpoint, tensor.bytes);
  return digest.finish();
}

Sha256Digest canonical_digest(const Checkpoint& checkpoint, const TensorView& tensor) {
  Sha256 digest;
  digest.update_framed("isobit canonical tensor 1").update_framed(tensor.name);
  frame_shape(digest, tensor.shape);
  const int64_t n = tensor.row_elems();
  std::vector<float> row(static_cast<size_t>(n));
  for (int64_t r = 0; r < tensor.n_rows(); ++r) {
    dequantise_tensor_row(tensor, r, row.data());
    digest.update(row.data(), row.size() * sizeof(float));
  }
  checkpoint.release(tensor);
  return digest.finish();
}

// A piece of work: a whole file, or one tensor.
struct Task {
  std::span<const std::byte> bytes;
  const TensorView* tensor = nullptr;
  Sha256Digest* digest = nullptr;
};

bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  const auto begin = reinterpret_cast<uintptr_t>(whole.data()),
             at = reinterpret_cast<uintptr_t>(part.data());
  return at >= begin && at - begin + part.size() <= whole.size();
}

// Each file, followed by its tensors in the order of the file.
std::vector<Task> tasks_in_file_order(const Checkpoint& checkpoint, WeightDigests& out) {
  std::vector<Task> tasks;
  for (size_t f = 0; f < out.files.size(); ++f) {
    const std::span<const std::byte> file = checkpoint.files()[f].bytes;
    tasks.push_back({.bytes = file, .digest = &out.files[f].digest});
    const size_t first = tasks.size();
    size_t t = 0;
    for (const auto& [unused, view] : checkpoint.tensors()) {
      if (lies_in(view.bytes, file))
        tasks.push_back({.bytes = view.bytes, .tensor = &view, .digest = &out.tensors[t].digest});
      ++t;
    }
    std::sort(tasks.begin() + static_cast<std::ptrdiff_t>(first), tasks.end(),
              [](const Task& a, const Task& b) { return a.bytes.data() < b.bytes.data(); });
  }
  return tasks;
}

}  // namespace

WeightDigests digest_weights(const Checkpoint& checkpoint, ThreadPool& pool) {
  WeightDigests out;
  for (const CheckpointFile& file : checkpoint.files()) out.files.push_back({file.name, {}});
  for (const auto& [tensor_name, unused] : checkpoint.tensors())
    out.tensors.push_back({tensor_name, {}});
  const std::vector<Task> tasks = tasks_in_file_order(checkpoint, out);
  ISOBIT_REQUIRE(tasks.size() == out.files.size() + out.tensors.size());
  pool.run(tasks.size(), [&](size_t item, int) {
    const Task& task = tasks[item];
    if (task.tensor) {
      *task.digest = stored_digest(checkpoint, *task.tensor);
    } else {
      Sha256 digest;
      update_and_release(digest, checkpoint, task.bytes);
      *task.digest = digest.finish();
    }
  });
  std::vector<Sha256Digest> leaves;
  for (const WeightDigests::Named& tensor : out.tensors)
    leaves.push_back(tensor.digest);  // a map's order: by name
  out.stored_root = merkle_root(leaves);
  return out;
}

Sha256Digest canonical_root(const Checkpoint& checkpoint, ThreadPool& pool) {
  require_computable(checkpoint);
  const std::vector<const TensorView*> tensors = model_tensors(checkpoint);
  std::vector<Sha256Digest> leaves(tensors.size());
  pool.run(tensors.size(),
           [&](size_t item, int) { leaves[item] = canonical_digest(checkpoint, *tensors[item]); });
  return merkle_root(leaves);
}

std::vector<const TensorView*> model_tensors(const Checkpoint& checkpoint) {
  std::vector<const TensorView*> out;
  std::set<const TensorView*> fp8_scales;
  for (const auto& [unused, view] : checkpoint.tensors()) fp8_scales.insert(view.scales);
  for (const auto& [tensor_name, view] : checkpoint.tensors()) {
    const bool is_copy = checkpoint.config().tied_head && tensor_name == "lm_head.weight";
    const bool is_buffer = tensor_name.ends_with("rotary_emb.inv_freq");
    const bool is_scale = fp8_scales.contains(&view);
    if (!is_copy && !is_buffer && !is_scale) out.push_back(&view);
  }
  return out;
}

}  // namespace isobit
