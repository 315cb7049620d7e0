// A run as JSON, complete to the bit, in sections whose elements a text diff can tell apart.
//
// Floats are the shortest decimals that give their bits back; what JSON numbers cannot say (NaN,
// infinities, -0) is a string of eight hexadecimal digits. Text that is not UTF-8 is
// {"bytes": "hexadecimal"}.
#pragma once

#include <string>

#include "base/json.h"
#include "record/run_record.h"

namespace isobit {

// {"run": {...}, "fingerprint": [...], "requests": [...], "cells": [...], "samples": [...],
// "forced": [...]}; schemas/baseline.schema.json says what is in them.
Json run_sections(const RunRecord& run);

// The way back, from an object that has these sections among others. Throws Error(environment)
// beginning with `where` for anything that run_sections does not write: members missing or unknown,
// values out of range, cells out of order, samples of no cell or prompt, out of order or twice.
RunRecord run_from_sections(const Json& sections, const std::string& where);

}  // namespace isobit
