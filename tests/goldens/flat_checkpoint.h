// Reads what flatten.py writes: a checkpoint without JSON, for the core, which has no parser.
//
// A text head, then the tensors' bytes one after another in the head's order:
//   isobit-flat 1
//   config NAME VALUE          integers in decimal, binary64 as C99 hexadecimal
//   tensor NAME DTYPE N_DIMS DIM...
//   end
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoint/checkpoint.h"

namespace isobit::testing {

class FlatCheckpoint : public Checkpoint {
 public:
  explicit FlatCheckpoint(const std::string& path) {
    path_ = path;
    config_.architecture = "llama";
    std::ifstream file(path, std::ios::binary);
    std::string line;
    if (!std::getline(file, line) || line != "isobit-flat 1") refuse("no flat checkpoint");
    std::vector<std::string> order;
    while (std::getline(file, line) && line != "end") {
      std::istringstream words(line);
      std::string kind, name;
      words >> kind >> name;
      if (kind == "config") {
        read_config(name, words);
      } else {
        order.push_back(name);
        read_tensor(name, words);
      }
    }
    const std::string body((std::istreambuf_iterator<char>(file)), {});
    bytes_.resize(body.size());
    std::copy(body.begin(), body.end(), reinterpret_cast<char*>(bytes_.data()));
    place(order);
  }

  void release(const TensorView&) const override {}
  void release(std::span<const std::byte>) const override {}

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::environment, path_ + ": " + what, "make it with flatten.py");
  }

  void read_config(const std::string& name, std::istringstream& words) {
    std::string value;
    if (!(words >> value)) refuse("config " + name + " has no value");
    const std::map<std::string, int64_t*> integers = {
        {"hidden_size", &config_.hidden_size}, {"intermediate_size", &config_.intermediate_size},
        {"n_layers", &config_.n_layers},       {"n_heads", &config_.n_heads},
        {"n_kv_heads", &config_.n_kv_heads},   {"head_dim", &config_.head_dim},
        {"vocab_size", &config_.vocab_size},   {"max_positions", &config_.max_positions}};
    if (const auto it = integers.find(name); it != integers.end()) {
      *it->second = std::stoll(value);
    } else if (name == "rms_norm_eps") {
      config_.rms_norm_eps = std::strtod(value.c_str(), nullptr);
    } else if (name == "rope_theta") {
      config_.ropes[0].theta = std::strtod(value.c_str(), nullptr);
    } else if (name == "tied_head") {
      config_.tied_head = value == "1";
    } else if (name == "eos_token_id") {
      config_.eos_token_ids.push_back(static_cast<int32_t>(std::stol(value)));
    } else {
      refuse("config " + name + " is unknown");
    }
  }

  void read_tensor(const std::string& name, std::istringstream& words) {
    std::string dtype;
    size_t n_dims = 0;
    words >> dtype >> n_dims;
    const std::optional<DType> known = dtype_from_name(dtype);
    if (!known) refuse("tensor " + name + " has the unknown dtype '" + dtype + "'");
    std::vector<int64_t> shape(n_dims);
    for (int64_t& dim : shape) words >> dim;
    if (!words) refuse("tensor " + name + " has no shape");
    tensors_[name] = {.name = name,
                      .dtype = *known,
                      .shape = std::move(shape),
                      .bytes = {},
                      .row_order = RowOrder::kAsStored,
                      .head_dim = 0};
  }

  void place(const std::vector<std::string>& order) {
    size_t at = 0;
    for (const std::string& name : order) {
      TensorView& t = tensors_[name];
      const size_t n_bytes = static_cast<size_t>(t.n_rows()) * t.row_bytes();
      if (n_bytes > bytes_.size() - at) refuse("tensor " + name + " is cut short");
      t.bytes = std::span(bytes_).subspan(at, n_bytes);
      at += n_bytes;
    }
    if (at != bytes_.size()) refuse("bytes follow the last tensor");
  }

  std::vector<std::byte> bytes_;
};

}  // namespace isobit::testing
