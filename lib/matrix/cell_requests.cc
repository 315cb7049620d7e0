// The axes that change the requests themselves: lengths and sampling.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "matrix/workload.h"

namespace isobit {
namespace {

constexpr int32_t kShortTokens = 32;
constexpr int32_t kMediumTokens = 256;

[[noreturn]] void refuse(const CellRecord& cell, const Request& request, const std::string& what,
                         std::string hint) {
  throw Error(ErrorCode::usage, "cell '" + cell.name + "', prompt '" + request.id + "': " + what,
              std::move(hint));
}

int32_t context_or_refuse(const CellRecord& cell, const Request& request, const ModelLimits& limits,
                          const std::string& value) {
  if (limits.context_tokens > 0) return limits.context_tokens;
  refuse(cell, request, value + " needs the context length, which this target does not tell",
         "give a token count instead");
}

// The first token stays first (it may be a beginning-of-sequence mark) and the end stays the end (a
// chat template's last tokens ask for the answer): tokens go, or text comes, right after the first.
void set_prompt_length(Request& request, int32_t n_tokens, const NeighbourTokens& neighbour_tokens,
                       uint64_t seed) {
  std::vector<int32_t>& ids = request.prompt_token_ids;
  const auto have = static_cast<int32_t>(ids.size());
  if (n_tokens < have) {
    const auto first_gone = n_tokens == 1 ? ids.begin() : ids.begin() + 1;
    ids.erase(first_gone, first_gone + (have - n_tokens));
  } else if (n_tokens > have) {
    const std::vector<int32_t> text = neighbour_tokens(n_tokens - have, seed);
    ISOBIT_REQUIRE(static_cast<int32_t>(text.size()) == n_tokens - have);
    ids.insert(ids.begin() + std::min<int32_t>(1, have), text.begin(), text.end());
  }
}

int32_t wanted_prompt_tokens(const CellRecord& cell, const Request& request,
                             const std::string& value, const ModelLimits& limits) {
  if (value == "short") return kShortTokens;
  if (value == "medium") return kMediumTokens;
  if (value != "near-limit") return std::stoi(value);
  const int32_t rest =
      context_or_refuse(cell, request, limits, "prompt.length=near-limit") - request.max_tokens;
  if (rest < 1)
    refuse(cell, request, "the answer alone fills the context",
           "ask for fewer tokens with output.length");
  return rest;
}

double number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void set_sampling(Sampling& sampling, const std::string& key, const std::string& value) {
  if (key == "sampling.temperature") sampling.temperature = number(value);
  if (key == "sampling.top_k") sampling.top_k = std::stoi(value);
  if (key == "sampling.top_p") sampling.top_p = number(value);
  if (key == "sampling.min_p") sampling.min_p = number(value);
  if (key == "sampling.repetition_penalty") sampling.repetition_penalty = number(value);
  if (key == "sampling.frequency_penalty") sampling.frequency_penalty = number(value);
  if (key == "sampling.presence_penalty") sampling.presence_penalty = number(value);
  if (key == "sampling.seed") {
    sampling.seed = std::stoull(value);
    sampling.seed_source = SeedSource::kRequest;
  }
}

void check_fits(const CellRecord& cell, const Request& request, const ModelLimits& limits) {
  const auto n_prompt = static_cast<int64_t>(request.prompt_token_ids.size());
  if (n_prompt == 0) refuse(cell, request, "has no tokens", "remove the empty prompt");
  if (request.max_tokens < 1) {
    refuse(cell, request,
           "asks for " + std::to_string(request.max_tokens) + " tokens, expected at least 1", "");
  }
  if (limits.context_tokens == 0 || n_prompt + request.max_tokens <= limits.context_tokens) return;
  refuse(cell, request,
         "has " + std::to_string(n_prompt) + " tokens and asks for " +
             std::to_string(request.max_tokens) + " more; the context holds " +
             std::to_string(limits.context_tokens),
         "shorten it with prompt.length, or ask for fewer tokens with output.length");
}

Request cell_request(const CellRecord& cell, Request request, const ModelLimits& limits,
                     const NeighbourTokens& neighbour_tokens, uint64_t seed) {
  const std::string output = axis_value(cell, "output.length");
  if (output != "as-given" && output != "long") request.max_tokens = std::stoi(output);
  const std::string prompt = axis_value(cell, "prompt.length");
  if (prompt != "as-given") {
    set_prompt_length(request, wanted_prompt_tokens(cell, request, prompt, limits),
                      neighbour_tokens, seed);
  }
  if (output == "long") {
    request.max_tokens = context_or_refuse(cell, request, limits, "output.length=long") -
                         static_cast<int32_t>(request.prompt_token_ids.size());
  }
  for (const auto& [key, value] : cell.values) {
    if (value != "as-given") set_sampling(request.sampling, key, value);
  }
  check_fits(cell, request, limits);
  return request;
}

}  // namespace

std::vector<Request> cell_requests(const CellRecord& cell, std::span<const Request> requests,
                                   const ModelLimits& limits,
                                   const NeighbourTokens& neighbour_tokens, uint64_t seed) {
  std::vector<Request> out;
  out.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    out.push_back(cell_request(cell, requests[i], limits, neighbour_tokens, seed + i));
  }
  return out;
}

}  // namespace isobit
