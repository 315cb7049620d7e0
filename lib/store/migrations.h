// Forward-only, numbered steps from an empty file to the current schema.
#pragma once

#include <span>

#include "store/database.h"

namespace isobit {

inline constexpr int32_t kStoreApplicationId = 0x69736f62;  // "isob"

struct Migration {
  int32_t to_version = 0;  // 1, 2, ... without gaps
  const char* sql = nullptr;
};

extern const char* const kMigration1;
extern const char* const kMigration2;

std::span<const Migration> migrations();
int32_t current_schema_version();

// Brings the database from its user_version to the last step, in one transaction; also sets
// application_id. A process that lost a race for the first step finds it done. Any failure leaves
// the file as it was.
void migrate(Database& database, std::span<const Migration> steps);

}  // namespace isobit
