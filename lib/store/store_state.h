// What Store keeps behind its interface, shared by the files that implement it.
#pragma once

#include "store/database.h"
#include "store/store.h"

namespace isobit {

struct Store::State {
  State(const std::filesystem::path& path, DatabaseAccess access, int busy_timeout_ms,
        StoreMode store_mode)
      : database(path, access, busy_timeout_ms), mode(store_mode) {}

  Database database;
  StoreMode mode;

  // Throws Error(usage) naming the nearest id.
  int64_t run_key(const std::string& run_id);
};

}  // namespace isobit
