#include "record/redaction.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace isobit {
namespace {

std::array<char, 4> little_endian(int32_t value) {
  const auto bits = static_cast<uint32_t>(value);
  return {static_cast<char>(bits), static_cast<char>(bits >> 8), static_cast<char>(bits >> 16),
          static_cast<char>(bits >> 24)};
}

Sha256Digest key_of(const Request& request) {
  Sha256 sha;
  sha.update("isobit redaction key");
  for (const int32_t id : request.prompt_token_ids) sha.update(little_endian(id).data(), 4);
  return sha.finish();
}

}  // namespace

Redactor::Redactor(const std::vector<Request>& requests) : known_(requests.size()) {
  for (const Request& request : requests) keys_.push_back(key_of(request));
}

int32_t Redactor::token(size_t prompt_index, int32_t token_id) const {
  const auto [at, is_new] = known_.at(prompt_index).try_emplace(token_id, 0);
  if (is_new) {
    const Sha256Digest& key = keys_.at(prompt_index);
    const Sha256Digest digest =
        Sha256().update(key.data(), key.size()).update(little_endian(token_id).data(), 4).finish();
    const uint32_t first = uint32_t{digest[0]} << 24 | uint32_t{digest[1]} << 16 |
                           uint32_t{digest[2]} << 8 | uint32_t{digest[3]};
    at->second = static_cast<int32_t>(first >> 1);
  }
  return at->second;
}

void Redactor::tokens(size_t prompt_index, std::vector<int32_t>& token_ids) const {
  for (int32_t& id : token_ids) id = token(prompt_index, id);
}

// Framed, so that no text of four bytes is taken for a token id.
std::string Redactor::digest_of(size_t prompt_index, const std::string& text) const {
  if (text.empty()) return text;
  const Sha256Digest& key = keys_.at(prompt_index);
  return "redacted:" +
         hex(Sha256().update(key.data(), key.size()).update_framed(text).finish()).substr(0, 16);
}

void Redactor::positions(size_t prompt_index, std::vector<TracePosition>& positions) const {
  for (TracePosition& position : positions) {
    position.token_id = token(prompt_index, position.token_id);
    for (TokenScore& score : position.top) score.token_id = token(prompt_index, score.token_id);
  }
}

Request Redactor::request(size_t prompt_index, const Request& asked) const {
  Request out = asked;
  tokens(prompt_index, out.prompt_token_ids);
  tokens(prompt_index, out.forced_token_ids);
  tokens(prompt_index, out.stop.token_ids);
  for (std::string& text : out.stop.strings) text = digest_of(prompt_index, text);
  for (auto& [id, bias] : out.sampling.logit_bias) id = token(prompt_index, id);
  std::ranges::sort(out.sampling.logit_bias);
  return out;
}

SampleRecord Redactor::sample(const SampleRecord& recorded) const {
  SampleRecord out = recorded;
  const auto prompt = static_cast<size_t>(recorded.prompt_index);
  positions(prompt, out.trace.positions);
  out.trace.text.clear();
  out.trace.error = digest_of(prompt, recorded.trace.error);
  out.trace.embedding.clear();
  return out;
}

ForcedRecord Redactor::forced(const ForcedRecord& recorded) const {
  ForcedRecord out = recorded;
  positions(static_cast<size_t>(recorded.prompt_index), out.positions);
  return out;
}

std::vector<SampleRecord> Redactor::revealed(const std::vector<SampleRecord>& redacted,
                                             int32_t n_token_ids) const {
  std::vector<std::unordered_map<int32_t, int32_t>> ids(keys_.size());  // digest -> token id
  std::vector<SampleRecord> out = redacted;
  for (SampleRecord& sample : out) {
    const auto prompt = static_cast<size_t>(sample.prompt_index);
    auto& of_prompt = ids.at(prompt);
    if (of_prompt.empty()) {
      for (int32_t id = 0; id < n_token_ids; ++id) of_prompt.emplace(token(prompt, id), id);
    }
    const auto known = [&](int32_t digest) {
      const auto at = of_prompt.find(digest);
      return at == of_prompt.end() ? digest : at->second;
    };
    for (TracePosition& position : sample.trace.positions) {
      position.token_id = known(position.token_id);
      for (TokenScore& score : position.top) score.token_id = known(score.token_id);
    }
  }
  return out;
}

RunRecord redact(const RunRecord& run) {
  ISOBIT_REQUIRE(!run.redacted);
  const Redactor redactor(run.requests);
  RunRecord out = run;
  out.redacted = true;
  for (size_t i = 0; i < out.requests.size(); ++i)
    out.requests[i] = redactor.request(i, run.requests[i]);
  std::ranges::fill(out.prompt_texts, std::string());
  for (SampleRecord& sample : out.samples) sample = redactor.sample(sample);
  for (ForcedRecord& forced : out.forced) forced = redactor.forced(forced);
  return out;
}

}  // namespace isobit
