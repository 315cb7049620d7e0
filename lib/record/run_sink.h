// Where a run goes while it happens: the runner writes to it, the store implements it, tests fake
// it.
//
// It sits here and not beside the runner because the store may know records only.
#pragma once

#include "record/run_record.h"

namespace isobit {

// What became of a delivered sample. A cell that was interrupted runs again as a whole, so a sample
// may arrive twice; the first one stays, and the second says whether it was the same answer.
enum class Landing { kStored, kAlreadySame, kAlreadyDifferent };

class RunSink {
 public:
  virtual ~RunSink() = default;
  virtual void begin_cell(const CellRecord& cell) = 0;
  // Returns once the sample can no longer be lost by a crash of this process.
  virtual Landing sample(const SampleRecord& sample) = 0;
  // Teacher-forced positions of a sample that was delivered before; a second delivery changes
  // nothing.
  virtual void forced(const ForcedRecord& forced) = 0;
  virtual void end_cell(const CellRecord& cell) = 0;
};

}  // namespace isobit
