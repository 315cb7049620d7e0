// The verdict inside a statement, computed again from the runs that it is about: whoever has both
// runs need not believe a figure.
#pragma once

#include <string>
#include <vector>

#include "bundle/run_bundle.h"
#include "statement/disagreement.h"
#include "statement/in_toto.h"

namespace isobit::app {

// A run of a bundle that was given, by the digest that statements name it by.
struct GivenRun {
  RunRecord run;
  std::string digest;
};

enum class VerdictAgain { kSame, kDiffers, kRunsNotGiven };

struct VerdictFinding {
  VerdictAgain state = VerdictAgain::kRunsNotGiven;
  std::string runs;                       // "run/A and run/B"
  std::vector<Disagreement> differences;  // of the state kDiffers, the first few
};

// REQUIRES: the statement is a test-result that disagreements_inside (statement/verdict_inside.h)
// finds nothing in, expired overrides among them. Figures may differ in their last digits: the
// functions of two machines' mathematical libraries do.
VerdictFinding verdict_again(const InTotoStatement& statement, const std::vector<GivenRun>& given,
                             const std::string& where);

}  // namespace isobit::app
