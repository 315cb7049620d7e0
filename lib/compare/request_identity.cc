#include "compare/request_identity.h"

#include <bit>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace isobit {
namespace {

// Appends field after field; none can run into the next.
class IdentityText {
 public:
  void text(const std::string& value) {
    number(value.size(), ':');
    text_ += value;
    text_ += ';';
  }
  template <typename Integer>
  void number(Integer value, char end = ';') {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    text_ += end;
  }
  void bits(double value) { number(std::bit_cast<uint64_t>(value)); }
  void numbers(const std::vector<int32_t>& values) {
    for (const int32_t value : values) number(value, ',');
    text_ += ';';
  }
  std::string finish() && { return std::move(text_); }

 private:
  std::string text_;
};

void add_sampling(IdentityText& text, const Sampling& s) {
  for (const double value : {s.temperature, s.top_p, s.min_p, s.repetition_penalty,
                             s.frequency_penalty, s.presence_penalty})
    text.bits(value);
  text.number(s.top_k);
  text.number(s.seed);
  text.number(s.n);
  text.number(s.logit_bias.size());
  for (const auto& [token_id, bias] : s.logit_bias) {
    text.number(token_id);
    text.bits(bias);
  }
}

void add_stop(IdentityText& text, const Stop& stop) {
  text.numbers(stop.token_ids);
  text.number(stop.ignore_eos ? 1 : 0);
  text.number(stop.strings.size());
  for (const std::string& s : stop.strings) text.text(s);
}

}  // namespace

std::string identity_text(const Request& request) {
  IdentityText text;
  text.text(request.id);
  text.numbers(request.prompt_token_ids);
  text.number(request.max_tokens);
  add_sampling(text, request.sampling);
  add_stop(text, request.stop);
  text.numbers(request.forced_token_ids);
  return std::move(text).finish();
}

RequestMatch match_requests(const std::vector<Request>& base,
                            const std::vector<Request>& candidate) {
  std::map<std::string, std::vector<int32_t>> waiting;  // identity -> candidate indices, last first
  for (size_t i = candidate.size(); i-- > 0;)
    waiting[identity_text(candidate[i])].push_back(static_cast<int32_t>(i));
  RequestMatch match;
  for (size_t i = 0; i < base.size(); ++i) {
    auto& indices = waiting[identity_text(base[i])];
    if (indices.empty()) {
      match.only_in_base.push_back(base[i].id);
    } else {
      match.base_to_candidate[static_cast<int32_t>(i)] = indices.back();
      indices.pop_back();
    }
  }
  std::vector<bool> left(candidate.size(), false);
  for (const auto& [identity, indices] : waiting) {
    for (const int32_t i : indices) left[static_cast<size_t>(i)] = true;
  }
  for (size_t i = 0; i < candidate.size(); ++i) {
    if (left[i]) match.only_in_candidate.push_back(candidate[i].id);
  }
  return match;
}

}  // namespace isobit
