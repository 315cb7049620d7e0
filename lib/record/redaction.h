// A run without its words: what a comparison needs stays, what was asked and answered cannot be
// read.
//
// Every request has a key, SHA-256 over "isobit redaction key" and its prompt's token ids. The key
// is kept nowhere; only somebody who has the whole prompt can make it again. A token id becomes the
// first 31 bits of SHA-256(key, id), so within a request, and in another run of the same request,
// equal tokens stay equal and different ones different (but for one pair in 2^31): positions of
// divergences, ranks, top-k agreement and edit similarity come out as before. Texts are dropped, or
// become a keyed digest where equality matters (stop strings, errors). Embeddings are dropped: they
// are not digests. Logprobs, margins and logits hashes stay, so do request ids, tags and labels.
//
// What it does not hide: how long prompts and answers are, that a token of an answer occurs in it
// twice, and whether a guess of a whole prompt is right.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/digest.h"
#include "record/run_record.h"
#include "record/run_sink.h"

namespace isobit {

class Redactor {
 public:
  // `requests` as they were asked, not redacted.
  explicit Redactor(const std::vector<Request>& requests);

  Request request(size_t prompt_index, const Request& asked) const;
  SampleRecord sample(const SampleRecord& recorded) const;
  ForcedRecord forced(const ForcedRecord& recorded) const;

  // The token ids of answers that were redacted under these requests: whoever has the prompts can
  // try every id below `n_token_ids`. Texts stay away.
  std::vector<SampleRecord> revealed(const std::vector<SampleRecord>& redacted,
                                     int32_t n_token_ids) const;

 private:
  int32_t token(size_t prompt_index, int32_t token_id) const;
  void tokens(size_t prompt_index, std::vector<int32_t>& token_ids) const;
  std::string digest_of(size_t prompt_index, const std::string& text) const;
  void positions(size_t prompt_index, std::vector<TracePosition>& positions) const;

  std::vector<Sha256Digest> keys_;  // by prompt index
  mutable std::vector<std::unordered_map<int32_t, int32_t>> known_;
};

// REQUIRES: !run.redacted.
RunRecord redact(const RunRecord& run);

// What a redacted run is recorded through, so that nothing readable reaches the store.
class RedactingSink : public RunSink {
 public:
  // `inner` must outlive it.
  RedactingSink(RunSink& inner, const std::vector<Request>& requests)
      : inner_(inner), redactor_(requests) {}

  void begin_cell(const CellRecord& cell) override { inner_.begin_cell(cell); }
  Landing sample(const SampleRecord& sample) override {
    return inner_.sample(redactor_.sample(sample));
  }
  void forced(const ForcedRecord& forced) override { inner_.forced(redactor_.forced(forced)); }
  void end_cell(const CellRecord& cell) override { inner_.end_cell(cell); }

 private:
  RunSink& inner_;
  Redactor redactor_;
};

}  // namespace isobit
