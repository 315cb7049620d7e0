#include "engine/stop_check.h"

#include <algorithm>

namespace isobit {

StopCheck::StopCheck(const Request& request, std::vector<int32_t> eos_token_ids)
    : stop_(request.stop),
      max_tokens_(request.max_tokens),
      eos_token_ids_(std::move(eos_token_ids)) {}

bool StopCheck::stops_at(int32_t token_id) const {
  const auto has = [&](const std::vector<int32_t>& ids) {
    return std::find(ids.begin(), ids.end(), token_id) != ids.end();
  };
  return has(stop_.token_ids) || (!stop_.ignore_eos && has(eos_token_ids_));
}

bool StopCheck::cut_at_stop_string(size_t n_new_bytes) {
  size_t first = std::string::npos;
  for (const std::string& s : stop_.strings) {
    if (s.empty()) continue;
    const size_t reach = n_new_bytes + s.size() - 1;  // a match must end in the new bytes
    first = std::min(first, text_.find(s, text_.size() > reach ? text_.size() - reach : 0));
  }
  if (first == std::string::npos) return false;
  text_.resize(first);
  return true;
}

std::optional<FinishReason> StopCheck::add(int32_t token_id, const std::string& bytes,
                                           bool is_forced) {
  ++n_tokens_;
  if (!is_forced && stops_at(token_id)) return FinishReason::kStopToken;
  text_ += bytes;
  if (!is_forced && cut_at_stop_string(bytes.size())) return FinishReason::kStopString;
  if (n_tokens_ >= max_tokens_) return FinishReason::kLength;
  return std::nullopt;
}

}  // namespace isobit
