// Where a name leads: two names are one file where their places are the same.
#pragma once

#include <filesystem>
#include <system_error>

namespace isobit {

// The absolute path of the file that `name` leads to, links followed, also where that file, or what
// the last link points to, is not there yet. Sets `failed`, and returns what it came to, where the
// system refuses to look (a loop of links, a working directory that is gone).
std::filesystem::path file_place(const std::filesystem::path& name, std::error_code& failed);

// Throws Error(environment) where no file can be made in the folder that `path` leads to.
void require_writable_folder(const std::filesystem::path& path);

}  // namespace isobit
