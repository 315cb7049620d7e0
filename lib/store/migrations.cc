#include "store/migrations.h"

#include "base/error.h"

namespace isobit {

std::span<const Migration> migrations() {
  static const Migration steps[] = {{.to_version = 1, .sql = kMigration1},
                                    {.to_version = 2, .sql = kMigration2}};
  return steps;
}

int32_t current_schema_version() {
  return migrations().back().to_version;
}

void migrate(Database& database, std::span<const Migration> steps) {
  Transaction transaction(database);
  const int64_t version = database.number("PRAGMA user_version");
  for (const Migration& step : steps) {
    if (step.to_version <= version) continue;
    database.execute(step.sql);
    database.execute("PRAGMA user_version = " + std::to_string(step.to_version));
  }
  database.execute("PRAGMA application_id = " + std::to_string(kStoreApplicationId));
  transaction.commit();
}

}  // namespace isobit
