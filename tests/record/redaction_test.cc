// A redacted run keeps what a comparison needs and nothing that could be read.
#include "record/redaction.h"

#include <doctest/doctest.h>

#include <set>

#include "record/run_json.h"
#include "tests/record/recorded_run.h"

using namespace isobit;
using isobit::testing::recorded_run;

namespace {

// Every token id of a run, as it is written in JSON.
void check_no_tokens(const RunRecord& run, const std::set<int32_t>& secret) {
  const auto fresh = [&](int32_t id) {
    CAPTURE(id);
    CHECK_FALSE(secret.contains(id));
    CHECK(id >= 0);
  };
  for (const Request& r : run.requests) {
    for (const int32_t id : r.prompt_token_ids) fresh(id);
    for (const int32_t id : r.forced_token_ids) fresh(id);
    for (const int32_t id : r.stop.token_ids) fresh(id);
    for (const auto& [id, bias] : r.sampling.logit_bias) fresh(id);
  }
  const auto check_positions = [&](const std::vector<TracePosition>& positions) {
    for (const TracePosition& p : positions) {
      fresh(p.token_id);
      for (const TokenScore& score : p.top) fresh(score.token_id);
    }
  };
  for (const SampleRecord& s : run.samples) check_positions(s.trace.positions);
  for (const ForcedRecord& f : run.forced) check_positions(f.positions);
}

}  // namespace

TEST_CASE("no token id and no text is left, and everything else is") {
  const RunRecord run = recorded_run(), out = redact(run);
  CHECK(out.redacted);
  check_no_tokens(out, {3, 11, 12, 13, 14, 21, 100, 101, 102, 500, 501, 507, 777, 900});
  const std::string json = canonical_json(run_sections(out));
  for (const char* word : {"beginning", "came to pass", "THE END", "the server said no"})
    CHECK_MESSAGE(json.find(word) == std::string::npos, word);
  CHECK(out.prompt_texts == std::vector<std::string>{"", ""});
  CHECK(out.samples[0].trace.embedding.empty());
  CHECK(out.requests[0].id == "p0");
  CHECK(out.requests[0].tags == run.requests[0].tags);
  CHECK(out.prompts_digest == run.prompts_digest);
  CHECK(out.samples[1].trace.error.starts_with("redacted:"));
  for (size_t i = 0; i < 3; ++i) {
    const TracePosition &was = run.samples[0].trace.positions[i],
                        &is = out.samples[0].trace.positions[i];
    CHECK(is.logprob == was.logprob);
    CHECK(is.margin == was.margin);
    CHECK(is.logits_hash == was.logits_hash);
    CHECK(is.top[0].logprob == was.top[0].logprob);
    CHECK(is.top[0].token_id == is.token_id);  // the chosen token still heads the list
  }
}

TEST_CASE(
    "equal tokens stay equal and different ones different, within a request and across runs") {
  const RunRecord run = recorded_run();
  RunRecord changed = recorded_run();
  changed.samples[0].trace.positions[1].token_id = 55;
  const RunRecord a = redact(run), b = redact(changed);
  const auto token = [](const RunRecord& r, size_t sample, size_t position) {
    return r.samples[sample].trace.positions[position].token_id;
  };
  CHECK(token(a, 0, 0) == token(b, 0, 0));
  CHECK(token(a, 0, 1) != token(b, 0, 1));
  CHECK(token(a, 0, 0) == token(a, 2, 0));  // the same prompt in another cell
  CHECK(token(a, 0, 0) != token(a, 0, 1));
  CHECK(a.requests[0].stop.strings == b.requests[0].stop.strings);
}

TEST_CASE("two prompts share nothing: the same token reads differently under each") {
  const RunRecord out = redact(recorded_run());
  CHECK(out.samples[0].trace.positions[0].token_id != out.samples[1].trace.positions[0].token_id);
  CHECK(out.requests[0].prompt_token_ids[0] != out.requests[1].prompt_token_ids[0]);
  CHECK(out.requests[0].stop.strings != out.requests[1].stop.strings);
}

TEST_CASE("the digest of a token is the one that is documented") {
  Request request;
  request.id = "a";
  request.prompt_token_ids = {1, 258};
  const Redactor redactor({request});
  // printf 'isobit redaction key\x01\0\0\0\x02\x01\0\0' | sha256sum -> KEY
  // printf KEY'\x07\0\0\0' | sha256sum, its first 31 bits
  const Sha256Digest key = sha256(std::string("isobit redaction key\x01\0\0\0\x02\x01\0\0", 28));
  const Sha256Digest digest =
      sha256(std::string(key.begin(), key.end()) + std::string("\x07\0\0\0", 4));
  const int32_t expected =
      (digest[0] << 23) | (digest[1] << 15) | (digest[2] << 7) | digest[3] >> 1;
  SampleRecord sample;
  sample.trace.positions.emplace_back().token_id = 7;
  CHECK(redactor.sample(sample).trace.positions[0].token_id == expected);
}

TEST_CASE("who has the prompts has the tokens of the answers, and who has others has not") {
  const RunRecord run = recorded_run(), out = redact(run);
  const auto back = Redactor(run.requests).revealed(out.samples, 1000);
  for (size_t i = 0; i < run.samples.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) {
      const TracePosition &was = run.samples[i].trace.positions[k],
                          &is = back[i].trace.positions[k];
      CHECK(is.token_id == was.token_id);
      REQUIRE(is.top.size() == was.top.size());
      for (size_t t = 0; t < was.top.size(); ++t) CHECK(is.top[t].token_id == was.top[t].token_id);
    }
  }
  CHECK(back[0].trace.text.empty());
  std::vector<Request> others = run.requests;
  others[0].prompt_token_ids.back()++;
  const auto wrong = Redactor(others).revealed(out.samples, 1000);
  CHECK(wrong[0].trace.positions[0].token_id == out.samples[0].trace.positions[0].token_id);
}

TEST_CASE("a sink hands on only what is redacted") {
  struct Kept : RunSink {
    std::vector<SampleRecord> samples;
    std::vector<ForcedRecord> forced_records;
    void begin_cell(const CellRecord&) override {}
    Landing sample(const SampleRecord& s) override {
      samples.push_back(s);
      return Landing::kAlreadyDifferent;
    }
    void forced(const ForcedRecord& f) override { forced_records.push_back(f); }
    void end_cell(const CellRecord&) override {}
  } kept;
  const RunRecord run = recorded_run(), expected = redact(run);
  RedactingSink sink(kept, run.requests);
  for (const SampleRecord& s : run.samples) CHECK(sink.sample(s) == Landing::kAlreadyDifferent);
  sink.forced(run.forced[0]);
  RunRecord got = expected;
  got.samples = kept.samples;
  got.forced = kept.forced_records;
  CHECK(canonical_json(run_sections(got)) == canonical_json(run_sections(expected)));
}
