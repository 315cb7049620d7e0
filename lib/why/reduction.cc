#include "why/reduction.h"

#include <algorithm>

#include "base/digest.h"
#include "base/error.h"
#include "why/minimal_subset.h"

namespace isobit {
namespace {

std::string text_of(const Request& r) {
  std::string out = std::to_string(r.max_tokens) + "/" + std::to_string(r.sampling.n) + "/" +
                    std::to_string(r.sampling.seed);
  for (const int32_t id : r.prompt_token_ids) out += " " + std::to_string(id);
  return out;
}

std::string text_of(const Settings& settings) {
  std::string out;
  for (const auto& [key, value] : settings) out += key + "=" + value + "\n";
  return out;
}

// Tells cases of one reduction apart: what reduction changes.
std::string digest_of(const Execution& e) {
  std::string out = text_of(e.workload.settings) + std::to_string(e.workload.concurrency) + " " +
                    std::to_string(e.item);
  for (const WorkItem& item : e.workload.items)
    out += "\n" + item.request.id + " " + text_of(item.request);
  return sha256_hex(out);
}

Execution alone_in(const DivergingCase& c) {
  Execution one = alone(c.execution);
  one.workload.settings = c.alone_settings;
  return one;
}

// Thrown when the budget is spent; the smallest case so far stands.
struct BudgetSpent {};

class Reducer {
 public:
  Reducer(Target& target, DivergingCase start, const ReduceOptions& options)
      : target_(target), case_(std::move(start)), options_(options) {}

  bool diverges_at_start() { return diverges(case_); }

  // True: nothing more can be taken away.
  bool run() {
    try {
      // The prompt goes last: it takes most of the executions, and what is deleted before it is
      // rarely undone by it. Later passes only prove that nothing more can go.
      for (changed_ = true; changed_; largest_piece_ = 1) {
        changed_ = false;
        for (const auto pass :
             {&Reducer::cut_output, &Reducer::drop_neighbours, &Reducer::reset_settings,
              &Reducer::lower_concurrency, &Reducer::drop_choices, &Reducer::lower_output,
              &Reducer::shorten_neighbours, &Reducer::shorten_prompt})
          (this->*pass)();
      }
      return true;
    } catch (const BudgetSpent&) {
      return false;
    }
  }

  const DivergingCase& smallest() const { return case_; }
  int64_t n_runs() const { return n_runs_; }

 private:
  bool diverges(const DivergingCase& candidate) {
    const auto [at, is_new] = known_.try_emplace(digest_of(candidate.execution), false);
    if (!is_new) return at->second;
    if (n_runs_ >= options_.max_runs) {
      known_.erase(at);
      throw BudgetSpent{};
    }
    n_runs_++;
    const Trace in_company = answer_of(target_, candidate.execution, options_.between_answers);
    return at->second = case_diverges({.alone = alone_answer(candidate), .in_company = in_company},
                                      options_.level);
  }

  // Kept: most deletions leave the request itself as it is.
  const Trace& alone_answer(const DivergingCase& c) {
    const Execution one = alone_in(c);
    const auto [at, is_new] = alone_answers_.try_emplace(digest_of(one));
    if (is_new) at->second = answer_of(target_, one, options_.between_answers);
    return at->second;
  }

  bool keep_if_diverges(const DivergingCase& candidate) {
    if (!diverges(candidate)) return false;
    if (digest_of(candidate.execution) != digest_of(case_.execution)) changed_ = true;
    case_ = candidate;
    if (options_.on_progress) options_.on_progress(size_of(case_), n_runs_);
    return true;
  }

  Request& request_of(DivergingCase& c, size_t item) const {
    return c.execution.workload.items[item].request;
  }

  // The answer need not go on after the position at which it differs.
  void cut_output() {
    const Trace in_company = answer_of(target_, case_.execution, options_.between_answers);
    const Divergence d = compare_samples(alone_answer(case_), in_company);
    std::optional<int32_t> position;
    if (d.numeric && options_.level == Level::kBitwise) position = d.numeric->position;
    if (d.token) position = std::min(d.token->position, position.value_or(d.token->position));
    if (!position) return;
    DivergingCase candidate = case_;
    Request& request = request_of(candidate, candidate.execution.item);
    request.max_tokens = std::min(request.max_tokens, *position + 1);
    keep_if_diverges(candidate);
  }

  void drop_neighbours() {
    std::vector<size_t> neighbours;
    for (size_t i = 0; i < case_.execution.workload.items.size(); ++i) {
      if (i != case_.execution.item) neighbours.push_back(i);
    }
    const DivergingCase whole = case_;
    minimal_subset<size_t>(neighbours, [&](const std::vector<size_t>& kept) {
      return keep_if_diverges(with_neighbours(whole, kept));
    });
  }

  static DivergingCase with_neighbours(const DivergingCase& whole,
                                       const std::vector<size_t>& kept) {
    DivergingCase out = whole;
    out.execution.workload.items.clear();
    for (size_t i = 0; i < whole.execution.workload.items.size(); ++i) {
      if (i == whole.execution.item) out.execution.item = out.execution.workload.items.size();
      if (i == whole.execution.item || std::ranges::find(kept, i) != kept.end())
        out.execution.workload.items.push_back(whole.execution.workload.items[i]);
    }
    return out;
  }

  void reset_settings() {
    std::vector<std::string> changed;
    for (const auto& [key, value] : case_.execution.workload.settings) {
      if (setting(case_.alone_settings, key) != value) changed.push_back(key);
    }
    const DivergingCase whole = case_;
    minimal_subset<std::string>(changed, [&](const std::vector<std::string>& kept) {
      DivergingCase candidate = whole;
      candidate.execution.workload.settings = whole.alone_settings;
      for (const std::string& key : kept)
        candidate.execution.workload.settings[key] = whole.execution.workload.settings.at(key);
      return keep_if_diverges(candidate);
    });
  }

  static std::string setting(const Settings& settings, const std::string& key) {
    const auto at = settings.find(key);
    return at == settings.end() ? std::string() : at->second;
  }

  void lower_concurrency() {
    int32_t n_choices = 0;
    for (const WorkItem& item : case_.execution.workload.items)
      n_choices += std::max(1, item.request.sampling.n);
    const auto with = [&](int32_t concurrency) {
      DivergingCase candidate = case_;
      candidate.execution.workload.concurrency = concurrency;
      return keep_if_diverges(candidate);
    };
    const int32_t now = case_.execution.workload.concurrency;
    if (n_choices < now && !with(n_choices)) return;
    smallest_number<int32_t>(1, case_.execution.workload.concurrency, with);
  }

  // Further choices of a request are company too.
  void drop_choices() {
    for (size_t i = 0; i < case_.execution.workload.items.size(); ++i) {
      const bool subject = i == case_.execution.item;
      const int32_t least = subject ? case_.execution.sample_index + 1 : 1;
      const int32_t now = request_of(case_, i).sampling.n;
      if (now <= least) continue;
      smallest_number<int32_t>(least, now, [&](int32_t n) {
        DivergingCase candidate = case_;
        request_of(candidate, i).sampling.n = n;
        return keep_if_diverges(candidate);
      });
    }
  }

  void shorten_neighbours() {
    for (size_t i = 0; i < case_.execution.workload.items.size(); ++i) {
      if (i == case_.execution.item) continue;
      lower_max_tokens(i);
      delete_tokens(i);
    }
  }

  void shorten_prompt() { delete_tokens(case_.execution.item); }
  void lower_output() { lower_max_tokens(case_.execution.item); }

  void lower_max_tokens(size_t item) {
    smallest_number<int32_t>(1, request_of(case_, item).max_tokens, [&](int32_t n) {
      DivergingCase candidate = case_;
      request_of(candidate, item).max_tokens = n;
      return keep_if_diverges(candidate);
    });
  }

  void delete_tokens(size_t item) {
    minimal_subset<int32_t>(
        request_of(case_, item).prompt_token_ids,
        [&](const std::vector<int32_t>& kept) {
          DivergingCase candidate = case_;
          request_of(candidate, item).prompt_token_ids = kept;
          return keep_if_diverges(candidate);
        },
        1, largest_piece_);
  }

  Target& target_;
  DivergingCase case_;
  const ReduceOptions& options_;
  std::map<std::string, bool> known_;
  std::map<std::string, Trace> alone_answers_;
  int64_t n_runs_ = 0;
  size_t largest_piece_ = SIZE_MAX;  // of tokens deleted at once
  bool changed_ = false;
};

void name_what_is_left(Reduction& out) {
  const Workload& workload = out.smallest.execution.workload;
  for (size_t i = 0; i < workload.items.size(); ++i) {
    if (i == out.smallest.execution.item) continue;
    const Request& r = workload.items[i].request;
    out.guilty.push_back({.id = r.id,
                          .place = static_cast<int64_t>(i),
                          .n_prompt_tokens = static_cast<int64_t>(r.prompt_token_ids.size()),
                          .max_tokens = r.max_tokens,
                          .before_request = i < out.smallest.execution.item});
  }
  for (const auto& [key, value] : workload.settings) {
    const auto at = out.smallest.alone_settings.find(key);
    if (at == out.smallest.alone_settings.end() || at->second != value)
      out.settings.push_back(key + "=" + value);
  }
}

void verify(Reduction& out, Target& target, const ReduceOptions& options) {
  const CaseAnswers first = answers_of_case(target, out.smallest, options.between_answers),
                    second = answers_of_case(target, out.smallest, options.between_answers);
  out.repeatable = same_answer(first.alone, second.alone) &&
                   same_answer(first.in_company, second.in_company) &&
                   case_diverges(first, options.level);
  out.divergence = compare_samples(first.alone, first.in_company);
}

void locate(Reduction& out, const WatchedTarget& target, const ReduceOptions& options) {
  const Divergence& d = out.divergence;
  if (!target.can_be_probed() || !out.repeatable || !(d.numeric || d.token)) return;
  int32_t position = d.token ? d.token->position : d.numeric->position;
  if (d.numeric) position = std::min(position, d.numeric->position);
  const Execution one = alone_in(out.smallest);
  const int32_t last = static_cast<int32_t>(one.request().prompt_token_ids.size()) - 1 + position;
  out.first = first_operator_difference(
      probed_choice(target, one, last, options.between_answers),
      probed_choice(target, out.smallest.execution, last, options.between_answers));
}

}  // namespace

CaseSize size_of(const DivergingCase& c) {
  const Workload& workload = c.execution.workload;
  CaseSize size{.n_neighbours = static_cast<int64_t>(workload.items.size()) - 1,
                .concurrency = workload.concurrency};
  for (size_t i = 0; i < workload.items.size(); ++i) {
    const Request& r = workload.items[i].request;
    const auto n = static_cast<int64_t>(r.prompt_token_ids.size());
    if (i != c.execution.item) {
      size.n_neighbour_tokens += n;
      continue;
    }
    size.n_prompt_tokens = n;
    size.max_tokens = r.max_tokens;
  }
  for (const auto& [key, value] : workload.settings) {
    const auto at = c.alone_settings.find(key);
    size.n_settings += at == c.alone_settings.end() || at->second != value;
  }
  return size;
}

CaseAnswers answers_of_case(Target& target, const DivergingCase& c,
                            const BetweenAnswers& between_answers) {
  return {.alone = answer_of(target, alone_in(c), between_answers),
          .in_company = answer_of(target, c.execution, between_answers)};
}

bool case_diverges(const CaseAnswers& answers, Level level) {
  const Divergence d = compare_samples(answers.alone, answers.in_company);
  const bool tokens = d.token || d.finish_differs || d.reference_length != d.candidate_length;
  return tokens || (level == Level::kBitwise && d.numeric);
}

std::optional<Reduction> reduce(const WatchedTarget& target, const DivergingCase& start,
                                const ReduceOptions& options) {
  ISOBIT_REQUIRE(options.max_runs >= 1);
  Reducer reducer(*target.target, start, options);
  if (!reducer.diverges_at_start()) return std::nullopt;
  Reduction out;
  out.before = size_of(start);
  out.one_minimal = reducer.run();
  out.smallest = reducer.smallest();
  out.after = size_of(out.smallest);
  out.n_runs = reducer.n_runs();
  name_what_is_left(out);
  verify(out, *target.target, options);
  locate(out, target, options);
  return out;
}

}  // namespace isobit
