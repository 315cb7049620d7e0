#include "app/output_schemas.h"

#include <fmt/format.h>

namespace isobit::app {

const std::vector<OutputSchema>& output_schemas() {
  static const std::vector<OutputSchema> table = {
      {"--version", "version", ""},
      {"baseline export", "baselines", "export"},
      {"baseline import", "baselines", "import"},
      {"baseline list", "baselines", "list"},
      {"baseline promote", "baselines", "set"},
      {"baseline rm", "baselines", "rm"},
      {"baseline set", "baselines", "set"},
      {"baseline show", "baselines", "show"},
      {"baseline verify", "baselines", "verify"},
      {"bench", "bench", ""},
      {"bisect", "why", "bisection"},
      {"compare", "comparison", ""},
      {"completion", "completion", ""},
      {"demo", "demo", ""},
      {"doctor", "doctor", ""},
      {"explain", "why", "explanation"},
      {"explain", "rule", ""},
      {"fingerprint", "fingerprint", ""},
      {"fingerprint", "evidence", "bom"},
      {"fingerprint diff", "fingerprint_diff", ""},
      {"fingerprint verify", "fingerprint_diff", ""},
      {"gate", "verdict", ""},
      {"gate", "upgrade", ""},
      {"help", "help", ""},
      {"inspect checkpoint", "inspect", "checkpoint"},
      {"inspect template", "inspect", "template"},
      {"inspect tokenizer", "inspect", "tokenizer"},
      {"plan", "plan", ""},
      {"policy check", "policy", ""},
      {"policy list", "policies", "list"},
      {"policy metrics", "policies", "metrics"},
      {"policy show", "policy", ""},
      {"prompts", "prompt_sets", ""},
      {"prompts", "prompts", ""},
      {"reduce", "why", "reduction"},
      {"replay", "why", "replay"},
      {"report", "report", ""},
      {"run", "run", ""},
      {"schema", "schema", ""},
      {"selftest", "selftest", ""},
      {"store check", "store", "check"},
      {"store export", "evidence", "export"},
      {"store import", "evidence", "import"},
      {"store info", "store", "info"},
      {"store list", "store", "list"},
      {"store merge", "evidence", "merge"},
      {"store prune", "store_prune", ""},
      {"store query", "store", "query"},
      {"tokens decode", "inspect", "decoded"},
      {"tokens encode", "inspect", "encoded"},
      {"tokens render", "inspect", "rendered"},
      {"verify", "evidence", "verify"},
  };
  return table;
}

const std::vector<PublishedSchema>& published_schemas() {
  static const std::vector<PublishedSchema> schemas = {
#include ISOBIT_SCHEMAS
  };
  return schemas;
}

std::vector<OutputSchema> schemas_of(std::string_view command) {
  std::vector<OutputSchema> out;
  for (const OutputSchema& row : output_schemas()) {
    if (row.command == command) out.push_back(row);
  }
  return out;
}

std::string schemas_text(std::string_view command) {
  std::string out;
  for (const OutputSchema& row : schemas_of(command)) {
    out += (out.empty() ? "" : " or ") + std::string(row.schema);
    if (*row.definition) out += fmt::format(" ($defs/{})", row.definition);
  }
  return out;
}

}  // namespace isobit::app
