// A good kernel set with one fault planted in one layer: each is of a kind that serving engines
// have shipped, changes nothing but bits, and depends on traffic, so that only an audit finds it.
//
// A KernelSet is a table of plain functions, so what a fault remembers is static: one
// FaultyKernelSet exists at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/ops.h"

namespace isobit::testing {

enum class PlantedFault {
  kNone,                // the wrapping alone: must not be found
  kReorderedReduction,  // matmul (down): one chain over all of K in every other row of a step
  kSplitByRows,         // matmul (attention output): no segments in steps of more than 8 rows
  kSplitBySequences,    // attention: one split, whatever the length, where sequences share a step
  kStaleKvBlock,        // kv_write: the first position of a block that is handed out again is lost
  kFlippedUlp,          // matmul (down): one ulp of one element of the last of more than 2 rows
};

class FaultyKernelSet {
 public:
  // `layer`: the one that has the fault, of `n_layers`.
  FaultyKernelSet(PlantedFault fault, const KernelSet& good, int64_t layer, int64_t n_layers);
  ~FaultyKernelSet();
  FaultyKernelSet(const FaultyKernelSet&) = delete;
  FaultyKernelSet& operator=(const FaultyKernelSet&) = delete;

  const KernelSet& set() const { return set_; }
  // To be called before each run of an engine: its cache is a new one.
  void begin_run();

 private:
  KernelSet set_;
};

}  // namespace isobit::testing
