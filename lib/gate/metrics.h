// Every metric that a rule may name, in one table: what `isobit policy metrics` prints, what policy
// files are checked against and what rules compute.
#pragma once

#include <string>
#include <vector>

#include "gate/figure.h"
#include "gate/policy.h"

namespace isobit {

struct Metric {
  const char* name;
  const char* unit;     // "share", "answers", "nats", ...; a share is printed in per cent
  const char* meaning;  // one sentence
  std::vector<Scope> scopes;
  bool has_bound;       // a rule may ask for its 95 % bound
  bool of_whole_cells;  // computed by the comparison: no selector of tags or prompts applies
  Figure (*figure)(const Selection&);
};

// One figure of the comparison, which no selector narrows.
bool is_of_whole_run(const Metric& metric);

const std::vector<Metric>& metrics();
std::vector<std::string> metric_names();
const Metric* find_metric(const std::string& name);  // null: no such metric

// Whether a rule asks how much alike different answers are, or for the flip law or certificates:
// only a comparison at Detail::kFull knows.
bool needs_full_detail(const Policy& policy);

// "3.1 %", "2", "0.0123 nats"
std::string figure_text(const Metric& metric, double value);

}  // namespace isobit
