// SHA-256, for everything that leaves the machine: files, tensors, fingerprints. The only user of
// OpenSSL's digests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace isobit {

using Sha256Digest = std::array<uint8_t, 32>;

// Incremental SHA-256. Not copyable; finish() may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(const void* bytes, size_t n_bytes);
  Sha256& update(std::string_view text) { return update(text.data(), text.size()); }
  // The length as 8 little-endian bytes, then the text: fields framed so cannot run into each
  // other.
  Sha256& update_framed(std::string_view text);
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Sha256Digest sha256(std::string_view text);
std::string hex(std::span<const uint8_t> bytes);  // lower case
std::string sha256_hex(std::string_view text);

// Which library computes the digests: "OpenSSL 3.0.15 3 Sep 2024".
std::string digest_library_version();

// A request without a seed gets the first 8 bytes, little-endian, of SHA-256(request id) (numeric
// contract section 5).
uint64_t seed_from_request_id(std::string_view request_id);

}  // namespace isobit
