// What a user writes for a run: "latest", "latest~1", an id or its beginning, "file.db",
// "file.db:latest".
#pragma once

#include <string>

#include "record/run_record.h"

namespace isobit::app {

struct RunRef {
  std::string store;
  std::string run;
};

RunRef parse_run_ref(const std::string& text, const std::string& default_store);

// Throws Error(environment or usage) naming the store and the reference.
RunRecord load_run(const std::string& ref, const std::string& default_store);

}  // namespace isobit::app
