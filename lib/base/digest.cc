#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/error.h"

namespace isobit {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorCode::environment, "OpenSSL offers no SHA-256");
  }
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(const void* bytes, size_t n_bytes) {
  if (EVP_DigestUpdate(state_->context, bytes, n_bytes) != 1)
    throw Error(ErrorCode::internal, "SHA-256 update failed");
  return *this;
}

Sha256& Sha256::update_framed(std::string_view text) {
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<uint8_t>(static_cast<uint64_t>(text.size()) >> (8 * i));
  return update(length, sizeof length).update(text);
}

Sha256Digest Sha256::finish() {
  Sha256Digest out{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(state_->context, out.data(), &size) != 1 || size != out.size()) {
    throw Error(ErrorCode::internal, "SHA-256 finish failed");
  }
  return out;
}

Sha256Digest sha256(std::string_view text) {
  return Sha256().update(text).finish();
}

std::string hex(std::span<const uint8_t> bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const uint8_t b : bytes) {
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view text) {
  return hex(sha256(text));
}

std::string digest_library_version() {
  return OpenSSL_version(OPENSSL_VERSION);
}

uint64_t seed_from_request_id(std::string_view request_id) {
  const Sha256Digest digest = sha256(request_id);
  uint64_t seed = 0;
  for (int i = 7; i >= 0; --i) seed = seed << 8 | digest[static_cast<size_t>(i)];
  return seed;
}

}  // namespace isobit
