// `isobit inspect checkpoint|tokenizer|template`: what is in a file, without running anything.
#include <fmt/format.h>

#include "app/inspect.h"
#include "report/text_wrap.h"

namespace isobit::app {
namespace {

struct Inspection {
  const char* name;
  const char* summary;
  Declare declare;
};

constexpr Inspection kInspections[] = {
    {"checkpoint", "Format, sizes, tensors, digests and what a load needs",
     declare_inspect_checkpoint},
    {"tokenizer", "Model type, special tokens, the steps from text to ids, and a probe",
     declare_inspect_tokenizer},
    {"template", "Where the chat template is, what it reads, and a rendered probe",
     declare_inspect_template},
};

}  // namespace

std::string fact(std::string_view name, std::string_view value) {
  constexpr size_t kValueColumn = 21;
  return fmt::format("  {:<18} {}", name, wrapped_words(printable(value), kValueColumn));
}

std::function<int()> declare_inspect(CLI::App& app, Session& session) {
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int()>>> actions;
  for (const Inspection& inspection : kInspections) {
    CLI::App* sub = app.add_subcommand(inspection.name, inspection.summary);
    sub->fallthrough();
    sub->footer(fmt::format("Example:\n  isobit inspect {} examples/tiny-kjv", inspection.name));
    actions.emplace_back(sub, inspection.declare(*sub, session));
  }
  return [actions] {
    for (const auto& [sub, action] : actions)
      if (sub->parsed()) return action();
    return 0;
  };
}

}  // namespace isobit::app
