// Files that a checkpoint names itself: only those of its own folder.
//
// A checkpoint comes from outside, and so does what its folder holds: a link in it could name any
// file of the machine, whose bytes would then be digested, and shown in messages, as weights.
#pragma once

#include <filesystem>
#include <string>

namespace isobit {

// `folder`/`name`, refused when there is none and when it is a link that leaves the folder. The
// hub's cache is the one layout built on such links: snapshots/REVISION/FILE points into the blobs
// folder beside snapshots. Throws Error(environment).
std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& name,
                              const std::string& where);

}  // namespace isobit
