// Ed25519 keys (RFC 8032) from PEM text, by OpenSSL.
//
// A private key is read, used and forgotten: nothing here writes it, prints it or puts it into a
// message, and its memory is cleared by OpenSSL.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace isobit {

// "-----BEGIN PUBLIC KEY-----" (RFC 8410).
class PublicKey {
 public:
  // Throws Error(environment) beginning with `where` for what is no PEM public key, Error(usage)
  // for a private key and for a key of another algorithm.
  static PublicKey from_pem(std::string_view pem, const std::string& where);

  // SHA-256 (hex) of the DER form: what an envelope names the key by.
  const std::string& id() const { return id_; }
  bool verifies(std::string_view message, std::string_view signature) const;

 private:
  friend class SigningKey;
  explicit PublicKey(std::shared_ptr<void> key);
  std::shared_ptr<void> key_;
  std::string id_;
};

// "-----BEGIN PRIVATE KEY-----" (RFC 8410), not encrypted.
class SigningKey {
 public:
  // Throws as PublicKey::from_pem; an encrypted key is Error(usage), since nobody is asked.
  static SigningKey from_pem(std::string_view pem, const std::string& where);

  const std::string& id() const { return public_key_.id(); }
  const PublicKey& public_key() const { return public_key_; }
  std::string sign(std::string_view message) const;  // 64 bytes; the same message, the same bytes

 private:
  explicit SigningKey(std::shared_ptr<void> key);
  std::shared_ptr<void> key_;
  PublicKey public_key_;
};

}  // namespace isobit
