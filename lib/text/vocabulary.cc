#include "text/vocabulary.h"

#include <algorithm>

#include "base/error.h"

namespace isobit {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, const std::string& where)
    : tokens_(std::move(tokens)) {
  ids_.reserve(tokens_.size());
  for (size_t id = 0; id < tokens_.size(); ++id) {
    if (tokens_[id].empty()) continue;
    max_token_bytes_ = std::max(max_token_bytes_, tokens_[id].size());
    const auto [it, is_new] = ids_.emplace(tokens_[id], static_cast<int32_t>(id));
    if (!is_new) {
      throw Error(ErrorCode::environment, where + ": tokens " + std::to_string(it->second) +
                                              " and " + std::to_string(id) +
                                              " are both spelled \"" + tokens_[id] + "\"");
    }
  }
}

std::optional<int32_t> Vocabulary::id_of(std::string_view token) const {
  const auto it = ids_.find(token);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::string byte_token(uint8_t byte) {
  return {'<', '0', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15], '>'};
}

std::optional<uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto high = hex_digit(token[3]);
  const auto low = hex_digit(token[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<uint8_t>(*high * 16 + *low);
}

ByteTokens::ByteTokens(const Vocabulary& vocabulary) : ids_(256, -1) {
  for (size_t byte = 0; byte < 256; ++byte)
    ids_[byte] = vocabulary.id_of(byte_token(static_cast<uint8_t>(byte))).value_or(-1);
}

std::optional<int32_t> ByteTokens::id_of(uint8_t byte) const {
  if (ids_.empty() || ids_[byte] < 0) return std::nullopt;
  return ids_[byte];
}

bool ByteTokens::append(std::string_view bytes, std::vector<int32_t>& ids) const {
  const size_t start = ids.size();
  for (const char c : bytes) {
    const auto id = id_of(static_cast<uint8_t>(c));
    if (!id) {
      ids.resize(start);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

}  // namespace isobit
