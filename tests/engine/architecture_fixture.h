// One fixture of tests/fixtures/architectures as this side uses it: a checkpoint in a folder, the
// requests that visit its rows, and how far an answer is from what transformers computed. The
// fixtures come from scripts/oracle/architectures.py, which describes their fields.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/open.h"
#include "engine/engine.h"
#include "tests/checkpoint/written_checkpoint.h"
#include "tests/support/formula_weights.h"

namespace isobit::testing {

inline const std::string kArchitectureFixtures =
    std::string(ISOBIT_SOURCE_DIR) + "/tests/fixtures/architectures";

inline Json architecture_fixture(const std::string& name) {
  return parse_json(read_file(kArchitectureFixtures + "/" + name + ".json"), name);
}

inline std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kArchitectureFixtures)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline FormulaTensor formula_tensor(const Json& entry) {
  static const std::map<std::string, FormulaKind> kKinds = {{"signed", FormulaKind::kSigned},
                                                            {"positive", FormulaKind::kPositive},
                                                            {"e4m3", FormulaKind::kE4M3}};
  FormulaTensor tensor;
  tensor.name = entry.at("name");
  tensor.dtype = dtype_from_name(entry.at("dtype").get<std::string>()).value();
  tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
  tensor.kind = kKinds.at(entry.at("kind"));
  tensor.scale = entry.value("scale", 1.0);
  tensor.offset = entry.value("offset", 0.0);
  return tensor;
}

// A folder with config.json and model.safetensors, opened.
class WrittenModel {
 public:
  WrittenModel(const Json& config, const Json& tensors) {
    Json header = Json::object();
    std::string buffer;
    for (const Json& entry : tensors) {
      const size_t begin = buffer.size();
      buffer += formula_bytes(formula_tensor(entry));
      header[entry.at("name").get<std::string>()] = {{"dtype", entry.at("dtype")},
                                                     {"shape", entry.at("shape")},
                                                     {"data_offsets", {begin, buffer.size()}}};
    }
    folder_.write("config.json", config.dump());
    folder_.write("model.safetensors", test::safetensors_bytes(header.dump(), buffer));
    checkpoint_ = open_checkpoint(folder_.path());
  }

  const Checkpoint& checkpoint() const { return *checkpoint_; }

 private:
  test::TemporaryFolder folder_;
  std::unique_ptr<Checkpoint> checkpoint_;
};

// The row after each token that a fixture keeps: (prompt, position of the token) -> all logits.
using Rows = std::map<std::pair<size_t, int64_t>, std::vector<float>>;

struct RowRequest {
  Request request;
  size_t prompt = 0;
};

// A prompt's own request, whose rows are its last one and the decoded ones; and, for each earlier
// position, a request that ends there.
inline std::vector<RowRequest> row_requests(const Json& fixture) {
  std::vector<RowRequest> out;
  const auto add = [&](size_t prompt, std::vector<int32_t> ids, std::vector<int32_t> forced) {
    Request r;
    r.id = "p" + std::to_string(prompt) + "-" + std::to_string(ids.size());
    r.prompt_token_ids = std::move(ids);
    r.max_tokens = static_cast<int32_t>(forced.size()) + 1;
    r.forced_token_ids = std::move(forced);
    r.stop.ignore_eos = true;
    out.push_back({std::move(r), prompt});
  };
  for (size_t p = 0; p < fixture.at("prompts").size(); ++p) {
    const Json& prompt = fixture.at("prompts")[p];
    const auto ids = prompt.at("prompt_ids").get<std::vector<int32_t>>();
    add(p, ids, prompt.at("forced_ids"));
    for (const Json& row : prompt.at("rows")) {
      const auto position = row.at("position").get<size_t>();
      if (position + 1 < ids.size()) add(p, {ids.begin(), ids.begin() + position + 1}, {});
    }
  }
  return out;
}

inline Rows computed_rows(const Model& model, const Json& fixture, const EngineOptions& options,
                          ThreadPool& pool) {
  const std::vector<RowRequest> wanted = row_requests(fixture);
  std::vector<Request> requests;
  for (const RowRequest& w : wanted) requests.push_back(w.request);
  const std::vector<std::string> token_bytes(static_cast<size_t>(model.config().vocab_size));
  Engine engine(model, token_bytes, pool);
  Rows rows;
  engine.run(
      requests, options, [](size_t, const Trace&) {},
      [&](size_t request, int32_t, size_t generated, std::span<const float> logits) {
        const auto position =
            static_cast<int64_t>(requests[request].prompt_token_ids.size() + generated) - 1;
        rows[{wanted[request].prompt, position}].assign(logits.begin(), logits.end());
      });
  return rows;
}

struct Difference {
  double share = 0;  // |isobit - transformers| as a share of the row's largest |logit|
  size_t prompt = 0;
  int64_t position = 0;
  int64_t token_id = 0;
  int n_rows = 0;  // compared
};

// The largest one of all rows and columns of the fixture; infinite where a row is missing or a
// logit is not a number.
//
// Why a share of the row's maximum: a logit is a dot product of `hidden` and a row of the head, and
// the f32 error of such a sum goes with the sizes of its terms, which is that of the row's large
// logits. A logit near 0 is so by cancellation, and its error is no smaller.
inline Difference difference(const Json& fixture, const Rows& rows) {
  Difference worst;
  const Json& columns = fixture.at("columns");
  for (size_t p = 0; p < fixture.at("prompts").size(); ++p) {
    for (const Json& expected : fixture.at("prompts")[p].at("rows")) {
      const auto position = expected.at("position").get<int64_t>();
      const auto row = rows.find({p, position});
      ++worst.n_rows;
      for (size_t c = 0; c < columns.size(); ++c) {
        const auto token_id = columns[c].get<size_t>();
        const double found = row == rows.end() ? NAN : double{row->second.at(token_id)},
                     apart = std::abs(found - expected.at("logits")[c].get<double>()),
                     share = apart / expected.at("max_abs").get<double>();
        if (share <= worst.share) continue;
        worst = {std::isnan(share) ? INFINITY : share, p, position, static_cast<int64_t>(token_id),
                 worst.n_rows};
      }
    }
  }
  return worst;
}

}  // namespace isobit::testing
