#include "compare/sample_name.h"

namespace isobit {

std::string text_of(const SampleName& name) {
  std::string out = name.run_id + "/" + name.cell + "/" + name.request_id;
  if (name.repeat == 0 && name.sample_index == 0) return out;
  out += "#" + std::to_string(name.repeat);
  return name.sample_index == 0 ? out : out + "." + std::to_string(name.sample_index);
}

std::string sample_name(const RunComparison& comparison, const CellComparison& cell,
                        const PairComparison& pair) {
  return comparison.candidate.id + sample_in_run(cell, pair);
}

std::string sample_in_run(const CellComparison& cell, const PairComparison& pair) {
  return text_of({.run_id = {},
                  .cell = cell.name,
                  .request_id = pair.request_id,
                  .repeat = pair.repeat,
                  .sample_index = pair.sample_index});
}

}  // namespace isobit
