#include "statement/envelope.h"

#include <algorithm>

#include "base/error.h"
#include "statement/base64.h"

namespace isobit {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorCode::environment, where + ": " + what,
              "the envelope was damaged or is not one of DSSE; write it again");
}

const std::string& text_of(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string())
    refuse(where, std::string("a string \"") + key + "\" is expected");
  return object[key].get_ref<const std::string&>();
}

std::string bytes_of(const Json& object, const char* key, const std::string& where) {
  auto bytes = base64_decoded(text_of(object, key, where));
  if (!bytes) refuse(where, std::string("\"") + key + "\" is not base64");
  return std::move(*bytes);
}

}  // namespace

std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload) {
  std::string out = "DSSEv1 " + std::to_string(payload_type.size()) + " ";
  out.append(payload_type);
  out += " " + std::to_string(payload.size()) + " ";
  return out.append(payload);
}

Envelope signed_envelope(std::string_view payload_type, std::string_view payload,
                         const SigningKey& key) {
  Envelope out{.payload_type = std::string(payload_type), .payload = std::string(payload)};
  out.signatures.push_back(
      {key.id(), key.sign(pre_authentication_encoding(payload_type, payload))});
  return out;
}

std::string envelope_text(const Envelope& envelope) {
  Json signatures = Json::array();
  for (const EnvelopeSignature& s : envelope.signatures)
    signatures.push_back({{"keyid", s.key_id}, {"sig", base64(s.bytes)}});
  return canonical_json({{"payloadType", envelope.payload_type},
                         {"payload", base64(envelope.payload)},
                         {"signatures", std::move(signatures)}}) +
         "\n";
}

bool looks_like_envelope(const Json& root) {
  return root.is_object() && root.contains("payloadType") && root.contains("signatures");
}

Envelope read_envelope(const Json& root, const std::string& where) {
  Envelope out;
  out.payload_type = text_of(root, "payloadType", where);
  out.payload = bytes_of(root, "payload", where);
  if (!root.contains("signatures") || !root["signatures"].is_array() || root["signatures"].empty())
    refuse(where, "\"signatures\" is no list with a signature in it");
  if (root["signatures"].size() > kMaxSignatures)
    refuse(where, "has " + std::to_string(root["signatures"].size()) +
                      " signatures, expected at most " + std::to_string(kMaxSignatures));
  for (const Json& signature : root["signatures"]) {
    EnvelopeSignature& s = out.signatures.emplace_back();
    s.bytes = bytes_of(signature, "sig", where + ": signatures");
    const bool named = signature.contains("keyid") && !signature["keyid"].is_null();
    if (named) s.key_id = text_of(signature, "keyid", where + ": signatures");
  }
  return out;
}

SignatureState check_signatures(const Envelope& envelope, const PublicKey& key) {
  const std::string message = pre_authentication_encoding(envelope.payload_type, envelope.payload);
  bool names_key = false;
  for (const EnvelopeSignature& signature : envelope.signatures) {
    if (key.verifies(message, signature.bytes)) return SignatureState::kGood;
    names_key |= signature.key_id == key.id();
  }
  return names_key ? SignatureState::kWrong : SignatureState::kUnknownKey;
}

}  // namespace isobit
