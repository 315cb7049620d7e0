// Base64 (RFC 4648, section 4), as envelopes and resource descriptors carry bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isobit {

std::string base64(std::string_view bytes);

// Strict: padded, no white space, no stray bits. The URL-safe alphabet is read too, which DSSE
// allows. Nothing for anything else.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace isobit
