// DSSE envelopes: bytes with their type and who vouches for them.
//
// Dead Simple Signing Envelope 1.0 (github.com/secure-systems-lab/dsse). What is signed is not JSON
// but its pre-authentication encoding, so that no parser stands between the signature and the
// bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "statement/signing_key.h"

namespace isobit {

inline constexpr const char* kInTotoPayloadType = "application/vnd.in-toto+json";

// More cost time and say no more.
inline constexpr size_t kMaxSignatures = 64;

struct EnvelopeSignature {
  std::string key_id;  // a hint that nobody vouches for; may be empty
  std::string bytes;
};

struct Envelope {
  std::string payload_type;
  std::string payload;
  std::vector<EnvelopeSignature> signatures = {};
};

// "DSSEv1" SP length(type) SP type SP length(payload) SP payload; lengths in decimal.
std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload);

Envelope signed_envelope(std::string_view payload_type, std::string_view payload,
                         const SigningKey& key);

// Canonical JSON and a newline.
std::string envelope_text(const Envelope& envelope);

bool looks_like_envelope(const Json& root);

// Throws Error(environment) beginning with `where`, also for more than kMaxSignatures. Members that
// DSSE does not know are ignored, as it asks for.
Envelope read_envelope(const Json& root, const std::string& where);

enum class SignatureState {
  kGood,        // the key signed these bytes
  kWrong,       // a signature names the key, and is not its signature of these bytes
  kUnknownKey,  // signed, but by other keys
};
// Every signature is tried, whatever key it names.
SignatureState check_signatures(const Envelope& envelope, const PublicKey& key);

}  // namespace isobit
