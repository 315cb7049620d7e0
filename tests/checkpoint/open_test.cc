#include "checkpoint/open.h"

#include <doctest/doctest.h>

#include <functional>

#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;
namespace fs = std::filesystem;

namespace {

// A folder with config.json and model.safetensors of `model`.
void write_hf(const TemporaryFolder& folder, const SmallModel& model) {
  folder.write("config.json", model.config().dump());
  folder.write("model.safetensors", safetensors_file(model.tensors()));
}

// The same model in two shards: the embedding and the norm in the second.
struct Shards {
  SmallModel model;
  std::map<std::string, WrittenTensor> tensors = model.tensors();
  std::string first = "model-00001-of-00002.safetensors",
              second = "model-00002-of-00002.safetensors";
  Json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", Json::object()}};
  std::vector<std::string> first_names, second_names;

  Shards() {
    size_t total = 0;
    for (const auto& [name, tensor] : tensors) {
      const bool in_second = name == "model.embed_tokens.weight" || name == "model.norm.weight";
      (in_second ? second_names : first_names).push_back(name);
      index["weight_map"][name] = in_second ? second : first;
      total += tensor.values.size() * 4;
    }
    index["metadata"]["total_size"] = total;
  }
  void write(const TemporaryFolder& folder) const {
    folder.write("config.json", model.config().dump());
    folder.write(first, safetensors_file(tensors, first_names));
    folder.write(second, safetensors_file(tensors, second_names));
    folder.write("model.safetensors.index.json", index.dump());
  }
};

// The message without the part that names the folder or file.
std::string refusal_of(const fs::path& path) {
  const std::string where = "checkpoint '" + path.string() + "': ";
  const std::string message = refusal([&] { open_checkpoint(path); });
  return message.starts_with(where) ? message.substr(where.size()) : message;
}
std::string refusal_of_gguf(const GgufWriter& writer) {
  const TemporaryFolder folder;
  return refusal_of(folder.write("m.gguf", writer.bytes()));
}

std::vector<float> model_rows(const TensorView& view) {
  std::vector<float> out;
  for (int64_t r = 0; r < view.n_rows(); ++r) {
    for (int64_t i = 0; i < view.row_elems(); ++i) {
      float v = 0;
      std::memcpy(&v, view.row(r) + i * 4, 4);
      out.push_back(v);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("a folder and a GGUF of one model give the same configuration, names and rows") {
  for (const bool tied : {true, false}) {
    SmallModel model;
    model.tied = tied;
    model.n_layers = 2;
    const TemporaryFolder folder;
    write_hf(folder, model);
    const auto hf = open_checkpoint(folder.path());
    const auto gguf = open_checkpoint(folder.write("m.gguf", gguf_file(model)));
    CHECK(hf->format() == "safetensors");
    CHECK(gguf->format() == "gguf");
    CHECK(hf->config().tied_head == tied);
    CHECK(gguf->config().tied_head == tied);
    CHECK(gguf->config().head_dim == 4);
    CHECK(gguf->config().max_positions == 64);
    CHECK(hf->config().eos_token_ids == std::vector<int32_t>{2});
    CHECK(gguf->config().eos_token_ids == std::vector<int32_t>{2});
    CHECK(gguf->config().bos_token_ids == hf->config().bos_token_ids);
    REQUIRE(hf->tensors().size() == gguf->tensors().size());
    for (const auto& [name, written] : model.tensors()) {
      CAPTURE(name);
      CHECK(hf->tensor(name).shape == written.shape);
      CHECK(model_rows(hf->tensor(name)) == written.values);
      CHECK(model_rows(gguf->tensor(name)) == written.values);
    }
    CHECK(gguf->tensor("model.layers.0.self_attn.q_proj.weight").row_order ==
          RowOrder::kInterleavedHalves);
    CHECK(gguf->tensor("model.layers.0.self_attn.v_proj.weight").row_order == RowOrder::kAsStored);
  }
}

TEST_CASE("a qwen2 GGUF has biases, and rows that are not permuted") {
  SmallModel model;
  model.qkv_bias = true;
  GgufWriter writer = gguf_metadata(model, "qwen2");
  add_gguf_tensors(writer, model, false);
  const TemporaryFolder folder;
  const auto checkpoint = open_checkpoint(folder.write("m.gguf", writer.bytes()));
  CHECK(checkpoint->config().qkv_bias);
  for (const auto& [name, written] : model.tensors())
    CHECK(model_rows(checkpoint->tensor(name)) == written.values);
  CHECK(refusal([&] { (void)checkpoint->tensor("nope"); }).ends_with("has no tensor 'nope'"));
}

TEST_CASE("shards are one checkpoint, whatever file a tensor is in") {
  const TemporaryFolder folder;
  const Shards shards;
  shards.write(folder);
  const auto checkpoint = open_checkpoint(folder.path());
  CHECK(checkpoint->warnings().empty());
  REQUIRE(checkpoint->files().size() == 2);
  CHECK(checkpoint->files()[0].name == shards.first);
  for (const auto& [name, written] : shards.tensors) {
    CHECK(model_rows(checkpoint->tensor(name)) == written.values);
    checkpoint->release(checkpoint->tensor(name));
    CHECK(model_rows(checkpoint->tensor(name)) == written.values);  // read again from the file
  }
}

TEST_CASE("tensors at odd addresses are read, since writers do not agree on padding") {
  const SmallModel model;
  const TemporaryFolder folder;
  write_hf(folder, model);
  std::string bytes = safetensors_file(model.tensors());
  uint64_t n = 0;
  std::memcpy(&n, bytes.data(), 8);
  folder.write("model.safetensors",
               little_endian(n + 1, 8) + bytes.substr(8, n) + " " + bytes.substr(8 + n));
  const auto checkpoint = open_checkpoint(folder.path());
  CHECK(reinterpret_cast<uintptr_t>(checkpoint->tensor("model.norm.weight").bytes.data()) % 2 == 1);
  for (const auto& [name, written] : model.tensors())
    CHECK(model_rows(checkpoint->tensor(name)) == written.values);
}

TEST_CASE("model files cut short at any byte are refused") {
  const SmallModel model;
  const TemporaryFolder folder;
  write_hf(folder, model);
  const std::string whole = safetensors_file(model.tensors()), config = model.config().dump(),
                    gguf = gguf_file(model);
  for (size_t n = 0; n < whole.size(); ++n) {
    CAPTURE(n);
    folder.write("model.safetensors", whole.substr(0, n));
    CHECK(refusal_of(folder.path()).starts_with("model.safetensors: "));
  }
  folder.write("model.safetensors", whole);
  for (size_t n = 0; n < config.size(); ++n) {
    CAPTURE(n);
    folder.write("config.json", config.substr(0, n));
    CHECK(refusal_of(folder.path()).starts_with("config.json"));
  }
  const size_t last_tensor_bytes = model.tensors().at("model.norm.weight").values.size() * 4;
  for (size_t n = 0; n <= gguf.size() - 32 + last_tensor_bytes - 1; n += n < 2200 ? 1 : 7) {
    CAPTURE(n);
    const std::string message = refusal_of(folder.write("m.gguf", gguf.substr(0, n)));
    CHECK(message != "[nothing was thrown]");
    CHECK_FALSE(message.starts_with("[not an environment"));
  }
}

TEST_CASE("flipped bits in the description of a model never lead outside its file") {
  const SmallModel model;
  const TemporaryFolder folder;
  const std::string whole = gguf_file(model);
  const size_t described = whole.size() - whole.size() / 3;
  for (size_t byte = 0; byte < described; ++byte) {
    CAPTURE(byte);
    std::string bytes = whole;
    bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << (byte % 8)));
    const fs::path path = folder.write("m.gguf", bytes);
    try {
      const auto checkpoint = open_checkpoint(path);
      for (const auto& [name, view] : checkpoint->tensors()) {
        if (view.dtype == DType::kF32)
          CHECK(model_rows(view).size() == static_cast<size_t>(view.n_elems()));
      }
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::environment);
    }
  }
}

TEST_CASE("what is not a checkpoint is refused with what to give instead") {
  const TemporaryFolder folder;
  CHECK(refusal_of(folder.path() / "none") == "no such file or folder");
  CHECK(refusal_of(folder.path()) == "no config.json");
  const SmallModel model;
  folder.write("config.json", model.config().dump());
  CHECK(refusal_of(folder.path()) == "neither model.safetensors nor model.safetensors.index.json");
  const fs::path one = folder.write("model.safetensors", safetensors_file(model.tensors()));
  CHECK(refusal_of(one) == "one file of a checkpoint");
  CHECK(refusal_of(folder.write("notes.txt", "hello world")) ==
        "not a GGUF file: begins with 'hell', expected 'GGUF'");
  CHECK(refusal_of(folder.write("empty.gguf", "")) ==
        "the magic number takes 4 bytes at byte 0, but only 0 are left");
  folder.write("config.json", "{\"a\":1,\"a\":2}");
  CHECK(refusal_of(folder.path()).find("duplicate key \"a\"") != std::string::npos);
  folder.write("config.json", "[]");
  CHECK(refusal_of(folder.path()) == "config.json: not a JSON object");
  folder.write("config.json", "{\"model_type\":\"\xff\"}");
  CHECK(refusal_of(folder.path()).starts_with("config.json"));
}

TEST_CASE("an index may only name plain files of its own folder") {
  for (const std::string name :
       {"../model.safetensors", "/etc/passwd", "sub/model.safetensors", "..", "",
        "a\\b.safetensors", ".hidden.safetensors", "model.bin", "c:model.safetensors"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    Shards shards;
    shards.index["weight_map"]["model.norm.weight"] = name;
    shards.write(folder);
    CHECK(refusal_of(folder.path()) == "model.safetensors.index.json: weight_map names the file '" +
                                           name +
                                           "', expected a plain name ending in .safetensors");
  }
}

TEST_CASE("a link that leaves the folder is refused, except into the blobs of the hub's cache") {
  const TemporaryFolder outside, folder;
  const SmallModel model;
  write_hf(folder, model);
  const fs::path target = outside.write("elsewhere", safetensors_file(model.tensors()));
  fs::remove(folder.path() / "model.safetensors");
  fs::create_symlink(target, folder.path() / "model.safetensors");
  CHECK(refusal_of(folder.path()) == "'model.safetensors' is a link to '" +
                                         fs::canonical(target).string() +
                                         "', outside the checkpoint's folder");
  fs::remove(folder.path() / "model.safetensors");
  fs::create_symlink("nowhere", folder.path() / "model.safetensors");
  CHECK(refusal_of(folder.path()) == "no file 'model.safetensors'");

  const TemporaryFolder sharded;
  const Shards shards;
  shards.write(sharded);
  fs::remove(sharded.path() / shards.second);
  fs::create_symlink(target, sharded.path() / shards.second);
  CHECK(refusal_of(sharded.path()) == "'" + shards.second + "' is a link to '" +
                                          fs::canonical(target).string() +
                                          "', outside the checkpoint's folder");

  const TemporaryFolder cache;
  const fs::path snapshot = cache.path() / "models--x" / "snapshots" / "rev",
                 blobs = cache.path() / "models--x" / "blobs";
  fs::create_directories(snapshot);
  fs::create_directories(blobs);
  cache.write("models--x/blobs/1", model.config().dump());
  cache.write("models--x/blobs/2", safetensors_file(model.tensors()));
  fs::create_symlink("../../blobs/1", snapshot / "config.json");
  fs::create_symlink("../../blobs/2", snapshot / "model.safetensors");
  CHECK(open_checkpoint(snapshot)->tensors().size() == model.tensors().size());
}

TEST_CASE("index and shards must agree about every tensor") {
  const auto refused = [](const std::function<void(Shards&, const TemporaryFolder&)>& spoil) {
    const TemporaryFolder folder;
    Shards shards;
    shards.write(folder);
    spoil(shards, folder);
    return refusal_of(folder.path());
  };
  const auto write_index = [](const Shards& s, const TemporaryFolder& f) {
    f.write("model.safetensors.index.json", s.index.dump());
  };
  CHECK(refused([](Shards& s, const TemporaryFolder& f) { fs::remove(f.path() / s.second); }) ==
        "no file 'model-00002-of-00002.safetensors'");
  CHECK(refused([&](Shards& s, const TemporaryFolder& f) {
          s.index["weight_map"]["model.norm.weight"] = s.first;
          write_index(s, f);
        }) ==
        "model-00002-of-00002.safetensors: holds tensor 'model.norm.weight', which the index maps "
        "to 'model-00001-of-00002.safetensors'");
  CHECK(refused([&](Shards& s, const TemporaryFolder& f) {
          s.index["weight_map"].erase("model.norm.weight");
          write_index(s, f);
        }) ==
        "model-00002-of-00002.safetensors: holds tensor 'model.norm.weight', which the index does "
        "not name");
  CHECK(refused([&](Shards& s, const TemporaryFolder& f) {
          s.index["weight_map"]["extra"] = s.first;
          write_index(s, f);
        }) == "model-00001-of-00002.safetensors: no tensor 'extra', which the index maps to it");
  CHECK(refused([](Shards& s, const TemporaryFolder& f) {
          s.first_names.push_back("model.norm.weight");
          f.write(s.first, safetensors_file(s.tensors, s.first_names));
        }) ==
        "model-00001-of-00002.safetensors: holds tensor 'model.norm.weight', which the index maps "
        "to 'model-00002-of-00002.safetensors'");
  CHECK(refused([](Shards& s, const TemporaryFolder& f) {
          f.write("model.safetensors", safetensors_file(s.tensors));
        }) == "both model.safetensors and an index of other files are there");
  CHECK(refused([](Shards&, const TemporaryFolder& f) {
          f.write("model.safetensors.index.json", "{}");
        }) == "model.safetensors.index.json: no object weight_map");
  CHECK(refused([](Shards&, const TemporaryFolder& f) {
          f.write("model.safetensors.index.json", R"({"weight_map":{}})");
        }) == "model.safetensors.index.json: weight_map is empty");
  CHECK(refused([](Shards&, const TemporaryFolder& f) {
          f.write("model.safetensors.index.json", R"({"weight_map":{"a":1}})");
        }) == "model.safetensors.index.json: weight_map entry 'a' is not a file name");
}

TEST_CASE("stray shards and a wrong total are warnings") {
  const TemporaryFolder folder;
  Shards shards;
  shards.index["metadata"]["total_size"] = 1;
  shards.write(folder);
  folder.write("other.safetensors", "x");
  const auto checkpoint = open_checkpoint(folder.path());
  REQUIRE(checkpoint->warnings().size() == 2);
  CHECK(checkpoint->warnings()[0].starts_with(
      "model.safetensors.index.json: total_size is 1, but the tensors have "));
  CHECK(checkpoint->warnings()[1] ==
        "'other.safetensors' is in the folder but not part of the checkpoint");
}

TEST_CASE("every tensor is held against the configuration") {
  const auto refused =
      [](const std::function<void(std::map<std::string, WrittenTensor>&, Json&)>& spoil,
         bool tied = true) {
        SmallModel model;
        model.tied = tied;
        auto tensors = model.tensors();
        Json config = model.config();
        spoil(tensors, config);
        const TemporaryFolder folder;
        folder.write("config.json", config.dump());
        folder.write("model.safetensors", safetensors_file(tensors));
        return refusal_of(folder.path());
      };
  CHECK(refused([](auto& t, Json&) { t.erase("model.layers.0.mlp.up_proj.weight"); }) ==
        "no tensor 'model.layers.0.mlp.up_proj.weight', expected with shape (6, 4)");
  CHECK(refused([](auto&, Json& c) { c["intermediate_size"] = 12; }) ==
        "tensor 'model.layers.0.mlp.gate_proj.weight' has shape (6, 4), but the configuration asks "
        "for (12, 4)");
  CHECK(refused([](auto&, Json& c) { c["num_hidden_layers"] = 2; }) ==
        "no tensor 'model.layers.1.input_layernorm.weight', expected with shape (4)");
  CHECK(refused([](auto& t, Json&) {
          t["model.layers.1.mlp.up_proj.weight"] = {{1}, {1}};
        }) ==
        "tensor 'model.layers.1.mlp.up_proj.weight' is not part of a llama model of 1 layers");
  CHECK(refused([](auto& t, Json&) {
          t["model.layers.0.self_attn.q_norm.weight"] = {{1}, {1}};
        }) ==
        "tensor 'model.layers.0.self_attn.q_norm.weight' is not part of a llama model of 1 layers");
  CHECK(refused([](auto& t, Json&) {
          t["model.layers.0.self_attn.q_proj.bias"] = {{1}, {1}};
        }) ==
        "tensor 'model.layers.0.self_attn.q_proj.bias' is not part of a llama model of 1 layers");
  CHECK(refused([](auto&, Json& c) { c["tie_word_embeddings"] = false; }) ==
        "no tensor 'lm_head.weight', expected with shape (3, 4)");
  CHECK(refused([](auto&, Json& c) { c["tie_word_embeddings"] = true; }, false) ==
        "tie_word_embeddings is true, but 'lm_head.weight' is stored and differs from "
        "'model.embed_tokens.weight'");
  CHECK(refused([](auto& t, Json&) { t["lm_head.weight"] = t["model.embed_tokens.weight"]; }) ==
        "[nothing was thrown]");
  CHECK(refused([](auto& t, Json&) {
          t["model.layers.0.self_attn.rotary_emb.inv_freq"] = {{2}, {1, 2}};
        }) == "[nothing was thrown]");
  CHECK(refused([](auto&, Json& c) {
          c["num_hidden_layers"] = 10000;
        }).starts_with("no tensor 'model.layers.1."));
}

TEST_CASE("norms and biases are plain floats, and the engine's types are asked for by name") {
  SmallModel model;
  GgufWriter writer = gguf_metadata(model);
  for (const auto& [name, tensor] : model.tensors()) {
    const bool is_norm = name == "model.norm.weight";
    writer.tensor(gguf_name(name), is_norm ? 24 : 0, tensor.shape,
                  is_norm ? std::string(4, '\1') : f32_bytes(tensor.values));
  }
  CHECK(
      refusal_of_gguf(writer) ==
      "tensor 'model.norm.weight' is stored as I8, expected F32, F16 or BF16 for a norm or a bias");

  GgufWriter f64 = gguf_metadata(model);
  for (const auto& [name, tensor] : model.tensors()) {
    const bool is_v = name.ends_with("v_proj.weight");
    f64.tensor(gguf_name(name), is_v ? 28 : 0, tensor.shape,
               is_v ? std::string(tensor.values.size() * 8, '\0') : f32_bytes(tensor.values));
  }
  const TemporaryFolder folder;
  const auto checkpoint = open_checkpoint(folder.write("m.gguf", f64.bytes()));
  CHECK(refusal([&] { require_computable(*checkpoint); }) ==
        "checkpoint '" + checkpoint->path() +
            "': tensor 'model.layers.0.self_attn.v_proj.weight' is stored as F64, which the engine "
            "cannot compute with");
}

TEST_CASE("what a GGUF asks for and this version cannot compute is refused by its key") {
  const auto with = [](const std::function<void(GgufWriter&)>& add) {
    const SmallModel model;
    GgufWriter writer = gguf_metadata(model);
    add(writer);
    add_gguf_tensors(writer, model);
    return refusal_of_gguf(writer);
  };
  CHECK(with([](GgufWriter&) {}) == "[nothing was thrown]");
  CHECK(with([](GgufWriter& w) { w.string("llama.rope.scaling.type", "longrope"); }) ==
        "rope scaling of type 'longrope' is not supported");
  CHECK(with([](GgufWriter& w) { w.f32("llama.rope.scale_linear", -2); }) ==
        "llama.rope.scaling.factor is -2.000000, expected a positive number");
  CHECK(with([](GgufWriter& w) { w.f32("llama.rope.scaling.attn_factor", 2); }) ==
        "llama.rope.scaling.attn_factor other than 1 is not supported");
  CHECK(with([](GgufWriter& w) {
          w.string("llama.rope.scaling.type", "yarn").f32("llama.rope.scaling.yarn_attn_factor", 2);
        }) == "llama.rope.scaling.yarn_attn_factor is not supported");
  CHECK(with([](GgufWriter& w) { w.u32("llama.rope.dimension_count", 2); }) ==
        "llama.rope.dimension_count is 2, but heads have 4 elements; partial rotary positions are "
        "not supported");
  CHECK(with([](GgufWriter& w) { w.u32("llama.expert_count", 8); }) ==
        "no metadata 'llama.expert_used_count'");
  const auto with_experts = [&](const std::function<void(GgufWriter&)>& add) {
    return with([&](GgufWriter& w) {
      w.u32("llama.expert_count", 8).u32("llama.expert_used_count", 2), add(w);
    });
  };
  CHECK(with_experts([](GgufWriter& w) { w.u32("llama.expert_shared_count", 1); }) ==
        "llama.expert_shared_count is 1.000000, which asks for arithmetic that is not supported");
  CHECK(with_experts([](GgufWriter& w) { w.u32("llama.expert_gating_func", 2); }) ==
        "llama.expert_gating_func is 2.000000, which asks for arithmetic that is not supported");
  CHECK(with_experts([](GgufWriter& w) { w.f32("llama.expert_weights_scale", 2.5f); }) ==
        "llama.expert_weights_scale is 2.500000, which asks for arithmetic that is not supported");
  CHECK(with([](GgufWriter& w) {
          w.u32("llama.expert_count", 8).u32("llama.expert_used_count", 9);
        }) == "num_experts_per_tok is 9, expected 1 to 8");
  CHECK(with([](GgufWriter& w) { w.u32("llama.attention.sliding_window", 16); }) ==
        "llama.attention.sliding_window 16 of a context of 64 is in force, and sliding-window "
        "attention of a llama GGUF is not supported");
  CHECK(with([](GgufWriter& w) { w.u32("llama.attention.sliding_window", 64); }) ==
        "[nothing was thrown]");
  CHECK(with([](GgufWriter& w) { w.f32("llama.logit_scale", 2); }) ==
        "metadata 'llama.logit_scale' asks for arithmetic that is not supported");
  CHECK(with([](GgufWriter& w) { w.u32("llama.attention.value_length", 8); }) ==
        "keys of 4 and values of 8 elements are not supported");
  CHECK(with([](GgufWriter& w) { w.u32("llama.vocab_size", 4); }) ==
        "llama.vocab_size is 4, but 'token_embd.weight' has 3 rows");
  CHECK(with([](GgufWriter& w) { w.u32("tokenizer.ggml.eot_token_id", 3); }) ==
        "tokenizer.ggml.eot_token_id is 3, outside the vocabulary of 3");
  CHECK(with([](GgufWriter& w) { w.u32("split.count", 2); }) ==
        "one of 2 files of a split GGUF, but not named NAME-00001-of-0000N.gguf");
  CHECK(with([](GgufWriter& w) { w.string("general.type", "adapter"); }) ==
        "general.type is 'adapter', expected 'model'");
  CHECK(with([](GgufWriter& w) { w.u32("general.type", 1); }) ==
        "metadata 'general.type' is u32, expected string");
  CHECK(with([](GgufWriter& w) {
          w.tensor("blk.0.attn_q_norm.weight", 0, {4}, f32_bytes({1, 1, 1, 1}));
        }) ==
        "tensor 'model.layers.0.self_attn.q_norm.weight' is not part of a llama model of 1 layers");
  CHECK(with([](GgufWriter& w) {
          w.tensor("blk.00.attn_q.weight", 0, {4}, f32_bytes({1, 1, 1, 1}));
        }) == "tensor 'blk.00.attn_q.weight' is not part of a llama model");
  CHECK(with([](GgufWriter& w) { w.tensor("x", 21, {256}, std::string(110, '\1')); }) ==
        "general.quantization_version is absent, expected 2: the meaning of the quantised blocks "
        "depends on it");
  CHECK(with([](GgufWriter& w) {
          w.u32("general.quantization_version", 2).tensor("x", 21, {256}, std::string(110, '\1'));
        }) == "tensor 'x' is stored as IQ3_S, which this version does not read");
}

TEST_CASE("a GGUF that says too little or nonsense is refused by its key") {
  SmallModel none;
  none.n_layers = 0;
  CHECK(refusal_of_gguf(gguf_metadata(none)) == "no tensor 'token_embd.weight'");
  const auto sized = [](const std::function<void(SmallModel&)>& change) {
    SmallModel said;
    change(said);
    GgufWriter writer = gguf_metadata(said);
    add_gguf_tensors(writer, SmallModel{});
    return refusal_of_gguf(writer);
  };
  CHECK(sized([](SmallModel& m) { m.n_layers = 0; }) ==
        "num_hidden_layers is 0, expected 1 to 2147483647");
  CHECK(sized([](SmallModel& m) { m.n_heads = 0; }) ==
        "num_attention_heads is 0, expected 1 to 2147483647");
  CHECK(sized([](SmallModel& m) { m.n_kv_heads = 0; }) ==
        "num_key_value_heads is 0, expected 1 to 2147483647");
  CHECK(sized([](SmallModel& m) { m.n_kv_heads = 3; }) ==
        "2 query heads cannot share 3 KV heads evenly");
  CHECK(sized([](SmallModel& m) { m.head_dim = 3; }) == "head_dim is 3, expected an even number");
  CHECK(sized([](SmallModel& m) { m.n_layers = 0x7FFFFFFF; }) ==
        "num_hidden_layers is 2147483647, expected at most 10000");
  CHECK(sized([](SmallModel& m) { m.n_layers = 10000; }) ==
        "no tensor 'model.layers.1.input_layernorm.weight', expected with shape (4)");
  CHECK(refusal_of_gguf(GgufWriter()) == "no metadata 'general.architecture'");
  CHECK(refusal_of_gguf(GgufWriter().string("general.architecture", "mamba")) ==
        "architecture 'mamba' is not supported");
}

TEST_CASE("rotary factors of a GGUF are read and checked") {
  const auto with = [](const std::vector<float>& factors) {
    const SmallModel model;
    GgufWriter writer = gguf_metadata(model);
    add_gguf_tensors(writer, model);
    writer.tensor("rope_freqs.weight", 0, {static_cast<int64_t>(factors.size())},
                  f32_bytes(factors));
    return writer;
  };
  const TemporaryFolder folder;
  CHECK(open_checkpoint(folder.write("m.gguf", with({1, 8}).bytes()))->config().ropes[0].divisors ==
        std::vector<float>{1, 8});
  CHECK(refusal_of_gguf(with({1, 8, 1})) ==
        "tensor 'rope_freqs.weight' is F32 (3), expected F32 (2)");
  CHECK(refusal_of_gguf(with({1, 0})) ==
        "tensor 'rope_freqs.weight' element 1 is 0.000000, expected a positive number");
  CHECK(refusal_of_gguf(with({1, std::numeric_limits<float>::quiet_NaN()}))
            .starts_with("tensor 'rope_freqs.weight' element 1 is nan"));
}
