#include "checkpoint/gguf_split.h"

#include <doctest/doctest.h>

#include <functional>

#include "checkpoint/open.h"
#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;
namespace fs = std::filesystem;

namespace {

GgufWriter& say_split(GgufWriter& writer, size_t number, size_t n_files, size_t n_tensors) {
  return writer.raw("split.no", 2, little_endian(number, 2))
      .raw("split.count", 2, little_endian(n_files, 2))
      .raw("split.tensors.count", 5, little_endian(n_tensors, 4));
}

std::string split_name(size_t number, size_t n_files) {
  const auto digits = [](size_t n) {
    return std::string(5 - std::to_string(n).size(), '0') + std::to_string(n);
  };
  return "m-" + digits(number + 1) + "-of-" + digits(n_files) + ".gguf";
}

// A small model in three files: metadata alone, all tensors but the last two, those two.
struct Splits {
  SmallModel model;
  std::vector<GgufWriter> files{gguf_metadata(model), {}, {}};

  Splits() {
    const size_t n = model.tensors().size();
    for (size_t i = 0; i < files.size(); ++i) say_split(files[i], i, files.size(), n);
    size_t i = 0;
    for (const auto& [name, tensor] : model.tensors()) {
      const bool is_q = name.ends_with("q_proj.weight"), is_k = name.ends_with("k_proj.weight");
      const WrittenTensor stored =
          is_q || is_k ? interleaved(tensor, is_q ? model.n_heads : model.n_kv_heads) : tensor;
      files[i++ + 2 < n ? 1 : 2].tensor(gguf_name(name), 0, stored.shape, f32_bytes(stored.values));
    }
  }
  void write(const TemporaryFolder& folder) const {
    for (size_t i = 0; i < files.size(); ++i)
      folder.write(split_name(i, files.size()), files[i].bytes());
  }
};

// The message without the folder's name.
std::string refusal_in(const TemporaryFolder& folder, const std::string& name) {
  std::string message = refusal([&] { open_checkpoint(folder.path() / name); });
  const std::string path = folder.path().string() + "/";
  for (size_t at = 0; (at = message.find(path, at)) != std::string::npos;)
    message.erase(at, path.size());
  return message;
}

std::string refused(const std::function<void(Splits&, const TemporaryFolder&)>& spoil) {
  const TemporaryFolder folder;
  Splits splits;
  splits.write(folder);
  spoil(splits, folder);
  return refusal_in(folder, split_name(0, 3));
}

}  // namespace

TEST_CASE("a split GGUF is the checkpoint that it was, whichever of its files is given") {
  const TemporaryFolder folder;
  const Splits splits;
  splits.write(folder);
  const auto whole = open_checkpoint(folder.write("whole.gguf", gguf_file(splits.model)));
  for (size_t given = 0; given < 3; ++given) {
    CAPTURE(given);
    const auto split = open_checkpoint(folder.path() / split_name(given, 3));
    REQUIRE(split->files().size() == 3);
    CHECK(split->files()[1].name == split_name(1, 3));
    CHECK(split->stored_config() == whole->stored_config());
    CHECK(split->config().tied_head == whole->config().tied_head);
    CHECK(split->config().eos_token_ids == whole->config().eos_token_ids);
    REQUIRE(split->tensors().size() == whole->tensors().size());
    for (const auto& [name, view] : whole->tensors()) {
      CAPTURE(name);
      const TensorView& other = split->tensor(name);
      CHECK(other.shape == view.shape);
      CHECK(other.row_order == view.row_order);
      CHECK(
          std::equal(view.bytes.begin(), view.bytes.end(), other.bytes.begin(), other.bytes.end()));
      split->release(other);
      CHECK(
          std::equal(view.bytes.begin(), view.bytes.end(), other.bytes.begin(), other.bytes.end()));
    }
    for (const CheckpointFile& file : split->files()) split->release(file.bytes);
  }
}

TEST_CASE("the tokenizer of a split GGUF is in its first file, whichever is given") {
  const TemporaryFolder folder;
  Splits().write(folder);
  CHECK(GgufFile(folder.path() / split_name(2, 3)).tokenizer().tokens.size() == 3);
}

TEST_CASE("a GGUF that says it is one of one is a whole one, under any name") {
  const TemporaryFolder folder;
  const SmallModel model;
  GgufWriter writer = gguf_metadata(model);
  say_split(writer, 0, 1, model.tensors().size());
  add_gguf_tensors(writer, model);
  CHECK(open_checkpoint(folder.write("m.gguf", writer.bytes()))->files().size() == 1);
  CHECK(open_checkpoint(folder.write(split_name(0, 1), writer.bytes()))->files().size() == 1);
}

TEST_CASE("a file of a split GGUF that is missing, repeated or renamed is refused by name") {
  CHECK(refused([](Splits&, const TemporaryFolder& f) {
          fs::remove(f.path() / split_name(2, 3));
        }) == "checkpoint 'm': no file 'm-00003-of-00003.gguf'");
  CHECK(refused([](Splits& s, const TemporaryFolder& f) {
          f.write(split_name(2, 3), s.files[1].bytes());
        }) ==
        "checkpoint 'm-00003-of-00003.gguf': its name says file 3 of 3, but split.no (from 0) is 1 "
        "and split.count 3");
  CHECK(refused([](Splits& s, const TemporaryFolder& f) {
          f.write(split_name(0, 3), s.files[1].bytes());
        }) ==
        "checkpoint 'm-00001-of-00003.gguf': its name says file 1 of 3, but split.no (from 0) is 1 "
        "and split.count 3");
  CHECK(refused([](Splits& s, const TemporaryFolder& f) {
          GgufWriter other;
          say_split(other, 2, 4, s.model.tensors().size());
          f.write(split_name(2, 3), other.bytes());
        }) ==
        "checkpoint 'm-00003-of-00003.gguf': its name says file 3 of 3, but split.no (from 0) is 2 "
        "and split.count 4");
  CHECK(refused([](Splits& s, const TemporaryFolder& f) {
          f.write(split_name(1, 3), s.files[1].bytes().substr(0, 100));
        }).starts_with("checkpoint 'm-00002-of-00003.gguf': "));

  const TemporaryFolder folder;
  const Splits splits;
  CHECK(refusal_in(folder, folder.write("first.gguf", splits.files[0].bytes()).filename()) ==
        "checkpoint 'first.gguf': one of 3 files of a split GGUF, but not named "
        "NAME-00001-of-0000N.gguf");
  CHECK(refusal_in(folder, folder.write(split_name(0, 2), gguf_file(splits.model)).filename()) ==
        "checkpoint 'm-00001-of-00002.gguf': its name says that it is one of 2 files, but no "
        "metadata 'split.count' does");
}

TEST_CASE("what the files of a split GGUF say about each other must agree") {
  const auto with_last = [](const std::function<void(GgufWriter&, const Splits&)>& say) {
    return refused([&](Splits& s, const TemporaryFolder& f) {
      GgufWriter last;
      say(last, s);
      f.write(split_name(2, 3), last.bytes());
    });
  };
  const size_t n = SmallModel().tensors().size();
  const std::string last = "checkpoint 'm-00003-of-00003.gguf': ";
  CHECK(with_last([&](GgufWriter& w, const Splits&) { say_split(w, 2, 3, n + 1); }) ==
        last + "split.tensors.count is " + std::to_string(n + 1) + ", but " + std::to_string(n) +
            " in another of the files");
  CHECK(with_last([&](GgufWriter& w, const Splits&) { say_split(w, 2, 3, n); }) ==
        "checkpoint 'm': the 3 files have " + std::to_string(n - 2) +
            " tensors, but split.tensors.count is " + std::to_string(n));
  CHECK(with_last([&](GgufWriter& w, const Splits& s) {
          say_split(w, 2, 3, n);
          add_gguf_tensors(w, s.model);
        }).ends_with(" is in an earlier file too"));
  CHECK(with_last([&](GgufWriter& w, const Splits&) {
          say_split(w, 2, 3, n).string("general.architecture", "qwen2");
        }) == last + "metadata 'general.architecture' is not what the first file says");
  CHECK(with_last([&](GgufWriter& w, const Splits&) {
          say_split(w, 2, 3, n).u32("llama.vocab_size", 3);
        }) == last + "metadata 'llama.vocab_size' is not what the first file says");
  CHECK(with_last([&](GgufWriter& w, const Splits&) {
          w.u32("split.count", 3).u32("split.tensors.count", static_cast<uint32_t>(n));
        }) == last + "no metadata 'split.no'");
  CHECK(with_last([&](GgufWriter& w, const Splits&) {
          w.u32("split.count", 3).u32("split.no", 2);
        }) == last + "no metadata 'split.tensors.count'");
  CHECK(with_last([&](GgufWriter& w, const Splits&) { w.string("split.count", "3"); }) ==
        last + "metadata 'split.count' is string, expected an integer");
  CHECK(with_last([&](GgufWriter& w, const Splits&) {
          w.raw("split.count", 1, little_endian(0xFF, 1));
        }) == last + "metadata 'split.count' is -1, expected 0 or more");
  // A later file may repeat what the first one says, and has its own alignment.
  CHECK(refused([&](Splits& s, const TemporaryFolder& f) {
          GgufWriter middle;
          middle.alignment = 64;
          say_split(middle, 1, 3, n)
              .u32("general.alignment", 64)
              .string("general.architecture", "llama");
          size_t i = 0;
          for (const auto& [name, tensor] : s.model.tensors()) {
            if (i++ + 2 < n)
              middle.tensor(gguf_name(name), 0, tensor.shape, f32_bytes(tensor.values));
          }
          f.write(split_name(1, 3), middle.bytes());
        }) == "[nothing was thrown]");
}

TEST_CASE("a split count that no folder can hold is refused at the first file that is missing") {
  const TemporaryFolder folder;
  const std::string name = "m-00001-of-65535.gguf";
  GgufWriter writer;
  say_split(writer, 0, 65535, 1);
  folder.write(name, writer.bytes());
  CHECK(refusal_in(folder, name) == "checkpoint 'm': no file 'm-00002-of-65535.gguf'");
  CHECK(refusal_in(folder, folder
                               .write("m-00001-of-99999.gguf",
                                      GgufWriter()
                                          .raw("split.count", 10, little_endian(~uint64_t{0}, 8))
                                          .u32("split.no", 0)
                                          .u32("split.tensors.count", 1)
                                          .bytes())
                               .filename()) ==
        "checkpoint 'm-00001-of-99999.gguf': its name says file 1 of 99999, but split.no (from 0) "
        "is 0 and split.count 18446744073709551615");
}

TEST_CASE("a file of a split GGUF may not be a link that leaves the folder") {
  const TemporaryFolder outside;
  const fs::path target = outside.write("elsewhere", Splits().files[2].bytes());
  CHECK(refused([&](Splits&, const TemporaryFolder& f) {
          fs::remove(f.path() / split_name(2, 3));
          fs::create_symlink(target, f.path() / split_name(2, 3));
        }) == "checkpoint 'm': 'm-00003-of-00003.gguf' is a link to '" +
                  fs::canonical(target).string() + "', outside the checkpoint's folder");
}

TEST_CASE("a split GGUF cut short or flipped anywhere is refused or read inside its files") {
  const TemporaryFolder folder;
  const Splits splits;
  splits.write(folder);
  for (const size_t file : {size_t{0}, size_t{2}}) {
    const std::string whole = splits.files[file].bytes();
    const fs::path path = folder.path() / split_name(file, 3);
    const size_t end = file == 0 ? whole.size() : whole.size() - 31;
    for (size_t n = 0; n < end; ++n) {
      CAPTURE(n);
      folder.write(split_name(file, 3), whole.substr(0, n));
      const std::string message = refusal_in(folder, split_name(0, 3));
      // An empty data section has nothing after its padding that could be missing.
      if (file == 0 && n + 32 > whole.size() && message == "[nothing was thrown]") continue;
      CHECK(message.starts_with("checkpoint 'm"));
    }
    for (size_t byte = 0; byte < whole.size(); ++byte) {
      CAPTURE(byte);
      std::string bytes = whole;
      bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << (byte % 8)));
      folder.write(split_name(file, 3), bytes);
      const std::string message = refusal_in(folder, split_name(0, 3));
      CHECK_FALSE(message.starts_with("[not an environment"));
    }
    folder.write(split_name(file, 3), whole);
  }
}
