// Base64 with padding (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isobit {

// Nothing when `text` is not whole groups of four with padding at the end only.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace isobit
