#include "matrix/recorded_cells.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "matrix/answer_check.h"
#include "matrix/exercised.h"

namespace isobit {
namespace {

using Sentences = std::vector<std::string>;

// "2,0" of the fingerprint; empty where it does not say.
std::vector<int32_t> end_of_sequence_ids(const Fingerprint& fingerprint) {
  const auto item = std::ranges::find_if(fingerprint.items, [](const FingerprintItem& i) {
    return i.item_class == FingerprintClass::kModel && i.name == "config.eos_token_ids";
  });
  std::vector<int32_t> out;
  if (item == fingerprint.items.end()) return out;
  const char* at = item->value.data();
  const char* const end = at + item->value.size();
  for (int32_t id = 0; at < end; ++at) {
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc()) return out;
    out.push_back(id);
    at = next;
  }
  return out;
}

// Samples of each repeat of a cell, in their order.
using Repeats = std::map<int32_t, std::vector<const SampleRecord*>>;

class CellCheck {
 public:
  CellCheck(const RunRecord& run, const Plan& plan, const ModelLimits& limits, size_t max_sentences)
      : run_(run),
        plan_(plan),
        limits_(limits),
        max_sentences_(max_sentences),
        eos_ids_(end_of_sequence_ids(run.fingerprint)) {}

  Sentences check() {
    std::map<int32_t, Repeats> cells;
    for (const SampleRecord& s : run_.samples) cells[s.cell_index][s.repeat].push_back(&s);
    for (const auto& [index, repeats] : cells) {
      if (out_.size() >= max_sentences_) break;
      check_cell(run_.cells[static_cast<size_t>(index)], repeats);
    }
    return std::move(out_);
  }

 private:
  void check_cell(const CellRecord& cell, const Repeats& repeats) {
    // Of other requests only the number of tokens counts here.
    const NeighbourTokens any_tokens = [](int32_t n, uint64_t) {
      return std::vector<int32_t>(static_cast<size_t>(n));
    };
    const BuiltWorkload built =
        build_workload(cell, run_.requests, limits_, any_tokens, plan_.spec.seed);
    check_answers(cell, repeats, built);
    if (cell.exercised) check_exercised(cell, repeats, built);
  }

  void check_answers(const CellRecord& cell, const Repeats& repeats, const BuiltWorkload& built) {
    std::map<int32_t, AnswerCheck> checks;  // by prompt
    for (size_t i = 0; i < built.prompt_index.size(); ++i) {
      if (built.prompt_index[i])
        checks.try_emplace(*built.prompt_index[i], built.workload.items[i].request, eos_ids_,
                           run_.redacted);
    }
    for (const auto& [repeat, samples] : repeats) {
      for (const SampleRecord* s : samples) {
        const std::string fault = checks.at(s->prompt_index).fault(s->trace);
        if (!fault.empty())
          tell(cell, repeat, ", prompt " + std::to_string(s->prompt_index) + ": " + fault);
      }
    }
  }

  static size_t recorded_answers(const BuiltWorkload& built) {
    size_t n = 0;
    for (const WorkItem& item : built.workload.items)
      n += item.recorded ? static_cast<size_t>(std::max(1, item.request.sampling.n)) : 0;
    return n;
  }

  void check_exercised(const CellRecord& cell, const Repeats& repeats, const BuiltWorkload& built) {
    const size_t n_expected = recorded_answers(built);
    for (const auto& [repeat, samples] : repeats) {
      if (samples.size() != n_expected) continue;
      const Exercised judged = judge_exercised(cell, samples, built);
      if (!judged.exercised) tell(cell, repeat, ": is said to be exercised, but " + judged.reason);
    }
  }

  void tell(const CellRecord& cell, int32_t repeat, const std::string& what) {
    if (out_.size() < max_sentences_)
      out_.push_back("cell '" + cell.name + "', repeat " + std::to_string(repeat) + what);
  }

  const RunRecord& run_;
  const Plan& plan_;
  const ModelLimits& limits_;
  size_t max_sentences_;
  std::vector<int32_t> eos_ids_;
  Sentences out_;
};

}  // namespace

std::vector<std::string> answers_unlike_cells(const RunRecord& run, const Plan& plan,
                                              const ModelLimits& limits, size_t max_sentences) {
  return CellCheck(run, plan, limits, max_sentences).check();
}

}  // namespace isobit
