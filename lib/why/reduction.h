// The smallest case in which a request still answers differently than alone: fewest neighbours,
// settings and rows in flight, shortest prompts and outputs.
//
// Everything that is tried is one deletion (a neighbour, a token, a setting, half of a length),
// kept when the difference stays, until no single deletion keeps it. Nothing is random, so the same
// sample always ends at the same case.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/divergence.h"
#include "compare/level.h"
#include "engine/operator_difference.h"
#include "why/probed_answer.h"
#include "why/recorded_traffic.h"

namespace isobit {

using Settings = std::map<std::string, std::string>;

// A request in company, and the settings with which it is asked alone.
struct DivergingCase {
  Execution execution;
  Settings alone_settings;
};

struct CaseSize {
  int64_t n_neighbours = 0;
  int64_t concurrency = 0;
  int64_t n_prompt_tokens = 0;     // of the request
  int64_t max_tokens = 0;          // of the request
  int64_t n_neighbour_tokens = 0;  // prompts of all neighbours
  int64_t n_settings = 0;          // that differ from the request alone
};
CaseSize size_of(const DivergingCase& c);

// The two answers of a case.
struct CaseAnswers {
  Trace alone, in_company;
};
CaseAnswers answers_of_case(Target& target, const DivergingCase& c,
                            const BetweenAnswers& between_answers = {});
// kBitwise: another bit of anything recorded; kRequestReproducible: another token or ending.
bool case_diverges(const CaseAnswers& answers, Level level);

struct GuiltyNeighbour {
  std::string id;
  int64_t place = 0;  // among the case's requests, in order of admission
  int64_t n_prompt_tokens = 0;
  int64_t max_tokens = 0;
  bool before_request = false;  // admitted before the request
};

struct Reduction {
  DivergingCase smallest;
  CaseSize before, after;
  std::vector<GuiltyNeighbour> guilty;  // those left: without any one of them nothing differs
  std::vector<std::string> settings;    // "engine.chunked_prefill=17": without it nothing differs
  Divergence divergence;                // of the smallest case, alone against in company
  std::optional<OperatorDifference> first;  // where the target can be probed
  int64_t n_runs = 0;                       // executions in company that were tried
  bool one_minimal = false;  // no single deletion keeps the difference; false: max_runs was reached
  bool repeatable = false;   // two further executions gave the same bits, which differ from alone
};

struct ReduceOptions {
  Level level = Level::kBitwise;
  int64_t max_runs = 20000;
  BetweenAnswers between_answers = {};
  std::function<void(const CaseSize& smallest, int64_t n_runs)> on_progress = {};  // may be empty
};

// nullopt: in its schedule the request answers as it does alone.
std::optional<Reduction> reduce(const WatchedTarget& target, const DivergingCase& start,
                                const ReduceOptions& options = {});

}  // namespace isobit
