// What the tokens of a run's answers say, for reports that show them as text.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/console.h"
#include "record/run_record.h"

namespace isobit::app {

// Token id -> its bytes, or its name where it adds none. Of the checkpoint `model`; where that is
// empty, of the one that the run recorded, if it is still there with the tokenizer that the
// fingerprint names; else nothing, and the console is told. Throws Error(environment) for a `model`
// that cannot be read.
std::map<int32_t, std::string> token_texts(const RunRecord& run, const std::string& model,
                                           Console& console);

}  // namespace isobit::app
