#include "base/digest.h"

#include <doctest/doctest.h>

using namespace isobit;

TEST_CASE("SHA-256 gives the published digests, whole and in pieces") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 pieces;
  pieces.update("a").update("").update("bc");
  CHECK(hex(pieces.finish()) == sha256_hex("abc"));
}

TEST_CASE("framed fields cannot run into each other") {
  const auto digest = [](std::string_view a, std::string_view b) {
    return hex(Sha256().update_framed(a).update_framed(b).finish());
  };
  CHECK(digest("ab", "c") != digest("a", "bc"));
}

TEST_CASE("a seed is the first eight bytes of the request id's digest, little-endian") {
  CHECK(seed_from_request_id("abc") == 0xeacf018fbf1678baULL);
}
