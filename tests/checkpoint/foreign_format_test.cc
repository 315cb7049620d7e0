#include "checkpoint/foreign_format.h"

#include <doctest/doctest.h>

#include "checkpoint/open.h"
#include "tests/checkpoint/refusals.h"
#include "tests/checkpoint/written_checkpoint.h"

using namespace isobit;
using namespace isobit::test;
namespace fs = std::filesystem;

namespace {

const std::string kPickles =
    "PyTorch weights are pickles: loading one runs the program that is stored in it, so they are "
    "not read";
const std::string kAdapter =
    "a LoRA adapter changes a base model and is none by itself, so it is not read";

struct Refusal {
  std::string message;  // without the part that names the folder or file
  std::string hint;
};

Refusal refusal_of_opening(const fs::path& path) {
  const std::string where = "checkpoint '" + path.string() + "': ";
  try {
    open_checkpoint(path);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::environment);
    REQUIRE(e.message().starts_with(where));
    return {e.message().substr(where.size()), e.hint()};
  }
  return {"[nothing was thrown]", ""};
}

std::string of_folder(const std::vector<std::string>& names) {
  const TemporaryFolder folder;
  for (const std::string& name : names)
    folder.write(name, name == "config.json" ? SmallModel().config().dump() : "x");
  return refusal_of_opening(folder.path()).message;
}

}  // namespace

TEST_CASE("a file of another format is refused with what it is and a way out") {
  const TemporaryFolder folder;
  for (const std::string name : {"pytorch_model.bin", "pytorch_model-00001-of-00002.bin",
                                 "model.pt", "model.pth", "last.ckpt", "weights.pkl"}) {
    CAPTURE(name);
    const Refusal r = refusal_of_opening(folder.write(name, "PK\x03\x04"));
    CHECK(r.message == kPickles);
    CHECK(r.hint.find("save_pretrained('NEW')") != std::string::npos);
    CHECK(r.hint.find("model.safetensors") != std::string::npos);
  }
  const auto message = [&](const char* name) {
    return refusal_of_opening(folder.write(name, "x")).message;
  };
  CHECK(message("adapter_model.safetensors") == kAdapter);
  CHECK(message("adapter_model.bin") == kAdapter);
  CHECK(
      message("consolidated.safetensors") ==
      "these are weights under Mistral's own names, with params.json in place of config.json, and "
      "not a Hugging Face checkpoint");
  CHECK(
      message("consolidated.00.pth") ==
      "these are Meta's original weights, which are pickles: loading one runs the program that is "
      "stored in it, so they are not read");
  CHECK(message("model.onnx") ==
        "an ONNX graph has its own operators in place of a model's layers, so it is not read");
  for (const char* name : {"tf_model.h5", "flax_model.msgpack", "weights.npz"}) {
    CHECK(message(name) ==
          "weights of another framework are not read; only safetensors and GGUF are");
  }
}

TEST_CASE("a GGUF is one under any name") {
  const TemporaryFolder folder;
  CHECK(open_checkpoint(folder.write("ggml-model.bin", gguf_file(SmallModel())))->format() ==
        "gguf");
}

TEST_CASE("a folder without a checkpoint says which file of another format it has") {
  const std::string neither = "neither model.safetensors nor model.safetensors.index.json, but ";
  CHECK(of_folder({"config.json", "pytorch_model.bin"}) ==
        neither + "'pytorch_model.bin': " + kPickles);
  CHECK(of_folder(
            {"config.json", "pytorch_model.bin.index.json", "pytorch_model-00001-of-00002.bin"}) ==
        neither + "'pytorch_model.bin.index.json': " + kPickles);
  CHECK(of_folder({"adapter_config.json", "adapter_model.safetensors", "training_args.bin"}) ==
        "no config.json, but 'adapter_model.safetensors': " + kAdapter);
  CHECK(of_folder({"params.json", "consolidated.safetensors"})
            .starts_with("no config.json, but 'consolidated.safetensors': these are weights under "
                         "Mistral's own names"));
  CHECK(of_folder({"params.json", "consolidated-00001-of-00002.safetensors"})
            .starts_with("no config.json, but 'consolidated-00001-of-00002.safetensors': "));
  CHECK(of_folder({"params.json", "consolidated.00.pth"})
            .starts_with("no config.json, but 'consolidated.00.pth': these are Meta's"));
  CHECK(of_folder({"config.json", "model.onnx"}).starts_with(neither + "'model.onnx': "));
  CHECK(of_folder({"config.json", "last.ckpt"}).starts_with(neither + "'last.ckpt': "));
  CHECK(of_folder({"config.json", "notes.txt"}) ==
        "neither model.safetensors nor model.safetensors.index.json");
}

TEST_CASE("what stands beside a checkpoint is not in its way") {
  const TemporaryFolder folder;
  const SmallModel model;
  folder.write("config.json", model.config().dump());
  folder.write("model.safetensors", safetensors_file(model.tensors()));
  for (const char* name : {"pytorch_model.bin", "adapter_config.json", "model.onnx"})
    folder.write(name, "x");
  CHECK(open_checkpoint(folder.path())->format() == "safetensors");
}
