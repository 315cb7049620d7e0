// What no output may take the place of: a store, a key, and what the same command reads or has
// written, whatever name it goes by. A report can be made again; a model, a key or a recording
// cannot.
//
// What is read and written is noted by device and inode, from watch_file_uses() on: a program asks
// for it once. Where nobody does, a file may be read and rewritten at will.
#pragma once

#include <filesystem>

namespace isobit {

void watch_file_uses();
void stop_watching_file_uses();  // and forget what was noted

// Throws Error(usage) where the open file is one that this process appends to.
void note_read(int fd, const std::filesystem::path& path);
void note_written(int fd);
void note_appended(int fd);

// Throws Error(usage) for what is not to be replaced, nor to be appended to. What is not there yet
// may be made, unless its name is that of a store's own companion ("x.db-wal").
void refuse_protected(const std::filesystem::path& target);

}  // namespace isobit
