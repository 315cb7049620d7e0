// The tokens of a model: id to spelling and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace isobit {

class Vocabulary {
 public:
  // `tokens[id]` is a spelling; "" where no token has that id. Throws Error(environment), naming
  // `where`, on two tokens with one spelling.
  Vocabulary(std::vector<std::string> tokens, const std::string& where);
  Vocabulary(Vocabulary&&) = default;  // not copied: the index views the spellings
  Vocabulary& operator=(Vocabulary&&) = default;

  std::optional<int32_t> id_of(std::string_view token) const;
  const std::vector<std::string>& tokens() const { return tokens_; }
  size_t max_token_bytes() const { return max_token_bytes_; }

 private:
  std::vector<std::string> tokens_;
  std::unordered_map<std::string_view, int32_t> ids_;  // keys view tokens_
  size_t max_token_bytes_ = 0;
};

// "<0x0A>" for 10: how a vocabulary spells a byte that no token covers.
std::string byte_token(uint8_t byte);
std::optional<uint8_t> byte_of_token(std::string_view token);

// The ids of the 256 byte tokens, nothing where a vocabulary lacks one.
class ByteTokens {
 public:
  ByteTokens() = default;
  explicit ByteTokens(const Vocabulary& vocabulary);
  std::optional<int32_t> id_of(uint8_t byte) const;
  // Appends one id per byte and returns true when each byte has one; appends nothing otherwise.
  bool append(std::string_view bytes, std::vector<int32_t>& ids) const;

 private:
  std::vector<int32_t> ids_;  // 256, -1 where there is none; empty: there are none at all
};

}  // namespace isobit
