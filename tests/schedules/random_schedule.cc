#include "tests/schedules/random_schedule.h"

#include <algorithm>

namespace isobit::testing {
namespace {

int64_t prompt_length(Dice& dice, int64_t most) {
  const int64_t edge = dice.one_of<int64_t>({1, 16, 32, 64, 128, 256, 384});
  const int64_t drawn = dice.one_in(3) ? dice.between(1, 40) : dice.between(edge - 1, edge + 1);
  return std::clamp<int64_t>(drawn, 1, most);
}

Sampling random_sampling(Dice& dice, int64_t vocab_size) {
  Sampling s;
  s.n = dice.one_in(4) ? static_cast<int32_t>(dice.between(2, 3)) : 1;
  if (dice.one_in(2)) return s;  // greedy
  s.temperature = dice.one_of({0.3, 0.8, 1.0, 1.7});
  s.seed = dice.bits();
  s.top_k = dice.one_of<int32_t>({0, 0, 1, 5, 40});
  s.top_p = dice.one_of({1.0, 0.95, 0.5});
  s.min_p = dice.one_of({0.0, 0.0, 0.05});
  s.repetition_penalty = dice.one_of({1.0, 1.0, 1.3});
  s.frequency_penalty = dice.one_of({0.0, 0.0, 0.4});
  s.presence_penalty = dice.one_of({0.0, 0.0, -0.2});
  if (dice.one_in(4))
    s.logit_bias = {{static_cast<int32_t>(dice.below(static_cast<uint64_t>(vocab_size))), 3.0}};
  return s;
}

// Threads that share a core meet at every operator only after a time slice each. So more than one
// is drawn seldom, and then with few steps.
void draw_threads(Dice& dice, Schedule& s) {
  if (!dice.one_in(12)) return;
  s.n_threads = static_cast<int>(dice.one_in(2) ? 2 : dice.between(3, 8));
  s.picks.resize(std::min<size_t>(s.picks.size(), 4));
  s.options.arrival_steps.resize(std::min(s.options.arrival_steps.size(), s.picks.size()));
  s.options.limits.max_batch_tokens = std::max<int64_t>(s.options.limits.max_batch_tokens, 45);
  if (s.options.limits.prefill_chunk_tokens)
    s.options.limits.prefill_chunk_tokens =
        std::max<int64_t>(*s.options.limits.prefill_chunk_tokens, 31);
}

// All but the two fastest sets are tens of times slower: drawn seldom, with little company.
void draw_kernels(Dice& dice, Schedule& s, size_t n_kernel_sets) {
  s.kernels = dice.below(dice.one_in(16) ? n_kernel_sets : std::min<size_t>(n_kernel_sets, 2));
  if (s.kernels < 2) return;
  s.picks.resize(std::min<size_t>(s.picks.size(), 2));
  s.options.arrival_steps.resize(std::min(s.options.arrival_steps.size(), s.picks.size()));
}

}  // namespace

std::vector<Request> random_requests(uint64_t seed, size_t n, const RequestLimits& limits) {
  Dice dice(seed);
  std::vector<Request> requests;
  for (size_t i = 0; i < n; ++i) {
    Request& r = requests.emplace_back();
    r.id = "request-" + std::to_string(i);
    const int64_t n_prompt = prompt_length(dice, limits.max_prompt_tokens);
    for (int64_t t = 0; t < n_prompt; ++t) {
      r.prompt_token_ids.push_back(
          static_cast<int32_t>(dice.below(static_cast<uint64_t>(limits.vocab_size))));
    }
    r.max_tokens = static_cast<int32_t>(dice.between(1, limits.max_output_tokens));
    r.sampling = random_sampling(dice, limits.vocab_size);
    r.stop.ignore_eos = dice.one_in(2);
    r.n_top = static_cast<int32_t>(dice.below(4));
  }
  return requests;
}

Schedule random_schedule(uint64_t seed, const ScheduleSpace& space) {
  Dice dice(seed);
  Schedule s;
  s.seed = seed;
  const int64_t company = dice.between(1, space.max_company);
  for (int64_t i = 0; i < company; ++i) s.picks.push_back(dice.below(space.n_requests));
  s.options.kv_dtype = dice.one_of({KvDType::kF16, KvDType::kF16, KvDType::kF32, KvDType::kBF16});
  s.options.max_batch_requests = dice.between(1, space.max_company + 2);
  s.options.limits.max_batch_tokens =
      dice.one_of<int64_t>({1, 2, 5, 9, 16, 17, 45, 64, 129, 300, 2048, 2048});
  if (!dice.one_in(3)) {
    const int64_t edge = dice.one_of<int64_t>({2, 4, 16, 32, 64, 128, 256});
    s.options.limits.prefill_chunk_tokens = dice.between(edge - 1, edge + 1);
  }
  if (dice.one_in(2)) {
    const int64_t last = dice.one_of<int64_t>({2, 8, 40});
    for (int64_t i = 0; i < company; ++i) s.options.arrival_steps.push_back(dice.between(0, last));
  }
  draw_threads(dice, s);
  draw_kernels(dice, s, space.n_kernel_sets);
  return s;
}

std::string describe(const Schedule& s) {
  std::string text = "seed " + std::to_string(s.seed) + ": requests";
  for (size_t i = 0; i < s.picks.size(); ++i) {
    text += (i ? "," : " ") + std::to_string(s.picks[i]);
    if (!s.options.arrival_steps.empty()) text += "@" + std::to_string(s.options.arrival_steps[i]);
  }
  const ScheduleLimits& limits = s.options.limits;
  text += "; in flight " + std::to_string(s.options.max_batch_requests);
  text += "; rows a step " + std::to_string(limits.max_batch_tokens);
  text += "; chunk " + (limits.prefill_chunk_tokens ? std::to_string(*limits.prefill_chunk_tokens)
                                                    : std::string("off"));
  text += "; kv " + std::string(name(s.options.kv_dtype));
  text += "; threads " + std::to_string(s.n_threads);
  return text + "; kernel set " + std::to_string(s.kernels);
}

}  // namespace isobit::testing
