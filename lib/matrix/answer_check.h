// Whether one recorded answer can be an answer to its request: its length, ending, steps and rows
// against one another.
#pragma once

#include <string>
#include <vector>

#include "record/request.h"
#include "record/trace.h"

namespace isobit {

class AnswerCheck {
 public:
  // `request` as its cell asks it; `eos_ids` are the model's own stop tokens. Token ids of a
  // redacted run are digests, which only compare.
  AnswerCheck(const Request& request, const std::vector<int32_t>& eos_ids, bool redacted);

  // In words, without the answer's place: "has 9 tokens, asked for were 8". Empty: nothing
  // contradicts itself. An answer that ended in an error, or was cancelled, is not asked.
  std::string fault(const Trace& trace) const;

 private:
  std::string fault_of_length(const Trace& trace) const;
  std::string fault_of_ending(const Trace& trace) const;
  std::string fault_of_scheduling(const Trace& trace) const;
  std::string fault_of_rows(const Trace& trace) const;
  std::string fault_of_row(const TracePosition& row, bool is_forced) const;
  bool stops(const TracePosition& position) const;
  bool takes_the_likeliest() const;

  const Request& request_;
  std::vector<int32_t> stop_ids_;
  bool ids_are_digests_;
};

}  // namespace isobit
