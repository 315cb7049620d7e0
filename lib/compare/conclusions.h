// What follows from all pairs of a comparison taken together: kinds, percentiles, and on request
// the flip law and the certificates.
#pragma once

#include "compare/pairing.h"

namespace isobit {

struct BaseAnswers {
  const RunRecord& run;
  const RecordedSamples& samples;
};

// `pairing`: how the pairs were compared, with the rows where they were kept.
// REQUIRES: cells, totals and noise are summed up.
void conclude(RunComparison& comparison, const BaseAnswers& base, const PairingOptions& pairing);

}  // namespace isobit
