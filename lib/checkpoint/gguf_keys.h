// Typed reads of a GGUF's metadata "<architecture>.<key>".
#pragma once

#include <algorithm>
#include <string>

#include "checkpoint/gguf.h"
#include "checkpoint/refusal.h"

namespace isobit {

class ModelKeys {
 public:
  ModelKeys(const GgufFile& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  const std::string& where() const { return file_.where(); }
  std::string full(const char* key) const { return prefix_ + key; }
  std::optional<int64_t> count(const char* key) const {
    const std::optional<uint64_t> v = file_.count(full(key));
    if (v && *v > INT64_MAX)
      refuse(where(), full(key) + " is " + std::to_string(*v) + ", too large");
    return v ? std::optional<int64_t>(static_cast<int64_t>(*v)) : std::nullopt;
  }
  int64_t required_count(const char* key) const {
    if (const auto v = count(key)) return *v;
    refuse(where(), "no metadata " + shown(full(key)));
  }
  std::optional<double> real(const char* key) const { return file_.real(full(key)); }
  std::optional<double> real_or_count(const char* key) const {
    if (!has(key)) return std::nullopt;
    const auto n = file_.metadata().find(full(key));
    const bool is_real = n->second.type == GgufType::kF32 || n->second.type == GgufType::kF64;
    return is_real ? real(key) : static_cast<double>(*count(key));
  }
  std::optional<std::string_view> string(const char* key) const { return file_.string(full(key)); }
  std::optional<bool> boolean(const char* key) const { return file_.boolean(full(key)); }
  bool has(const char* key) const { return file_.has(full(key)); }

 private:
  const GgufFile& file_;
  std::string prefix_;
};

inline bool has_tensor(const GgufFile& file, std::string_view name) {
  return std::any_of(file.tensors().begin(), file.tensors().end(),
                     [&](const StoredTensor& t) { return t.name == name; });
}

}  // namespace isobit
