// Reads the tokenizer section of a GGUF for tests of lib/text, which may not depend on
// lib/checkpoint. It trusts the file.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "text/tokenizer.h"

namespace isobit {

class GgufVocabularyReader {
 public:
  explicit GgufVocabularyReader(const std::string& path) : file_(path) {
    parts_.where = path;
    at_ = 16;  // magic, version, number of tensors
    const auto n_values = number<uint64_t>();
    for (uint64_t i = 0; i < n_values; ++i) read_value();
  }
  const GgufTokenizerParts& parts() const { return parts_; }

 private:
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, file_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto n = number<uint64_t>();
    std::string out(reinterpret_cast<const char*>(file_.data()) + at_, n);
    at_ += n;
    return out;
  }
  void read_value() {
    const std::string key = text();
    const auto type = number<uint32_t>();
    if (type == 9) {
      const auto element = number<uint32_t>();
      const auto n = number<uint64_t>();
      for (uint64_t i = 0; i < n; ++i) scalar(key, element);
    } else {
      scalar(key, type);
    }
  }
  void scalar(const std::string& key, uint32_t type) {
    static constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    if (type == 8) {
      std::string value = text();
      if (key == "tokenizer.ggml.model") parts_.model = value;
      if (key == "tokenizer.ggml.pre") parts_.pre = value;
      if (key == "tokenizer.ggml.tokens") parts_.tokens.push_back(value);
      if (key == "tokenizer.ggml.merges") parts_.merges.push_back(value);
      return;
    }
    const size_t start = at_;
    if (key == "tokenizer.ggml.token_type") parts_.token_types.push_back(number<int32_t>());
    if (key == "tokenizer.ggml.bos_token_id") parts_.bos_id = number<uint32_t>();
    if (key == "tokenizer.ggml.eos_token_id") parts_.eos_id = number<uint32_t>();
    if (key == "tokenizer.ggml.add_bos_token") parts_.add_bos = number<uint8_t>() != 0;
    at_ = start + kBytes[type];
  }

  MappedFile file_;
  size_t at_ = 0;
  GgufTokenizerParts parts_;
};

}  // namespace isobit
