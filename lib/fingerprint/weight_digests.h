// Digests of a checkpoint's weights, at three distances from the file:
//
//   file       SHA-256 of the file's bytes: what hubs publish; changes with sharding and with
//   metadata stored     per tensor: Hugging Face name, dtype, shape and bytes as stored. Their root
//   is independent of sharding and of
//              the order in the files, but not of the format: a GGUF stores Q and K in another
//              order of rows
//   canonical  per tensor: name, shape and the f32 values in the model's order of rows. Independent
//   of the format, equal for
//              two checkpoints exactly when the engine computes with the same numbers
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"

namespace isobit {

struct WeightDigests {
  struct Named {
    std::string name;
    Sha256Digest digest{};
  };
  std::vector<Named> files;    // by name
  std::vector<Named> tensors;  // stored digests by tensor name
  Sha256Digest stored_root{};
};

// Reads the files once, front to back, on the pool: each file's own digest and the digests of its
// tensors advance side by side, so a page is in memory for both, and is given back once it has been
// read.
WeightDigests digest_weights(const Checkpoint& checkpoint, ThreadPool& pool);

// The root over the f32 values. Throws Error(environment) for a tensor whose type cannot be
// dequantised.
Sha256Digest canonical_root(const Checkpoint& checkpoint, ThreadPool& pool);

// The tensors that the engine computes with: without buffers of old exports and without the copy of
// a tied head.
std::vector<const TensorView*> model_tensors(const Checkpoint& checkpoint);

}  // namespace isobit
