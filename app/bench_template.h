// `isobit bench MODEL --template`: how long the model's chat template takes to render, and to
// parse.
#pragma once

#include <string>
#include <vector>

#include "app/loaded_model.h"
#include "base/json.h"

namespace isobit::app {

struct TemplateTimes {
  std::string model;
  size_t source_bytes = 0;
  int n_messages = 0;  // of the conversation; 0: parsing
  size_t output_bytes = 0;
  std::vector<double> microseconds;  // one per round
};

// One row for parsing, and one for each conversation: 4, 16 and 64 messages of about 20 words.
// Throws Error(usage) when the model has no template, or when it refuses the conversation.
std::vector<TemplateTimes> bench_template(const std::string& model, const ChatRenderer& chat,
                                          int n_rounds);

std::string template_times_text(const std::vector<TemplateTimes>& all);
Json template_times_json(const std::vector<TemplateTimes>& all);

}  // namespace isobit::app
