#include "compare/request_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace isobit {
namespace {

using Counts = std::map<std::string, int64_t>;

class Differences {
 public:
  template <typename Value>
  void number(const char* name, const Value& base, const Value& candidate) {
    if (base != candidate) ++counts_[fmt::format("{}: {} against {}", name, base, candidate)];
  }
  // Whose values are too long for a sentence.
  template <typename Value>
  void content(const char* name, const Value& base, const Value& candidate) {
    if (base != candidate) ++counts_[name];
  }
  Counts finish() && { return std::move(counts_); }

 private:
  Counts counts_;
};

void add_sampling(const Sampling& base, const Sampling& candidate, Differences& out) {
  out.number("temperature", base.temperature, candidate.temperature);
  out.number("top_k", base.top_k, candidate.top_k);
  out.number("top_p", base.top_p, candidate.top_p);
  out.number("min_p", base.min_p, candidate.min_p);
  out.number("repetition_penalty", base.repetition_penalty, candidate.repetition_penalty);
  out.number("frequency_penalty", base.frequency_penalty, candidate.frequency_penalty);
  out.number("presence_penalty", base.presence_penalty, candidate.presence_penalty);
  out.number("n", base.n, candidate.n);
  out.content("logit_bias", base.logit_bias, candidate.logit_bias);
  // Seeds follow from the id and the plan's seed, so that as many values differ as requests.
  out.content("seed", base.seed, candidate.seed);
}

void add_request(const Request& base, const Request& candidate, Differences& out) {
  out.content("the prompt's tokens", base.prompt_token_ids, candidate.prompt_token_ids);
  out.number("max_tokens", base.max_tokens, candidate.max_tokens);
  add_sampling(base.sampling, candidate.sampling, out);
  out.number("ignore_eos", base.stop.ignore_eos, candidate.stop.ignore_eos);
  out.content("stop strings", base.stop.strings, candidate.stop.strings);
  out.content("stop token ids", base.stop.token_ids, candidate.stop.token_ids);
  out.content("forced token ids", base.forced_token_ids, candidate.forced_token_ids);
  out.number("top alternatives recorded", base.n_top, candidate.n_top);
  out.content("tags", base.tags, candidate.tags);
}

std::vector<std::string> most_frequent_first(const Counts& counts) {
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> out;
  for (const auto& [what, n] : sorted)
    out.push_back(what + " in " + std::to_string(n) + (n == 1 ? " request" : " requests"));
  return out;
}

void add_ids(int64_t n, const char* side, std::vector<std::string>& out) {
  if (n > 0)
    out.push_back(std::to_string(n) + (n == 1 ? " id is" : " ids are") + " only in the " + side);
}

}  // namespace

std::vector<std::string> request_differences(const std::vector<Request>& base,
                                             const std::vector<Request>& candidate) {
  std::map<std::string, std::vector<const Request*>> waiting;  // by id, last first
  for (auto r = candidate.rbegin(); r != candidate.rend(); ++r) waiting[r->id].push_back(&*r);
  Differences differences;
  int64_t n_paired = 0;
  for (const Request& request : base) {
    const auto found = waiting.find(request.id);
    if (found == waiting.end() || found->second.empty()) continue;
    add_request(request, *found->second.back(), differences);
    found->second.pop_back();
    ++n_paired;
  }
  std::vector<std::string> out = most_frequent_first(std::move(differences).finish());
  add_ids(std::ssize(base) - n_paired, "base", out);
  add_ids(std::ssize(candidate) - n_paired, "candidate", out);
  return out;
}

std::string in_parentheses(const std::vector<std::string>& differences) {
  constexpr size_t kShown = 4;
  std::string out;
  for (size_t i = 0; i < std::min(differences.size(), kShown); ++i)
    out += (i ? "; " : " (") + differences[i];
  if (differences.size() > kShown)
    out += "; and " + std::to_string(differences.size() - kShown) + " more";
  return out.empty() ? out : out + ")";
}

}  // namespace isobit
