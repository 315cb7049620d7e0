#include "statement/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace isobit {
namespace {

const unsigned char* bytes_of(const std::string_view& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64(std::string_view bytes) {
  ISOBIT_REQUIRE(bytes.size() < std::numeric_limits<int>::max() / 2);
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that is written after it
  const int n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(bytes),
                                static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(n));
  return out;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  std::string standard(text);
  std::ranges::replace(standard, '-', '+');
  std::ranges::replace(standard, '_', '/');
  if (standard.size() % 4 != 0 || standard.size() > std::numeric_limits<int>::max() / 2)
    return std::nullopt;
  std::string out(standard.size() / 4 * 3, '\0');
  const int n = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(standard),
                                static_cast<int>(standard.size()));
  if (n != static_cast<int>(out.size())) return std::nullopt;
  const size_t padding = standard.ends_with("==") ? 2 : standard.ends_with('=') ? 1 : 0;
  out.resize(out.size() - padding);
  // OpenSSL skips white space and ignores bits past the end; only one text stands for these bytes.
  if (base64(out) != standard) return std::nullopt;
  return out;
}

}  // namespace isobit
