// The files that a command line asks to be written: held against each other, and against what may
// not be replaced, when the command line is complete and before anything is opened.
#pragma once

#include <CLI/CLI.hpp>

#include "app/console.h"

namespace isobit::app {

// Throws Error(usage) where two outputs, or an output and the store, are one file by whatever name,
// where an output would replace what the command reads, and for what no output may replace
// (base/protected_files.h). From here on, what is an output may not be read before it is written.
void claim_outputs(const CLI::App& app, const GlobalFlags& flags);

// Throws Error(environment) where the folder of an output cannot be written to: before any work,
// but once there is a log to say it in.
void require_output_folders(const CLI::App& app);

}  // namespace isobit::app
