// Envelopes: the encoding that is signed, and what is read of damaged ones.
#include "statement/envelope.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/statement/pem_keys.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

const SigningKey& key(size_t index = 0) {
  static const SigningKey keys[] = {SigningKey::from_pem(private_pem(kRfc8032[0].secret), "k0"),
                                    SigningKey::from_pem(private_pem(kRfc8032[1].secret), "k1")};
  return keys[index];
}

Envelope read(std::string_view text) {
  return read_envelope(parse_json(text, "e.json"), "e.json");
}

bool is_refused(std::string_view text) {
  try {
    read(text);
  } catch (const Error& e) {
    CHECK(e.message().starts_with("e.json"));
    return true;
  }
  return false;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the pre-authentication encoding of the DSSE specification's example") {
  CHECK(pre_authentication_encoding("http://example.com/HelloWorld", "hello world") ==
        "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  CHECK(pre_authentication_encoding("", "") == "DSSEv1 0  0 ");
  CHECK(pre_authentication_encoding("\xc3\xa9", std::string("\0 1", 3)) ==
        std::string("DSSEv1 2 \xc3\xa9 3 \0 1", 17));
}

TEST_CASE("types and payloads cannot run into each other") {
  CHECK(pre_authentication_encoding("a", "b c") != pre_authentication_encoding("a b", "c"));
  CHECK(pre_authentication_encoding("a 1", "b") != pre_authentication_encoding("a", "1 b"));
}

TEST_CASE("an envelope comes back, and its signature is good") {
  const std::string text = envelope_text(signed_envelope("type", "{\"a\":1}", key()));
  CHECK(text == envelope_text(signed_envelope("type", "{\"a\":1}", key())));
  const Envelope envelope = read(text);
  CHECK(envelope.payload_type == "type");
  CHECK(envelope.payload == "{\"a\":1}");
  CHECK(check_signatures(envelope, key().public_key()) == SignatureState::kGood);
  CHECK(check_signatures(envelope, key(1).public_key()) == SignatureState::kUnknownKey);
}

TEST_CASE("a changed payload, type or signature is wrong") {
  const auto state = [](auto change) {
    Envelope envelope = signed_envelope("type", "payload", key());
    change(envelope);
    return check_signatures(envelope, key().public_key());
  };
  CHECK(state([](Envelope& e) { e.payload += " "; }) == SignatureState::kWrong);
  CHECK(state([](Envelope& e) { e.payload_type = "typf"; }) == SignatureState::kWrong);
  CHECK(state([](Envelope& e) { e.signatures[0].bytes[5] ^= 1; }) == SignatureState::kWrong);
}

TEST_CASE("the key id is a hint: a good signature counts under any name, a name alone does not") {
  Envelope envelope = signed_envelope("type", "payload", key());
  envelope.signatures[0].key_id = "someone else";
  CHECK(check_signatures(envelope, key().public_key()) == SignatureState::kGood);
  envelope = signed_envelope("type", "payload", key(1));
  envelope.signatures[0].key_id = key().id();
  CHECK(check_signatures(envelope, key().public_key()) == SignatureState::kWrong);
  envelope.signatures.push_back(signed_envelope("type", "payload", key()).signatures[0]);
  CHECK(check_signatures(envelope, key().public_key()) == SignatureState::kGood);
}

TEST_CASE(
    "an envelope cut at any byte is refused, and a flipped byte never verifies another text") {
  const std::string text = envelope_text(signed_envelope("type", "{\"a\":1}", key()));
  for (size_t n = 0; n + 1 < text.size(); ++n) {
    CAPTURE(n);
    CHECK(is_refused(text.substr(0, n)));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    CAPTURE(at);
    try {
      const Envelope envelope = read(changed);
      if (check_signatures(envelope, key().public_key()) == SignatureState::kGood) {
        CHECK(envelope.payload == "{\"a\":1}");
        CHECK(envelope.payload_type == "type");
      }
    } catch (const Error&) {
    }
  }
}

TEST_CASE("what DSSE asks to be ignored is, and what it needs is asked for") {
  const std::string text = envelope_text(signed_envelope("type", "\xff\xfe\xfd", key()));
  CHECK(!is_refused(replaced(text, "{\"payload\"", "{\"later\":{},\"payload\"")));
  CHECK(read(replaced(text, "//79", "__79")).payload == "\xff\xfe\xfd");  // the URL-safe alphabet
  CHECK(is_refused(replaced(text, "//79", "//7 9")));
  CHECK(is_refused(replaced(text, "//79", "//7")));
  CHECK(is_refused(replaced(text, "\"payloadType\"", "\"payloadTypo\"")));
  CHECK(is_refused("{\"payload\":\"\",\"payloadType\":\"t\",\"signatures\":[]}"));
  CHECK(is_refused("{\"payload\":\"\",\"payloadType\":\"t\",\"signatures\":{}}"));
  CHECK(is_refused("{\"payload\":\"\",\"payloadType\":\"t\",\"signatures\":[{}]}"));
  CHECK(is_refused("{\"payload\":\"\",\"payloadType\":\"t\",\"signatures\":[3]}"));
  CHECK(!is_refused("{\"payload\":\"\",\"payloadType\":\"t\",\"signatures\":[{\"sig\":\"\"}]}"));
}

TEST_CASE("base64 has one text for each bytes") {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"})
    CHECK(base64_decoded(base64(bytes)) == bytes);
  CHECK(base64("foobar") == "Zm9vYmFy");  // RFC 4648, section 10
  CHECK(base64("fooba") == "Zm9vYmE=");
  for (const char* bad :
       {"Zm9vYmF=", "Zm9v\n", "Zg", "Zg=", "=", "====", "Zh==", "Zg==Zg==", "Z g="})
    CHECK(!base64_decoded(bad).has_value());
}

TEST_CASE("an envelope with more signatures than anybody needs is refused before one is tried") {
  Envelope envelope = signed_envelope("type", "{}", key());
  envelope.signatures.resize(kMaxSignatures, envelope.signatures[0]);
  CHECK(read(envelope_text(envelope)).signatures.size() == kMaxSignatures);
  envelope.signatures.push_back(envelope.signatures[0]);
  CHECK(is_refused(envelope_text(envelope)));
}
