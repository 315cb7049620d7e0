// `isobit doctor`: what this machine can run, and why not the rest.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/loaded_model.h"
#include "app/version.h"
#include "fingerprint/fingerprint.h"
#include "kernels/registry.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/text_wrap.h"
#include "store/store.h"

namespace isobit::app {
namespace {

constexpr size_t kValueColumn = 27;

int diagnose(Session& session) {
  FingerprintInputs inputs;
  inputs.sqlite_version = sqlite_version();
  const Fingerprint machine = compute_fingerprint(inputs);
  Json sets = Json::array(), items = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const KernelSetStatus& s : list_kernel_sets()) {
    sets.push_back(
        {{"kernel_set", s.name}, {"isa", s.isa}, {"available", s.available}, {"reason", s.reason}});
    rows.push_back({s.name, s.isa, s.available ? "yes" : "no", s.reason});
  }
  std::string listing;
  for (const FingerprintItem& item : machine.items) {
    if (item.item_class != FingerprintClass::kHardware &&
        item.item_class != FingerprintClass::kSoftware)
      continue;
    items.push_back({{"class", name(item.item_class)},
                     {"name", item.name},
                     {"value", item.value},
                     {"reason", item.reason}});
    const bool unknown = item.source == FingerprintSource::kUnknown;
    listing += fmt::format(
        "  {:<24} {}", printable(item.name),
        wrapped_text(printable(unknown ? "unknown: " + item.reason : item.value), kValueColumn));
  }
  if (session.flags.json) {
    session.console.result(json_line({{"version", version_number()},
                                      {"contract", kNumericContractVersion},
                                      {"build", compiler_text() + " " + compiler_flags_text()},
                                      {"cores", n_cores()},
                                      {"kernel_sets", sets},
                                      {"machine", items}}));
    return kOk;
  }
  session.console.result(version_text() + "\n\n" +
                         text_table({{"kernel set", Align::kLeft},
                                     {"isa", Align::kLeft},
                                     {"runs", Align::kLeft},
                                     {"why not", Align::kLeft}},
                                    rows));
  session.console.result(fmt::format("\n{} cores usable\n{}", n_cores(), listing));
  session.console.suggest("isobit demo");
  return kOk;
}

}  // namespace

std::function<int()> declare_doctor(CLI::App&, Session& session) {
  return [&session] { return diagnose(session); };
}

}  // namespace isobit::app
