// Which requests of two runs are the same question: same id, same token ids, same parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/request.h"

namespace isobit {

// Everything that may change an answer. How much is recorded of it (n_top) and tags may not.
std::string identity_text(const Request& request);

struct RequestMatch {
  std::map<int32_t, int32_t> base_to_candidate;  // indices
  std::vector<std::string> only_in_base;         // ids, in the order of the requests
  std::vector<std::string> only_in_candidate;
};

// Requests that occur several times are matched in order.
RequestMatch match_requests(const std::vector<Request>& base,
                            const std::vector<Request>& candidate);

}  // namespace isobit
