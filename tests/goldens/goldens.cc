// Prints a digest of everything that the engine computes on generated models, one line per model: the logits hashes of greedy
// and sampled requests, chunked and batched. Built from the core alone (numeric contract section 7), so that every compiler and
// every architecture can print the same lines. tests/goldens/expected.txt holds them; a line that changes means that the
// contract changed.
//
// Usage: goldens [ISA]     portable, avx2, avx512 (default: the reference set)
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <string>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/engine.h"
#include "kernels/registry.h"
#include "tests/support/random_checkpoint.h"

using namespace isobit;
using isobit::testing::RandomCheckpoint;
using isobit::testing::RandomSizes;

namespace {

struct NamedSizes {
  const char* name;
  RandomSizes sizes;
};

std::vector<NamedSizes> models() {
  RandomSizes ragged;  // hidden 160 and MLP 352: several leaves, ragged ones, R = 1
  RandomSizes segmented;
  segmented.hidden_size = 288;
  segmented.intermediate_size = 768;  // gcd(6, 768, 24) = 6: R = 6, segments of 128
  segmented.n_heads = 6;
  segmented.n_kv_heads = 3;
  segmented.head_dim = 36;
  segmented.qkv_bias = true;
  segmented.tied_head = false;
  RandomSizes half = ragged;
  half.dtype = DType::kBF16;
  RandomSizes odd;
  odd.hidden_size = 129;
  odd.intermediate_size = 257;
  odd.n_heads = 3;
  odd.n_kv_heads = 1;
  odd.head_dim = 22;
  odd.vocab_size = 1031;
  odd.dtype = DType::kF16;
  return {{"ragged-f32", ragged}, {"segmented-f32", segmented}, {"ragged-bf16", half}, {"odd-f16", odd}};
}

std::vector<Request> requests(int64_t vocab_size) {
  std::vector<Request> out;
  const int lengths[] = {1, 17, 128, 300};
  for (int i = 0; i < 4; ++i) {
    Request r;
    r.id = "golden-" + std::to_string(i);
    for (int t = 0; t < lengths[i]; ++t) r.prompt_token_ids.push_back(static_cast<int32_t>((t * 131 + i * 17 + 3) % vocab_size));
    r.max_tokens = 8;
    if (i % 2) r.sampling = {.temperature = 0.9, .top_k = 50, .top_p = 0.95, .min_p = 0.01, .logit_bias = {}, .seed = 7u + static_cast<unsigned>(i)};
    out.push_back(std::move(r));
  }
  return out;
}

std::string digest_of(const NamedSizes& named, const KernelSet& kernels, KvDType kv_dtype) {
  const RandomCheckpoint checkpoint(named.sizes, 2026);
  ThreadPool pool(2);
  const Model model(checkpoint, kernels, pool);
  const std::vector<std::string> token_bytes(static_cast<size_t>(named.sizes.vocab_size));
  Engine engine(model, token_bytes, pool);
  EngineOptions options;
  options.kv_dtype = kv_dtype;
  options.max_batch_requests = 3;
  options.limits.prefill_chunk_tokens = 100;
  std::map<std::string, std::string> by_request;
  engine.run(requests(named.sizes.vocab_size), options, [&](size_t, const Trace& trace) {
    std::string& bytes = by_request[trace.request_id];
    for (const TracePosition& p : trace.positions) {
      bytes.append(reinterpret_cast<const char*>(&p.token_id), 4).append(reinterpret_cast<const char*>(&p.logprob), 4);
      bytes.append(reinterpret_cast<const char*>(p.logits_hash->data()), 16);
    }
  });
  std::string all;
  for (const auto& [id, bytes] : by_request) all += bytes;
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(all.data(), all.size()));
  std::string out;
  for (const unsigned char b : digest.digest) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", b);
    out += text;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const KernelSet& kernels = argc > 1 ? kernel_set("cpu", argv[1]) : kernel_set("reference");
    for (const NamedSizes& named : models()) {
      for (const KvDType kv : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
        std::printf("%s kv-%s %s\n", named.name, name(kv), digest_of(named, kernels, kv).c_str());
      }
    }
    return 0;
  } catch (const std::exception& e) {
    std::printf("SKIPPED: %s\n", e.what());
    return 77;
  }
}
