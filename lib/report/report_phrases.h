// Numbers and rules as several reports word them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/run_comparison.h"
#include "gate/rule_judgement.h"

namespace isobit {

std::string percent(double rate);                     // "98.4 %"
std::string rate_text(const Proportion& match);       // "63/64"; "-" without trials
std::string interval_text(const Interval& interval);  // "91.7-99.7 %"
std::string drift_text(
    const std::optional<Drift>& drift);             // "1.2e-05 nat, 3 ulp"; "-" where unknown
std::string nats_text(std::optional<double> nats);  // "0.0126"
std::string first_position(const std::vector<int32_t>& ascending);  // "-" when empty
std::string settings_text(const RunSide& side);  // "engine.threads=1, load.concurrency=8"
// "ok", "not exercised", "incomplete"; "reference" of a cell that others are compared with
std::string state_words(const RunComparison& comparison, const CellComparison& cell);
// "reference, the worst of 2 cells: 0 of 8 prompts differ (0 %); asked: at most 5 %; 95 %: 0 to
// 31 %; decided by ..."
std::string rule_words(const RuleResult& result);
// What answers are held against: "the reference cell", or "the base run" of two.
const char* other_side(const RunComparison& comparison);

// Three significant digits, never as a power of ten: "37.4", "2364".
std::string quantity_text(double value);

}  // namespace isobit
