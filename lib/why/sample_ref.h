// How one sample is named on a command line and in a report: RUN/CELL/PROMPT[#REPEAT[.CHOICE]].
//
// RUN is a reference to a run, which the program resolves; what follows it is resolved here. CELL
// is a cell's name, its index, or the unique beginning of a name. PROMPT is a request's id, its
// index, or the unique beginning of an id. Repeats and choices count from 0 and are 0 when left
// out. A whole name goes before an index, and an index before a beginning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compare/recorded_samples.h"
#include "record/run_record.h"

namespace isobit {

struct SampleAddress {
  int32_t cell_index = 0;
  SampleKey key;
};

// Throw Error(usage) for what names nothing, with the nearest name, or several things, naming them.
int32_t find_cell(const RunRecord& run, std::string_view word);
int32_t find_prompt(const RunRecord& run, std::string_view word);

// "CELL/PROMPT[#REPEAT[.CHOICE]]". Throws as above, and where there is no such sample:
// Error(incomplete) when the run has not finished, Error(usage) when it has.
SampleAddress find_sample(const RunRecord& run, std::string_view words);

// The sample's trace. REQUIRES: an address from find_sample.
const Trace& trace_at(const RunRecord& run, const SampleAddress& address);

// The shortest text that find_sample reads back, after the run's id: "4f2a/load.concurrency=8/p3".
std::string sample_ref(const RunRecord& run, const SampleAddress& address);

}  // namespace isobit
