#include "compare/request_identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

namespace isobit {
namespace {

std::string framed(const std::string& text) {
  return fmt::format("{}:{};", text.size(), text);
}

std::string exact(double value) {
  return fmt::format("{:016x};", std::bit_cast<uint64_t>(value));
}

std::string ids(const std::vector<int32_t>& token_ids) {
  return fmt::format("{};", fmt::join(token_ids, ","));
}

std::string sampling_text(const Sampling& s) {
  std::string text = exact(s.temperature) + exact(s.top_p) + exact(s.min_p) +
                     exact(s.repetition_penalty) + exact(s.frequency_penalty) +
                     exact(s.presence_penalty);
  text += fmt::format("{};{};{};", s.top_k, s.seed, s.n);
  for (const auto& [token_id, bias] : s.logit_bias)
    text += fmt::format("{}=", token_id) + exact(bias);
  return text + ";";
}

std::string stop_text(const Stop& stop) {
  std::string text = ids(stop.token_ids) + (stop.ignore_eos ? "1;" : "0;");
  for (const std::string& s : stop.strings) text += framed(s);
  return text + ";";
}

}  // namespace

std::string identity_text(const Request& request) {
  return framed(request.id) + ids(request.prompt_token_ids) +
         fmt::format("{};", request.max_tokens) + sampling_text(request.sampling) +
         stop_text(request.stop) + ids(request.forced_token_ids);
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
