// Baselines between a store and a file: what goes out, and what may come in.
#pragma once

#include <optional>
#include <string>

#include "record/baseline_file.h"
#include "store/store.h"

namespace isobit::app {

// A baseline file. Throws Error(environment) for a damaged one, and where the fingerprint's id is
// not the one that its items give.
BaselineFile load_baseline_file(const std::string& path);
// Is it one, to look at? False for what cannot be read.
bool is_baseline_file(const std::string& path);

// The policy that gates against a baseline follow.
struct KeptPolicy {
  std::string text;
  std::string where;  // "the policy of baseline prod version 2"
};
// Of a reference that names a baseline, in a store or as a file; nothing for other references, and
// where the baseline has none.
std::optional<KeptPolicy> policy_of_baseline(const std::string& ref,
                                             const std::string& default_store);

struct ImportedBaseline {
  Baseline baseline;
  bool run_was_there = false;
  bool baseline_was_there = false;
};

// Adds the run, unless the store has it, and the baseline as the next version of `name`, unless
// that is what is in force. An import that was cut short goes on where it stopped. Throws
// Error(usage) where the store has another run under that id.
ImportedBaseline import_baseline(Store& store, const BaselineFile& file, const std::string& name);

}  // namespace isobit::app
