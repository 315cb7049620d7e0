// One digest of everything that the engine answers on one model: tokens, logprobs and whole-row
// logits hashes of greedy and sampled requests, chunked and batched.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "engine/engine.h"

namespace isobit::testing {

// One request per prompt length; every other one is sampled.
inline std::vector<Request> golden_requests(const std::vector<int>& prompt_lengths,
                                            int64_t vocab_size) {
  std::vector<Request> out;
  for (size_t i = 0; i < prompt_lengths.size(); ++i) {
    Request r;
    r.id = "golden-" + std::to_string(i);
    for (int t = 0; t < prompt_lengths[i]; ++t) {
      r.prompt_token_ids.push_back(
          static_cast<int32_t>((t * 131 + static_cast<int>(i) * 17 + 3) % vocab_size));
    }
    r.max_tokens = 8;
    if (i % 2) {
      r.sampling = {.temperature = 0.9,
                    .top_k = 50,
                    .top_p = 0.95,
                    .min_p = 0.01,
                    .logit_bias = {},
                    .seed = 7u + static_cast<unsigned>(i)};
    }
    out.push_back(std::move(r));
  }
  return out;
}

inline std::string hex_digest(const std::string& bytes) {
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(bytes.data(), bytes.size()));
  std::string out;
  for (const unsigned char b : digest.digest) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", b);
    out += text;
  }
  return out;
}

inline std::string model_digest(const Checkpoint& checkpoint, const KernelSet& kernels,
                                KvDType kv_dtype, const std::vector<int>& prompt_lengths) {
  ThreadPool pool(2);
  const Model model(checkpoint, kernels, pool);
  const int64_t vocab_size = checkpoint.config().vocab_size;
  const std::vector<std::string> token_bytes(static_cast<size_t>(vocab_size));
  Engine engine(model, token_bytes, pool);
  EngineOptions options;
  options.kv_dtype = kv_dtype;
  options.max_batch_requests = 3;
  options.limits.prefill_chunk_tokens = 100;
  std::map<std::string, std::string> by_request;
  engine.run(golden_requests(prompt_lengths, vocab_size), options, [&](size_t, const Trace& trace) {
    std::string& bytes = by_request[trace.request_id];
    for (const TracePosition& p : trace.positions) {
      bytes.append(reinterpret_cast<const char*>(&p.token_id), 4);
      bytes.append(reinterpret_cast<const char*>(&p.logprob), 4);
      bytes.append(reinterpret_cast<const char*>(p.logits_hash.value().data()), 16);
    }
  });
  std::string all;
  for (const auto& [id, bytes] : by_request) all += bytes;
  return hex_digest(all);
}

}  // namespace isobit::testing
