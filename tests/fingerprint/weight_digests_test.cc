#include "fingerprint/weight_digests.h"

#include <doctest/doctest.h>

#include <fstream>

#include "checkpoint/open.h"
#include "fingerprint/merkle.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;

namespace {

struct Digested {
  WeightDigests stored;
  Sha256Digest canonical{};
};

Digested digest(const std::filesystem::path& path, int n_threads = 2) {
  const auto checkpoint = open_checkpoint(path);
  ThreadPool pool(n_threads);
  return {digest_weights(*checkpoint, pool), canonical_root(*checkpoint, pool)};
}

std::filesystem::path write_single(const TemporaryFolder& folder, const SmallModel& model,
                                   const std::map<std::string, WrittenTensor>& tensors) {
  folder.write("config.json", model.config().dump());
  folder.write("model.safetensors", safetensors_file(tensors));
  return folder.path();
}

}  // namespace

TEST_CASE("the Merkle root is that of RFC 6962's tree over the given leaves") {
  const auto leaf = [](const char* text) { return sha256(text); };
  const auto node = [](const Sha256Digest& a, const Sha256Digest& b) {
    return sha256(std::string("\1") + std::string(a.begin(), a.end()) +
                  std::string(b.begin(), b.end()));
  };
  const Sha256Digest a = leaf("a"), b = leaf("b"), c = leaf("c"), d = leaf("d"), e = leaf("e");
  CHECK(merkle_root({}) == sha256(""));
  CHECK(merkle_root({a}) == a);
  CHECK(merkle_root({a, b}) == node(a, b));
  CHECK(merkle_root({a, b, c}) == node(node(a, b), c));
  CHECK(merkle_root({a, b, c, d, e}) == node(node(node(a, b), node(c, d)), e));
  CHECK(merkle_root({b, a}) != merkle_root({a, b}));
}

TEST_CASE(
    "the digest of a file is what sha256sum prints, and of a tensor what its definition says") {
  const TemporaryFolder folder;
  const SmallModel model;
  const auto tensors = model.tensors();
  const Digested found = digest(write_single(folder, model, tensors));
  REQUIRE(found.stored.files.size() == 1);
  CHECK(found.stored.files[0].name == "model.safetensors");
  CHECK(hex(found.stored.files[0].digest) == sha256_hex(safetensors_file(tensors)));

  const auto frame = [](const std::string& text) { return little_endian(text.size(), 8) + text; };
  std::vector<Sha256Digest> leaves;
  for (const auto& [name, tensor] : tensors) {
    std::string bytes = frame("isobit stored tensor 1") + frame(name) + frame("F32") +
                        little_endian(tensor.shape.size(), 8);
    for (const int64_t dim : tensor.shape) bytes += little_endian(static_cast<uint64_t>(dim), 8);
    leaves.push_back(sha256(bytes + f32_bytes(tensor.values)));
    CHECK(found.stored.tensors[leaves.size() - 1].name == name);
    CHECK(hex(found.stored.tensors[leaves.size() - 1].digest) == hex(leaves.back()));
  }
  CHECK(hex(found.stored.stored_root) == hex(merkle_root(leaves)));
}

TEST_CASE(
    "the stored root does not depend on shards, on the order in a file, or on the number of "
    "threads") {
  const TemporaryFolder one, reordered, sharded;
  const SmallModel model;
  const auto tensors = model.tensors();
  const Digested reference = digest(write_single(one, model, tensors), 1);
  CHECK(digest(one.path(), 5).stored.stored_root == reference.stored.stored_root);

  std::vector<std::string> backwards;
  for (const auto& [name, unused] : tensors) backwards.insert(backwards.begin(), name);
  reordered.write("config.json", model.config().dump());
  reordered.write("model.safetensors", safetensors_file(tensors, backwards));
  CHECK(digest(reordered.path()).stored.stored_root == reference.stored.stored_root);
  CHECK(digest(reordered.path()).stored.files[0].digest != reference.stored.files[0].digest);

  const std::vector<std::string> first(backwards.begin(), backwards.begin() + 4),
      second(backwards.begin() + 4, backwards.end());
  Json index = {{"weight_map", Json::object()}};
  for (const std::string& name : first) index["weight_map"][name] = "a.safetensors";
  for (const std::string& name : second) index["weight_map"][name] = "b.safetensors";
  sharded.write("config.json", model.config().dump());
  sharded.write("a.safetensors", safetensors_file(tensors, first));
  sharded.write("b.safetensors", safetensors_file(tensors, second));
  sharded.write("model.safetensors.index.json", index.dump());
  CHECK(digest(sharded.path()).stored.stored_root == reference.stored.stored_root);
  CHECK(digest(sharded.path()).canonical == reference.canonical);
}

TEST_CASE("the canonical root is that of the f32 values: the same for a GGUF with permuted rows") {
  const TemporaryFolder folder;
  const SmallModel model;
  const Digested hf = digest(write_single(folder, model, model.tensors()));
  const Digested gguf = digest(folder.write("m.gguf", gguf_file(model)));
  CHECK(hf.stored.stored_root != gguf.stored.stored_root);
  CHECK(hex(hf.canonical) == hex(gguf.canonical));

  // Without the permutation the rows of Q and K are another model's.
  GgufWriter wrong = gguf_metadata(model);
  add_gguf_tensors(wrong, model, false);
  CHECK(digest(folder.write("w.gguf", wrong.bytes())).canonical != hf.canonical);
}

TEST_CASE(
    "one flipped bit of any weight changes its tensor's digest, both roots, and nothing else") {
  const TemporaryFolder folder;
  const SmallModel model;
  const auto tensors = model.tensors();
  const Digested before = digest(write_single(folder, model, tensors));
  const std::string whole = safetensors_file(tensors);
  size_t offset = whole.size();
  for (auto it = tensors.rbegin(); it != tensors.rend(); ++it) {
    CAPTURE(it->first);
    const size_t n_bytes = it->second.values.size() * 4;
    offset -= n_bytes;
    std::string bytes = whole;
    bytes[offset + n_bytes / 2] = static_cast<char>(bytes[offset + n_bytes / 2] ^ 1);
    folder.write("model.safetensors", bytes);
    const Digested after = digest(folder.path());
    CHECK(after.stored.stored_root != before.stored.stored_root);
    CHECK(after.canonical != before.canonical);
    for (size_t i = 0; i < before.stored.tensors.size(); ++i) {
      const bool changed = before.stored.tensors[i].digest != after.stored.tensors[i].digest;
      CHECK(changed == (before.stored.tensors[i].name == it->first));
    }
  }
}

TEST_CASE("buffers of old exports and the copy of a tied head are not part of the canonical root") {
  const TemporaryFolder plain, with_more;
  const SmallModel model;
  auto tensors = model.tensors();
  const Digested reference = digest(write_single(plain, model, tensors));
  tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {{2}, {1, 0.01f}};
  const Digested more = digest(write_single(with_more, model, tensors));
  CHECK(more.canonical == reference.canonical);
  CHECK(more.stored.stored_root != reference.stored.stored_root);
}
