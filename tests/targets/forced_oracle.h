// A real model against what transformers computed for it in f32: every recorded logit of 16 prompts
// x 64 teacher-forced tokens. The fixtures and their tolerances come from scripts/oracle
// (forced_logits.py), which says how; nothing of isobit took part in making them.
//
// The tolerance is against a foreign oracle (another order of f32 sums in tens of layers): 2e-3 on
// logits of about 10 to 20 is some 200 ulp, far above what reordering does and far below a wrong
// operator. ISOBIT_ORACLE_DUMP=FILE also writes every whole row, for the scripts' `check`.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/gguf.h"
#include "checkpoint/open.h"
#include "targets/builtin_target.h"
#include "text/tokenizer.h"

namespace isobit::testing {

struct RealModel {
  std::string title;       // "SmolLM2"
  std::string fetch_name;  // scripts/fetch_model NAME
  std::string variable;    // an environment variable that names the file instead
  std::string file;        // in ~/.cache/isobit
  std::string fixture;     // in tests/fixtures

  std::filesystem::path path() const {
    if (const char* path = std::getenv(variable.c_str())) return path;
    const char* home = std::getenv("HOME");
    return std::filesystem::path(home ? home : ".") / ".cache/isobit" / file;
  }
  bool skipped() const {
    if (std::filesystem::exists(path())) return false;
    std::printf("SKIPPED: %s is not here; scripts/fetch_model %s brings it\n", title.c_str(),
                fetch_name.c_str());
    return true;
  }
  Json oracle() const {
    return parse_json(
        read_file(std::string(ISOBIT_SOURCE_DIR) + "/tests/fixtures/" + fixture + "/oracle.json"),
        "oracle.json");
  }
};

inline Tokenizer gguf_tokenizer(const GgufTokenizer& t, const std::string& where) {
  GgufTokenizerParts parts{.where = where,
                           .model = std::string(t.model),
                           .pre = std::string(t.pre),
                           .tokens = {},
                           .scores = t.scores,
                           .token_types = t.token_types,
                           .merges = {},
                           .bos_id = t.bos_token_id,
                           .eos_id = t.eos_token_id,
                           .unknown_id = t.unknown_token_id,
                           .pad_id = t.padding_token_id,
                           .add_bos = t.add_bos,
                           .add_eos = t.add_eos,
                           .add_space_prefix = t.add_space_prefix,
                           .remove_extra_whitespaces = t.remove_extra_whitespaces};
  parts.tokens.assign(t.tokens.begin(), t.tokens.end());
  parts.merges.assign(t.merges.begin(), t.merges.end());
  return make_gguf_tokenizer(parts);
}

inline Workload forced_workload(const Json& oracle) {
  Workload workload;
  for (const Json& prompt : oracle["prompts"]) {
    WorkItem item;
    item.request.id = "oracle-" + std::to_string(workload.items.size());
    item.request.prompt_token_ids = prompt["prompt_ids"].get<std::vector<int32_t>>();
    item.request.forced_token_ids = prompt["greedy_ids"].get<std::vector<int32_t>>();
    item.request.max_tokens = static_cast<int32_t>(item.request.forced_token_ids.size());
    workload.items.push_back(item);
  }
  workload.concurrency = 4;
  workload.settings = {{"engine.kernel_set", "cpu"}, {"engine.kv_dtype", "f32"}};
  return workload;
}

struct Worst {
  double difference = 0;
  size_t item = 0, position = 0;
  int n_argmax_checked = 0, n_argmax_other = 0;
};

inline void compare_row(const Json& oracle, size_t item, size_t position,
                        std::span<const float> row, Worst& worst) {
  const Json& prompt = oracle["prompts"][item];
  const auto check = [&](int64_t id, double expected) {
    const double difference =
        std::abs(static_cast<double>(row[static_cast<size_t>(id)]) - expected);
    if (difference > worst.difference)
      worst = {difference, item, position, worst.n_argmax_checked, worst.n_argmax_other};
  };
  const Json& columns = oracle["columns"];
  for (size_t c = 0; c < columns.size(); ++c)
    check(columns[c].get<int64_t>(), prompt["column_logits"][position][c].get<double>());
  const Json& top_ids = prompt["top_ids"][position];
  for (size_t c = 0; c < top_ids.size(); ++c)
    check(top_ids[c].get<int64_t>(), prompt["top_logits"][position][c].get<double>());
  if (prompt["margin"][position].get<double>() <= oracle["argmax_margin"].get<double>()) return;
  ++worst.n_argmax_checked;
  const auto argmax = std::max_element(row.begin(), row.end()) - row.begin();
  worst.n_argmax_other += argmax != top_ids[0].get<int64_t>();
}

// Writes whole rows as (n_prompts, n_tokens, n_vocab) f32 where ISOBIT_ORACLE_DUMP says.
class RowDump {
 public:
  explicit RowDump(int64_t n_tokens) : n_tokens_(n_tokens) {
    if (const char* path = std::getenv("ISOBIT_ORACLE_DUMP")) file_.open(path, std::ios::binary);
  }
  void write(size_t item, size_t position, std::span<const float> row) {
    if (!file_.is_open()) return;
    const int64_t index = static_cast<int64_t>(item) * n_tokens_ + static_cast<int64_t>(position);
    file_.seekp(static_cast<std::streamoff>(index * static_cast<int64_t>(row.size_bytes())));
    file_.write(reinterpret_cast<const char*>(row.data()),
                static_cast<std::streamsize>(row.size_bytes()));
  }

 private:
  int64_t n_tokens_;
  std::ofstream file_;
};

// Runs the model over the fixture's tokens and checks every recorded logit and every argmax whose
// margin is clear.
inline void check_forced_logits(const RealModel& model) {
  const Json oracle = model.oracle();
  const auto checkpoint = open_checkpoint(model.path());
  BuiltinDefaults defaults;
  defaults.n_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  BuiltinTarget target(
      *checkpoint, std::vector<std::string>(static_cast<size_t>(checkpoint->config().vocab_size)),
      defaults);
  const int64_t n_tokens = oracle["n_tokens"].get<int64_t>();
  RowDump dump(n_tokens);
  Worst worst;
  int n_rows = 0;
  target.run_with_rows(
      forced_workload(oracle), [](size_t, Trace) {},
      [&](size_t item, int32_t, size_t position, std::span<const float> row) {
        ++n_rows;
        compare_row(oracle, item, position, row, worst);
        dump.write(item, position, row);
      });
  std::printf(
      "%s against transformers: %d rows, largest difference %.3g (prompt %zu, position %zu); "
      "argmax the same in %d of %d rows with a clear margin\n",
      model.title.c_str(), n_rows, worst.difference, worst.item, worst.position,
      worst.n_argmax_checked - worst.n_argmax_other, worst.n_argmax_checked);
  CHECK(n_rows == oracle["n_prompts"].get<int>() * n_tokens);
  CHECK(worst.difference <= oracle["row_tolerance"].get<double>());
  CHECK(worst.n_argmax_checked > 0);
  CHECK(worst.n_argmax_other == 0);
}

}  // namespace isobit::testing
