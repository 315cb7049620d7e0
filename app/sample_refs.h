// What a user writes for one sample: RUN/CELL/PROMPT[#REPEAT[.CHOICE]], where RUN is anything that
// run_refs.h reads, a store's path with its slashes included (why/sample_ref.h has the rest).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "record/run_record.h"
#include "why/sample_ref.h"

namespace isobit::app {

inline constexpr const char* kSampleHelp =
    "Sample: RUN/CELL/PROMPT[#REPEAT[.CHOICE]], cells and prompts by name, index or beginning";

// "s.db:latest/1/p3" -> ("s.db:latest", "1/p3"). What follows the run may be empty.
std::pair<std::string, std::string> split_run_ref(const std::string& text);

struct NamedSample {
  RunRecord run;
  SampleAddress address;
};

// Throws as load_run and find_sample do.
NamedSample load_sample(const std::string& text, const std::string& default_store);

// RUN, RUN/CELL or RUN/CELL/PROMPT.
struct NamedPart {
  RunRecord run;
  std::optional<int32_t> cell_index;
  std::optional<SampleAddress> sample;
};
NamedPart load_part(const std::string& text, const std::string& default_store);

}  // namespace isobit::app
