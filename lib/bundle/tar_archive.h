// A tar archive, written in the one form that a bundle has: plain files, sorted by name, in ustar
// format, with no time, owner or padding that could differ.
//
// What is read is more: a bundle that was unpacked and packed again by another archiver has
// folders, owners, times, another order, and zeros to the end of a record. None of these says
// anything, and they are ignored. libarchive knows the format; what is added here is distrust.
// Bundles come from strangers, so links, devices, names outside the archive, names twice, headers
// between members, sizes beyond the end and bytes after it are all refused, and no byte is copied
// or allocated because a header says so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobit {

struct TarMember {
  std::string name;  // "runs/a/run.json"
  std::string_view content;
};

// The same members give the same bytes. REQUIRES: names ascending, each at most 100 bytes.
std::string tar_bytes(const std::vector<TarMember>& members);

// The members in the archive's order, as views into `bytes`. Throws Error(environment) beginning
// with `where`.
std::vector<TarMember> read_tar(std::string_view bytes, const std::string& where);

}  // namespace isobit
