// `isobit bench MODEL --distinct N`: how many different answers one prompt gets when it is asked N
// times at temperature 0 while the machine is busy, and what each kernel set's speed is meanwhile.
//
// The experiment of He and Thinking Machines, "Defeating Nondeterminism in LLM Inference" (2025):
// 1,000 completions of one prompt, counted by their tokens. Requests arrive at random moments,
// counted in steps so that a seed repeats them; so the number of rows in a step changes all the
// time, which is all that it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/console.h"
#include "app/loaded_model.h"
#include "base/json.h"

namespace isobit::app {

struct DistinctArguments {
  int64_t n_completions = 0;
  std::string prompt = "Tell me about Richard Feynman";
  int concurrency = 32;  // the most at once
  int gen_tokens = 128;
  int threads = 1;
  uint64_t seed = 0;
  std::vector<std::string> kernel_sets;
  std::string isa;  // of the cpu set; empty: the best
};

// What the completions have at the first position where they are not all the same.
struct Split {
  int32_t position = 0;
  std::vector<std::pair<std::optional<int32_t>, int64_t>>
      tokens;  // token id (absent: had ended) and count, most frequent first
};

struct DistinctOutputs {
  std::string kernel_set, isa;
  int64_t n_completions = 0;
  int64_t n_distinct = 0;       // token sequences
  int64_t n_distinct_bits = 0;  // sequences of logits hashes
  int64_t n_most_common = 0;    // completions that have the most frequent token sequence
  int64_t n_non_finite = 0;     // ended by a NaN or an infinity
  std::optional<Split> first_split = {};
  int32_t least_batch = 0, most_batch = 0;  // requests that shared a step with one of them
  std::vector<double> tokens_per_s;         // generated, one per part; the sets take turns
};

std::vector<DistinctOutputs> bench_distinct(const DistinctArguments& arguments,
                                            const LoadedModel& loaded, Console& console);

std::string distinct_text(const std::vector<DistinctOutputs>& all,
                          const DistinctArguments& arguments, const LoadedModel& loaded);
Json distinct_json(const std::vector<DistinctOutputs>& all, const DistinctArguments& arguments);

}  // namespace isobit::app
