#include "checkpoint/refusal.h"

namespace isobit {

std::string shown(std::string_view bytes) {
  static const char* digits = "0123456789abcdef";
  constexpr size_t kMaxShown = 80;
  std::string out = "'";
  for (const char c : bytes.substr(0, kMaxShown)) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', digits[u >> 4], digits[u & 15]};
    }
  }
  return out + (bytes.size() > kMaxShown ? "...'" : "'");
}

}  // namespace isobit
