#include "fingerprint/item_list.h"

namespace isobit {
namespace {

// ASCII as it is; everything else as \xNN, so that no value can break JSON, a terminal or a
// comparison.
std::string printable(const std::string& bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', digits[u >> 4], digits[u & 15]};
    }
  }
  return out;
}

}  // namespace

void ItemList::add(FingerprintClass item_class, std::string name, std::string value,
                   FingerprintSource source, std::string reason) {
  items_.push_back({item_class, printable(name), printable(value), source, printable(reason)});
}

}  // namespace isobit
