// Decides after each token whether an answer is finished, and what of its text is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/request.h"
#include "record/trace.h"

namespace isobit {

// Follows one answer. Stop strings are matched on bytes, across token boundaries; the text ends
// before the match, as serving engines do, while the token that completed it stays in the trace.
class StopCheck {
 public:
  StopCheck(const Request& request, std::vector<int32_t> eos_token_ids);

  // `bytes`: what the token adds to the text. `is_forced`: teacher forcing, where only the length
  // ends an answer.
  std::optional<FinishReason> add(int32_t token_id, const std::string& bytes, bool is_forced);
  const std::string& text() const { return text_; }

 private:
  bool stops_at(int32_t token_id) const;
  bool cut_at_stop_string(size_t n_new_bytes);

  const Stop stop_;
  const int32_t max_tokens_;
  std::vector<int32_t> eos_token_ids_;
  std::string text_;
  int32_t n_tokens_ = 0;
};

}  // namespace isobit
