// `isobit inspect checkpoint SRC`: what the weights are, digest by digest, and what loading them
// takes.
#include <map>

#include <fmt/format.h>

#include "app/cores.h"
#include "app/exit_codes.h"
#include "app/inspect.h"
#include "app/model_words.h"
#include "base/digest.h"
#include "base/shell_word.h"
#include "checkpoint/open.h"
#include "checkpoint/refusal.h"
#include "fingerprint/weight_digests.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

struct InspectCheckpointArguments {
  std::string source;
  bool tensors = false, canonical = false;
};

struct DtypeShare {
  int64_t n_tensors = 0;
  int64_t n_parameters = 0;
  size_t n_bytes = 0;
};

// What the command knows before it prints: the same for people and for programs.
struct CheckpointFacts {
  std::unique_ptr<Checkpoint> checkpoint;
  WeightDigests digests;
  std::optional<Sha256Digest> canonical;
  std::map<std::string, DtypeShare> dtypes;
  int64_t n_parameters = 0;
  size_t matrices_bytes = 0;  // the engine's own copy, packed in the stored types
};

constexpr int64_t kCacheElementBytes = 2;  // f16, the default cache type

int64_t kv_bytes_per_token(const ModelConfig& c) {
  return c.n_layers * 2 * c.n_kv_heads * c.head_dim * kCacheElementBytes;
}

// The embedding stays in the mapped file; a tied head is a packed copy of it.
bool is_packed(const ModelConfig& config, const TensorView& tensor) {
  return tensor.shape.size() >= 2 &&
         (tensor.name != "model.embed_tokens.weight" || config.tied_head);
}

CheckpointFacts collect(const InspectCheckpointArguments& a) {
  CheckpointFacts facts;
  facts.checkpoint = open_checkpoint(a.source);
  ThreadPool pool(n_cores());
  facts.digests = digest_weights(*facts.checkpoint, pool);
  if (a.canonical) facts.canonical = canonical_root(*facts.checkpoint, pool);
  for (const TensorView* tensor : model_tensors(*facts.checkpoint)) {
    DtypeShare& share = facts.dtypes[std::string(name(tensor->dtype))];
    ++share.n_tensors;
    share.n_parameters += tensor->n_elems();
    share.n_bytes += tensor->bytes.size();
    facts.n_parameters += tensor->n_elems();
    if (is_packed(facts.checkpoint->config(), *tensor))
      facts.matrices_bytes += tensor->bytes.size();
  }
  return facts;
}

std::string size_text(double n_bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; n_bytes >= 1024 && unit < 4; ++unit) n_bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", n_bytes)
                   : fmt::format("{:.1f} {}", n_bytes, units[unit]);
}

std::string grouped(int64_t n) {
  std::string out = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > 0; at -= 3)
    out.insert(static_cast<size_t>(at), ",");
  return out;
}

std::string id_list(const std::vector<int32_t>& ids) {
  return ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", "));
}

std::string model_listing(const CheckpointFacts& facts) {
  const ModelConfig& c = facts.checkpoint->config();
  std::string out = "model\n";
  out += fact("format", facts.checkpoint->format());
  out += fact("architecture", c.architecture);
  out += fact("parameters", grouped(facts.n_parameters));
  out += fact("layers", std::to_string(c.n_layers));
  out += fact("hidden size", fmt::format("{} (MLP {})", c.hidden_size, c.intermediate_size));
  out += fact("heads", fmt::format("{}, {} of keys and values, {} wide", c.n_heads, c.n_kv_heads,
                                   c.head_dim));
  out += fact("vocabulary",
              fmt::format("{} rows, {} head", c.vocab_size, c.tied_head ? "tied" : "separate"));
  out += fact("context", fmt::format("{} tokens", c.max_positions));
  for (const auto& [key, words] : model_words(c)) out += fact(key, words);
  out += fact("BOS, EOS ids", id_list(c.bos_token_ids) + "; " + id_list(c.eos_token_ids));
  out += fact("segments (R)", fmt::format("{} (tensor parallelism divides it)", c.n_segments()));
  return out;
}

std::string dtype_table(const CheckpointFacts& facts) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [dtype, share] : facts.dtypes)
    rows.push_back({dtype, std::to_string(share.n_tensors), grouped(share.n_parameters),
                    size_text(static_cast<double>(share.n_bytes))});
  return text_table({{"stored as", Align::kLeft},
                     {"tensors", Align::kRight},
                     {"parameters", Align::kRight},
                     {"size", Align::kRight}},
                    rows);
}

std::string memory_listing(const CheckpointFacts& facts) {
  const ModelConfig& c = facts.checkpoint->config();
  const auto kv = static_cast<double>(kv_bytes_per_token(c));
  const double context = kv * static_cast<double>(c.max_positions);
  const auto weights = static_cast<double>(facts.matrices_bytes);
  std::string out = "memory to load it, beside its tokenizer and the file's pages\n";
  out += fact("weights", size_text(weights) + ", packed in their stored types");
  out += fact("cache per token", size_text(kv) + " (f16; f32 takes twice that)");
  out += fact("full context", size_text(context) + " a sequence");
  out += fact("one sequence", "about " + size_text(weights + context));
  return out;
}

std::string digest_listing(const CheckpointFacts& facts) {
  std::string out = "digests\n";
  for (const auto& file : facts.digests.files)
    out += fmt::format("  sha256  {}  {}\n", hex(file.digest), printable(file.name));
  out += fmt::format("  stored root     {}\n", hex(facts.digests.stored_root));
  out += facts.canonical ? fmt::format("  canonical root  {}\n", hex(*facts.canonical))
                         : "  canonical root  not computed (--canonical)\n";
  return out;
}

std::string tensor_table(const CheckpointFacts& facts) {
  std::string out = fmt::format("{:<64}  {:<12}  {:<6}  {:<18}\n", "sha256 (as stored)", "bytes",
                                "type", "shape, name");
  for (const auto& digest : facts.digests.tensors) {
    const TensorView& tensor = facts.checkpoint->tensor(digest.name);
    out +=
        fmt::format("{:<64}  {:<12}  {:<6}  {:<18}  {}\n", hex(digest.digest), tensor.bytes.size(),
                    name(tensor.dtype), shape_text(tensor.shape), printable(tensor.name));
  }
  return out;
}

std::string listing(const CheckpointFacts& facts, const InspectCheckpointArguments& a) {
  std::string out = model_listing(facts) + "\n" + dtype_table(facts) + "\n" +
                    memory_listing(facts) + "\n" + digest_listing(facts);
  if (a.tensors) out += "\n" + tensor_table(facts);
  for (const std::string& warning : facts.checkpoint->warnings())
    out += "warning: " + printable(warning) + "\n";
  return out;
}

Json config_json(const ModelConfig& c) {
  Json out = {{"hidden_size", c.hidden_size},     {"intermediate_size", c.intermediate_size},
              {"n_layers", c.n_layers},           {"n_heads", c.n_heads},
              {"n_kv_heads", c.n_kv_heads},       {"head_dim", c.head_dim},
              {"vocab_size", c.vocab_size},       {"max_positions", c.max_positions},
              {"rms_norm_eps", c.rms_norm_eps},   {"tied_head", c.tied_head},
              {"qkv_bias", c.qkv_bias},           {"bos_token_ids", c.bos_token_ids},
              {"eos_token_ids", c.eos_token_ids}, {"n_segments", c.n_segments()}};
  out.update(model_features_json(c));
  return out;
}

Json tensors_json(const CheckpointFacts& facts) {
  Json out = Json::array();
  for (const auto& digest : facts.digests.tensors) {
    const TensorView& tensor = facts.checkpoint->tensor(digest.name);
    out.push_back({{"name", json_text(tensor.name)},
                   {"dtype", name(tensor.dtype)},
                   {"shape", tensor.shape},
                   {"n_bytes", tensor.bytes.size()},
                   {"sha256", hex(digest.digest)}});
  }
  return out;
}

Json facts_json(const CheckpointFacts& facts, const InspectCheckpointArguments& a) {
  Json dtypes = Json::array(), files = Json::array(), warnings = Json::array();
  for (const auto& [dtype, share] : facts.dtypes)
    dtypes.push_back({{"dtype", dtype},
                      {"n_tensors", share.n_tensors},
                      {"n_parameters", share.n_parameters},
                      {"n_bytes", share.n_bytes}});
  for (const auto& file : facts.digests.files)
    files.push_back({{"name", json_text(file.name)}, {"sha256", hex(file.digest)}});
  for (const std::string& warning : facts.checkpoint->warnings())
    warnings.push_back(json_text(warning));
  const ModelConfig& config = facts.checkpoint->config();
  Json out = {{"format", facts.checkpoint->format()},
              {"architecture", config.architecture},
              {"n_parameters", facts.n_parameters},
              {"config", config_json(config)},
              {"dtypes", dtypes},
              {"memory",
               {{"weights_bytes", facts.matrices_bytes},
                {"kv_bytes_per_token", kv_bytes_per_token(config)},
                {"kv_bytes_full_context", kv_bytes_per_token(config) * config.max_positions}}},
              {"files", files},
              {"stored_root", hex(facts.digests.stored_root)},
              {"canonical_root", facts.canonical ? Json(hex(*facts.canonical)) : Json()},
              {"warnings", warnings}};
  if (a.tensors) out["tensors"] = tensors_json(facts);
  return out;
}

int inspect(const InspectCheckpointArguments& a, Session& session) {
  const CheckpointFacts facts = collect(a);
  session.console.result(session.flags.json ? json_line(facts_json(facts, a)) + "\n"
                                            : listing(facts, a));
  session.console.suggest("isobit inspect tokenizer " + shell_word(a.source));
  return kOk;
}

}  // namespace

std::function<int()> declare_inspect_checkpoint(CLI::App& app, Session& session) {
  auto a = std::make_shared<InspectCheckpointArguments>();
  app.add_option("SRC", a->source, "Checkpoint folder or .gguf")->required();
  app.add_flag("--tensors", a->tensors, "Also every tensor, with its digest");
  app.add_flag("--canonical", a->canonical,
               "Also the digest that does not depend on the file format (decodes every weight)");
  return [=, &session] { return inspect(*a, session); };
}

}  // namespace isobit::app
