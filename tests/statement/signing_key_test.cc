// Signatures are those of RFC 8032, and keys that are none are told apart.
#include "statement/signing_key.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/statement/pem_keys.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

template <typename Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e;
  }
  FAIL("nothing was refused");
  std::abort();
}

}  // namespace

TEST_CASE("the signatures of RFC 8032, section 7.1") {
  for (const Vector& v : kRfc8032) {
    const SigningKey key = SigningKey::from_pem(private_pem(v.secret), "k");
    const PublicKey public_key = PublicKey::from_pem(public_pem(v.public_key), "p");
    CHECK(key.sign(raw(v.message)) == raw(v.signature));
    CHECK(public_key.verifies(raw(v.message), raw(v.signature)));
    CHECK(key.public_key().verifies(raw(v.message), raw(v.signature)));
    CHECK(key.id() == public_key.id());
    CHECK(key.id().size() == 64);
  }
}

TEST_CASE("a signature with any bit changed is wrong") {
  const Vector& v = kRfc8032[2];
  const PublicKey key = PublicKey::from_pem(public_pem(v.public_key), "p");
  for (size_t bit = 0; bit < 512; ++bit) {
    std::string signature = raw(v.signature);
    signature[bit / 8] = static_cast<char>(signature[bit / 8] ^ (1 << bit % 8));
    CAPTURE(bit);
    CHECK(!key.verifies(raw(v.message), signature));
  }
  CHECK(!key.verifies("other", raw(v.signature)));
  CHECK(!key.verifies(raw(v.message), ""));
  CHECK(!key.verifies(raw(v.message), raw(v.signature) + "x"));
}

TEST_CASE("what is no key of the right kind is refused, and no message holds the key") {
  const std::string secret = private_pem(kRfc8032[0].secret);
  const std::string open = public_pem(kRfc8032[0].public_key);
  const auto signing = [](const std::string& pem) {
    return error_of([&] { SigningKey::from_pem(pem, "k.pem"); });
  };
  const auto checking = [](const std::string& pem) {
    return error_of([&] { PublicKey::from_pem(pem, "p.pem"); });
  };
  CHECK(signing(open).code() == ErrorCode::usage);
  CHECK(checking(secret).code() == ErrorCode::usage);
  CHECK(signing("").code() == ErrorCode::environment);
  CHECK(checking("hello").code() == ErrorCode::environment);
  CHECK(signing(pem("ENCRYPTED PRIVATE KEY", "x")).code() == ErrorCode::usage);
  // X25519 has the same size and is for another purpose.
  const std::string other =
      pem("PRIVATE KEY", raw(std::string("302e020100300506032b656e04220420") + kRfc8032[0].secret));
  CHECK(signing(other).message().find("X25519") != std::string::npos);
  const std::string encoded = secret.substr(28, 40);
  for (size_t n = 0; n < secret.size() - 1; ++n) {
    try {
      SigningKey::from_pem(secret.substr(0, n), "k.pem");
    } catch (const Error& e) {
      CHECK(e.message().find(encoded) == std::string::npos);
      CHECK(e.message().starts_with("k.pem: "));
    }
  }
}
