#include "statement/signing_key.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <span>

#include "base/digest.h"
#include "base/error.h"

namespace isobit {
namespace {

constexpr size_t kSignatureBytes = 64;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

EVP_PKEY* pkey(const std::shared_ptr<void>& key) {
  return static_cast<EVP_PKEY*>(key.get());
}

std::shared_ptr<void> owned(EVP_PKEY* key) {
  return {key, [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); }};
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// OpenSSL would ask on the terminal.
int no_pass_phrase(char*, int, int, void*) {
  return -1;
}

Bio memory(std::string_view pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  if (!bio) throw std::bad_alloc();
  return bio;
}

bool has(std::string_view pem, std::string_view label) {
  return pem.find(label) != pem.npos;
}

[[noreturn]] void refuse(ErrorCode code, const std::string& where, const std::string& what,
                         const std::string& hint) {
  ERR_clear_error();
  throw Error(code, where + ": " + what, hint);
}

void require_ed25519(EVP_PKEY* key, const std::string& where) {
  if (EVP_PKEY_get_id(key) == EVP_PKEY_ED25519) return;
  const char* type = EVP_PKEY_get0_type_name(key);
  refuse(ErrorCode::usage, where,
         std::string("is a key for ") + (type ? type : "another algorithm") +
             ", expected one for Ed25519",
         "openssl genpkey -algorithm ed25519 -out key.pem makes one");
}

std::string public_der(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int n = i2d_PUBKEY(key, &der);
  ISOBIT_REQUIRE(n > 0);
  std::string out(reinterpret_cast<char*>(der), static_cast<size_t>(n));
  OPENSSL_free(der);
  return out;
}

Digest new_digest() {
  Digest context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!context) throw std::bad_alloc();
  return context;
}

}  // namespace

PublicKey::PublicKey(std::shared_ptr<void> key)
    : key_(std::move(key)), id_(sha256_hex(public_der(pkey(key_)))) {}

PublicKey PublicKey::from_pem(std::string_view pem, const std::string& where) {
  if (has(pem, "PRIVATE KEY-----")) {
    refuse(ErrorCode::usage, where, "is a private key; a public one checks signatures",
           "openssl pkey -in key.pem -pubout -out public.pem");
  }
  const Bio bio = memory(pem);
  EVP_PKEY* key = PEM_read_bio_PUBKEY(bio.get(), nullptr, no_pass_phrase, nullptr);
  if (!key) {
    refuse(ErrorCode::environment, where, "is no public key in PEM",
           "openssl pkey -in key.pem -pubout -out public.pem writes one");
  }
  const auto owner = owned(key);
  require_ed25519(key, where);
  return PublicKey(owner);
}

bool PublicKey::verifies(std::string_view message, std::string_view signature) const {
  if (signature.size() != kSignatureBytes) return false;
  const Digest context = new_digest();
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey(key_)) != 1)
    throw Error(ErrorCode::environment, "OpenSSL offers no Ed25519");
  const int result = EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(),
                                      bytes_of(message), message.size());
  ERR_clear_error();
  return result == 1;
}

SigningKey::SigningKey(std::shared_ptr<void> key) : key_(key), public_key_(std::move(key)) {}

SigningKey SigningKey::from_pem(std::string_view pem, const std::string& where) {
  const char* hint = "openssl genpkey -algorithm ed25519 -out key.pem makes one";
  if (has(pem, "ENCRYPTED"))
    refuse(ErrorCode::usage, where, "is encrypted; no pass phrase is asked for",
           "openssl pkey -in key.pem decrypts it; keep the result in the CI system's secrets");
  if (has(pem, "PUBLIC KEY-----"))
    refuse(ErrorCode::usage, where, "is a public key; a private one signs", hint);
  const Bio bio = memory(pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr);
  if (!key) refuse(ErrorCode::environment, where, "is no private key in PEM", hint);
  const auto owner = owned(key);
  require_ed25519(key, where);
  return SigningKey(owner);
}

std::string SigningKey::sign(std::string_view message) const {
  const Digest context = new_digest();
  std::string out(kSignatureBytes, '\0');
  size_t n = out.size();
  const bool done = EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pkey(key_)) == 1 &&
                    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &n,
                                   bytes_of(message), message.size()) == 1;
  if (!done || n != kSignatureBytes)
    throw Error(ErrorCode::environment, "OpenSSL cannot sign with Ed25519");
  return out;
}

}  // namespace isobit
