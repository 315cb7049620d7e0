// What differs between requests of one id that are not the same question: the sentence behind "the
// prompts and their parameters must be the same".
#pragma once

#include <string>
#include <vector>

#include "record/request.h"

namespace isobit {

// Each difference in words, the most frequent first, such as "max_tokens: 40 against 16 in 24
// requests"; then how many ids only one side has. Requests of one id are held against each other in
// their order.
std::vector<std::string> request_differences(const std::vector<Request>& base,
                                             const std::vector<Request>& candidate);

// The first of them in parentheses after a blank, or nothing where there are none.
std::string in_parentheses(const std::vector<std::string>& differences);

}  // namespace isobit
