// What a user writes for a run: "latest", "latest~1", an id or its beginning, "file.db",
// "file.db:latest".
#pragma once

#include <string>

#include "app/console.h"
#include "record/run_record.h"

namespace isobit::app {

struct RunRef {
  std::string store;
  std::string run;
};

RunRef parse_run_ref(const std::string& text, const std::string& default_store);

// Throws Error(environment or usage) naming the store and the reference.
RunRecord load_run(const std::string& ref, const std::string& default_store);

// A word as a shell takes it: quoted where it holds anything but letters, digits and _-./~:@%+,=
std::string shell_word(const std::string& word);

// " --store FILE", or "" for the default: the end of a suggested command.
std::string store_option(const GlobalFlags& flags);

}  // namespace isobit::app
