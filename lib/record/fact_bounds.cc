#include "record/fact_bounds.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace isobit {
namespace {

constexpr std::string_view kRedacted =
    "redacted:";  // what a keyed digest begins with (redaction.h)
constexpr size_t kRedactedDigits = 16;

std::string element(const char* list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

bool is_keyed_digest(const std::string& text) {
  return text.size() == kRedacted.size() + kRedactedDigits && text.starts_with(kRedacted) &&
         text.find_first_not_of("0123456789abcdef", kRedacted.size()) == text.npos;
}

// Most of what digests would be is not below the bound; of two ids or more that is no chance.
bool are_plain_ids(const std::set<int32_t>& ids, size_t least) {
  const auto n_plain = static_cast<size_t>(
      std::ranges::count_if(ids, [](int32_t id) { return id < kPlainTokenIds; }));
  return ids.size() >= least && 2 * n_plain > ids.size();
}

class BoundsCheck {
 public:
  BoundsCheck(const RunRecord& run, size_t max_facts) : run_(run), max_facts_(max_facts) {}

  std::vector<std::string> check() {
    for (size_t i = 0; i < run_.requests.size() && !is_full(); ++i) check_request(i);
    for (size_t i = 0; i < run_.samples.size() && !is_full(); ++i) check_sample(i);
    for (size_t i = 0; i < run_.forced.size() && !is_full(); ++i) check_forced(i);
    if (run_.redacted && !is_full() && are_plain_ids(all_ids_, 2)) tell("run", plain_ids());
    return std::move(out_);
  }

 private:
  bool is_full() const { return out_.size() >= max_facts_; }

  void tell(const std::string& place, const std::string& what) {
    if (!is_full()) out_.push_back(place + ": " + what);
  }

  void check_range(const std::string& place, const char* field, int64_t value, int64_t least,
                   int64_t most) {
    if (value >= least && value <= most) return;
    tell(place, std::string(field) + " is " + std::to_string(value) + ", expected " +
                    std::to_string(least) + " to " + std::to_string(most));
  }

  void check_least(const std::string& place, const char* list, std::span<const int32_t> values) {
    const auto at = std::ranges::find_if(values, [](int32_t value) { return value < 0; });
    if (at == values.end()) return;
    tell(place, element(list, static_cast<size_t>(at - values.begin())) + " is " +
                    std::to_string(*at) + ", expected 0 or more");
  }

  static std::string plain_ids() {
    return "holds token ids below " + std::to_string(kPlainTokenIds) +
           ", and the run says that it is redacted";
  }

  // Of a redacted run, all the ids of one list.
  void check_ids(const std::string& place, const char* field, std::span<const int32_t> ids) {
    check_least(place, field, ids);
    if (!run_.redacted) return;
    const std::set<int32_t> distinct(ids.begin(), ids.end());
    if (are_plain_ids(distinct, 4)) tell(place, std::string(field) + " " + plain_ids());
    all_ids_.insert(distinct.begin(), distinct.end());
  }

  void check_no_words(const std::string& place, const char* field, const std::string& text) {
    if (run_.redacted && !text.empty())
      tell(place, std::string(field) + " is there, and the run says that it is redacted");
  }

  void check_digest(const std::string& place, const std::string& field, const std::string& text) {
    if (run_.redacted && !text.empty() && !is_keyed_digest(text))
      tell(place, field + " is no digest, and the run says that it is redacted");
  }

  void check_request(size_t index) {
    const Request& r = run_.requests[index];
    const std::string place = element("requests", index);
    check_range(place, "n", r.sampling.n, 1, kMaxChoices);
    check_ids(place, "prompt_token_ids", r.prompt_token_ids);
    check_ids(place, "forced_token_ids", r.forced_token_ids);
    check_ids(place, "stop_token_ids", r.stop.token_ids);
    std::vector<int32_t> biased;
    for (const auto& [id, bias] : r.sampling.logit_bias) biased.push_back(id);
    check_ids(place, "logit_bias", biased);
    if (index < run_.prompt_texts.size()) check_no_words(place, "text", run_.prompt_texts[index]);
    for (size_t i = 0; i < r.stop.strings.size(); ++i)
      check_digest(place, element("stop", i), r.stop.strings[i]);
  }

  void check_sample(size_t index) {
    const SampleRecord& s = run_.samples[index];
    const std::string place = element("samples", index);
    check_range(place, "repeat", s.repeat, 0, kMaxRepeats - 1);
    check_range(place, "sample_index", s.trace.sample_index, 0, kMaxChoices - 1);
    check_least(place, "prefill_chunks_tokens", s.trace.scheduling.prefill_chunks_tokens);
    check_no_words(place, "text", s.trace.text);
    check_digest(place, "error", s.trace.error);
    if (run_.redacted && !s.trace.embedding.empty())
      tell(place, "embedding is there, and the run says that it is redacted");
    check_positions(place, s.trace.positions, s.trace.non_finite);
  }

  void check_forced(size_t index) {
    const ForcedRecord& f = run_.forced[index];
    const std::string place = element("forced", index);
    check_range(place, "repeat", f.repeat, 0, kMaxRepeats - 1);
    check_range(place, "sample_index", f.sample_index, 0, kMaxChoices - 1);
    check_positions(place, f.positions, false);
  }

  // Rows that were not finite have scores that are none.
  void check_positions(const std::string& place, const std::vector<TracePosition>& positions,
                       bool non_finite) {
    std::vector<int32_t> tokens, top;
    for (const TracePosition& p : positions) {
      tokens.push_back(p.token_id);
      for (const TokenScore& score : p.top) top.push_back(score.token_id);
    }
    check_ids(place, "tokens", tokens);
    check_ids(place, "top", top);
    for (size_t i = 0; i < positions.size() && !non_finite; ++i)
      check_scores(place, i, positions[i]);
  }

  void check_scores(const std::string& place, size_t index, const TracePosition& p) {
    check_logprob(place, "logprobs", index, p.logprob);
    for (const TokenScore& score : p.top) check_logprob(place, "top", index, score.logprob);
    if (p.margin && !(*p.margin >= 0))  // nor is it a NaN
      tell(place, element("margins", index) + " is " + number(*p.margin) + ", expected 0 or more");
  }

  void check_logprob(const std::string& place, const char* list, size_t index, float value) {
    if (value <= kMaxLogprob) return;  // a NaN is not
    tell(place, element(list, index) + " is " + number(value) + ", expected a logprob, 0 or less");
  }

  static std::string number(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(value));
    return text;
  }

  const RunRecord& run_;
  const size_t max_facts_;
  std::set<int32_t> all_ids_;  // of a redacted run
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> facts_out_of_bounds(const RunRecord& run, size_t max_facts) {
  return BoundsCheck(run, max_facts).check();
}

}  // namespace isobit
