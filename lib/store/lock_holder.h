// Which processes have a file open, for the message of a locked store.
#pragma once

#include <filesystem>
#include <string>

namespace isobit {

// "process 4711 (isobit)", several separated by commas; empty when none is visible. Looks in /proc,
// so it sees this user's processes only (root: all). The calling process is named "this process",
// and only when no other holds the file.
std::string processes_holding(const std::filesystem::path& path);

}  // namespace isobit
