// What `isobit verify` finds in one file of evidence, as values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "statement/in_toto.h"
#include "statement/signing_key.h"

namespace isobit::app {

enum class SignatureFinding {
  kNone,        // such a file carries none
  kUnsigned,    // a statement that nobody vouches for
  kNotChecked,  // signed, and no key was given
  kGood,
  kWrong,
  kUnknownKey,  // signed by other keys than the one given
  kExpected,    // unsigned, though a key was given
};
const char* name(SignatureFinding finding);

enum class DigestFinding {
  kSame,
  kDiffers,
  kMissing,   // listed, and not there
  kNotNamed,  // there, and named by nothing
  kNotGiven,  // named, and no such file was given
};
const char* name(DigestFinding finding);

struct DigestCheck {
  std::string what;  // "file report.html", "policy.json inside", "member runs/a/run.json"
  DigestFinding finding = DigestFinding::kSame;
  std::string expected = {}, found = {};  // SHA-256; empty: there is none
};

struct VerificationResult {
  std::string kind;  // "bundle", "envelope", "statement", "bom"
  SignatureFinding signature = SignatureFinding::kNone;
  std::vector<std::string> key_ids = {};  // that an envelope names
  std::string predicate_type = {};
  std::string result = {};  // PASSED, WARNED, FAILED; empty: not a test result
  std::vector<DigestCheck> digests = {};

  bool digests_hold() const;
};

// Throws Error(environment) for what is none of these, or is damaged beyond being checked.
VerificationResult verify_file(const std::string& path, const std::vector<std::string>& files,
                               const std::optional<PublicKey>& key);

}  // namespace isobit::app
