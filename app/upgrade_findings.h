// What an upgrade did to the answers, as data, in words and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "compare/run_comparison.h"
#include "fingerprint/fingerprint_diff.h"
#include "gate/verdict.h"
#include "matrix/configuration_file.h"
#include "record/run_record.h"

namespace isobit::app {

struct UpgradeArm {
  std::string file;
  Configuration configuration;
  RunRecord run;
  bool reused = false;  // the store had a run of the same fingerprint, plan and prompts
};

// One answer whose tokens the new configuration changed.
struct Flip {
  std::string cell, request_id;
  TokenDivergence divergence;
  std::optional<FlipKind> kind;
  std::string old_text, new_text;  // of the two tokens; empty where a side had ended
};

struct UpgradeFindings {
  RunComparison comparison;
  Verdict verdict;
  std::vector<Flip> flips;                     // by cell, then prompt
  std::vector<FingerprintItemChange> changes;  // what may have done it, arithmetic first
  std::vector<std::string> settings;           // "engine.threads: 1 -> 2": of the cells
};

// `token_bytes`: (vocab_size) what a token adds to the text.
UpgradeFindings find_upgrade(const UpgradeArm& before, const UpgradeArm& after, Level level,
                             const std::vector<std::string>& token_bytes);

std::string upgrade_words(const UpgradeArm& before, const UpgradeArm& after,
                          const UpgradeFindings& findings);
// schemas/upgrade.schema.json
Json upgrade_json(const UpgradeArm& before, const UpgradeArm& after,
                  const UpgradeFindings& findings);

}  // namespace isobit::app
