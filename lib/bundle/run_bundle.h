// Runs as one file to carry: whoever has it can compare, gate and replay them without the store.
//
// A bundle is a tar archive (bundle/tar_archive.h) of JSON that people and other programs can read:
// manifest.json, policy.json where one was given, and for each run runs/ID/{run.json, *.jsonl}, one
// element a line. The manifest lists every member with its size and SHA-256, and each run with the
// digest that statements name it by. The same content gives the same bytes; the format is
// schemas/bundle.schema.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/run_record.h"

namespace isobit {

inline constexpr size_t kMaxPolicyBytes = size_t{4} << 20;

struct RunBundle {
  std::vector<RunRecord> runs;  // the oldest first; the last one is `latest`
  std::string policy;           // its text, at most kMaxPolicyBytes; empty: none was given
  // Of a bundle that was read: what its manifest says is the digest of each of `runs`.
  std::vector<std::string> listed_digests = {};
};

// Must a run have the digest that the manifest lists?
enum class RunDigests { kMustHold, kLeftToCaller };

// SHA-256 (hex) over everything in the run: the canonical JSON of its sections (record/run_json.h).
std::string run_digest(const RunRecord& run);

// Sorts the runs by the second they were created in; runs of one second stay in the order given.
// Throws Error(usage) for no run, one that is there twice, an id that is no folder's name, or a
// policy that is too large.
std::string bundle_bytes(RunBundle bundle);

// Throws Error(environment) beginning with `where` for all that bundle_bytes does not write:
// another archive, a newer format, a member that is missing or not listed, a checksum or size that
// differs, a policy that is empty or too large, and all that run_from_sections refuses. Headers may
// be another archiver's (bundle/tar_archive.h).
RunBundle read_bundle(std::string_view bytes, const std::string& where,
                      RunDigests digests = RunDigests::kMustHold);

// A member's SHA-256, as its manifest lists it and as it is; empty: not listed, or not there.
struct MemberCheck {
  std::string name, listed, found;
};
// Every member but the manifest. Throws Error(environment) beginning with `where` for what is no
// bundle of this format.
std::vector<MemberCheck> check_bundle(std::string_view bytes, const std::string& where);

// Do a file's first bytes say that it is a tar archive? Needs 262 of them.
bool begins_as_tar(std::string_view bytes);

}  // namespace isobit
