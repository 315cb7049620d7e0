#include "app/sample_refs.h"

#include <algorithm>
#include <filesystem>

#include "app/run_refs.h"

namespace isobit::app {
namespace {

// Length of the beginning that is a store's path, 0 for none: an existing file, or what ends in
// ".db" (so that a store that is missing is what the error is about).
size_t store_path_length(const std::string& text) {
  for (size_t end = text.size(); end > 0; --end) {
    const bool ends_word = end == text.size() || text[end] == '/' || text[end] == ':';
    std::error_code ignored;
    if (ends_word && std::filesystem::is_regular_file(text.substr(0, end), ignored)) return end;
  }
  for (size_t at = text.find(".db"); at != std::string::npos; at = text.find(".db", at + 1)) {
    const size_t end = at + 3;
    if (end == text.size() || text[end] == '/' || text[end] == ':') return end;
  }
  return 0;
}

}  // namespace

std::pair<std::string, std::string> split_run_ref(const std::string& text) {
  const size_t slash = text.find('/', store_path_length(text));
  if (slash == std::string::npos) return {text, ""};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

NamedSample load_sample(const std::string& text, const std::string& default_store) {
  const auto [run_ref, rest] = split_run_ref(text);
  NamedSample out{.run = load_run(run_ref, default_store), .address = {}};
  out.address = find_sample(out.run, rest);
  return out;
}

NamedPart load_part(const std::string& text, const std::string& default_store) {
  const auto [run_ref, rest] = split_run_ref(text);
  NamedPart out{.run = load_run(run_ref, default_store), .cell_index = {}, .sample = {}};
  if (rest.empty()) return out;
  const bool is_cell = rest.find('/') == std::string::npos ||
                       std::any_of(out.run.cells.begin(), out.run.cells.end(),
                                   [&, &words = rest](const auto& c) { return c.name == words; });
  if (is_cell) {
    out.cell_index = find_cell(out.run, rest);
  } else {
    out.sample = find_sample(out.run, rest);
    out.cell_index = out.sample->cell_index;
  }
  return out;
}

}  // namespace isobit::app
