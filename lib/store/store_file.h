// What a path must look like before SQLite sees it: the checks whose reasons SQLite would not tell
// apart.
#pragma once

#include <filesystem>

#include "store/store.h"

namespace isobit {

enum class StoreFile { kAbsent, kEmpty, kStore };

// Throws the errors listed at Store::open that can be seen from outside. A header that belongs to
// another program, to a newer schema, or to a longer file is refused here.
StoreFile inspect_store_file(const std::filesystem::path& path, StoreMode mode);

}  // namespace isobit
