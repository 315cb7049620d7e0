// What a sample is called on a command line and in every report: RUN/CELL/PROMPT[#REPEAT[.CHOICE]].
// lib/why/sample_ref.h reads it back.
#pragma once

#include <cstdint>
#include <string>

#include "compare/run_comparison.h"

namespace isobit {

struct SampleName {
  std::string run_id;
  std::string cell;
  std::string request_id;
  int32_t repeat = 0;
  int32_t sample_index = 0;  // of the choices of one request
};

// Repeat and choice are left out where they are 0.
std::string text_of(const SampleName& name);

// The candidate's sample of a pair.
std::string sample_name(const RunComparison& comparison, const CellComparison& cell,
                        const PairComparison& pair);

// The same without its run: "/load.concurrency=8/p3".
std::string sample_in_run(const CellComparison& cell, const PairComparison& pair);

}  // namespace isobit
