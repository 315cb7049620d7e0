// Bundles as files: what `isobit store export` wrote, wherever a run is named.
#pragma once

#include <string>

#include "bundle/run_bundle.h"

namespace isobit::app {

inline constexpr size_t kMaxBundleBytes = size_t{8} << 30;

// Is it one, or meant to be one? By its first bytes, or its name; false for what cannot be read.
bool is_bundle_file(const std::string& path);

// Throws Error(environment) for a damaged one, for a run whose rows do not bear out what it says of
// itself, or that lacks answers, and for a policy that is none.
RunBundle load_bundle(const std::string& path);

// The last two of these, of a bundle that was read.
void require_sound_bundle(const RunBundle& bundle, const std::string& where);

// "latest", "latest~1", an id or a unique beginning of one. Throws Error(usage) naming the runs
// that there are.
RunRecord run_in_bundle(RunBundle bundle, const std::string& ref, const std::string& path);

}  // namespace isobit::app
