#include "compare/conclusions.h"

#include "compare/margins.h"

namespace isobit {

void conclude(RunComparison& comparison, const BaseAnswers& base, const PairingOptions& pairing) {
  comparison.tie_nats = pairing.thresholds.tie_nats;
  set_margin_percentiles(comparison, base.run, base.samples);
  attribute(comparison);
  if (pairing.rows != nullptr) {
    comparison.flip_law = fit_flip_law(*pairing.rows);
    comparison.row_histograms = row_histograms(*pairing.rows, comparison.flip_law->law);
  }
  if (pairing.detail == Detail::kFull)
    comparison.certificates = certify(comparison, base.run, base.samples, pairing.thresholds);
}

}  // namespace isobit
