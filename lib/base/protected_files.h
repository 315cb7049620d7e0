// What no output may take the place of: a store, a key, a part of a checkpoint, and what the same
// command reads or has written, whatever name it goes by. A report can be made again; a model, a
// key or a recording cannot.
//
// Parts of a checkpoint: a .safetensors or GGUF file that is there; and, beside a .safetensors
// file, the names that the folder's configuration, tokenizer and template have, whether they are
// there or not: a new tokenizer_config.json changes the model as much as another one.
//
// What is read and written is noted by device and inode, from watch_file_uses() on: a program asks
// for it once. Where nobody does, a file may be read and rewritten at will.
#pragma once

#include <filesystem>

namespace isobit {

void watch_file_uses();
void stop_watching_file_uses();  // and forget what was noted

// From here on the file is an output: what is read before it was written may not be it.
void note_output(const std::filesystem::path& path);

// Throws Error(usage) where the open file is one that this process appends to, or an output that it
// has not written yet.
void note_read(int fd, const std::filesystem::path& path);
void note_written(int fd);
void note_appended(int fd);
// Whether what is appended to turned out to be an input: it must not grow any further.
bool appended_file_was_read();

// Throws Error(usage) for what is not to be replaced, nor to be appended to. What is not there yet
// may be made, unless its name is that of a store's own companion ("x.db-wal") or of a part of a
// checkpoint.
void refuse_protected(const std::filesystem::path& target);

}  // namespace isobit
