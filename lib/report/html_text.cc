#include "report/html_text.h"

#include "base/digest.h"
#include "report/untrusted_text.h"

namespace isobit {
namespace {

std::string escaped(std::string_view visible) {
  std::string out;
  for (const char c : visible) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(const Sha256Digest& bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < n ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace

std::string html_text(std::string_view text, size_t max_characters) {
  return escaped(visible_text(text, max_characters));
}

std::string html_code(std::string_view text, size_t max_characters) {
  return "<code>" + html_text(text, max_characters) + "</code>";
}

std::string html_shell_text(std::string_view command) {
  std::string rest(command);
  std::erase(rest, '\\');
  return visible_text(rest) == rest ? escaped(command) : html_text(command);
}

std::string csp_hash(std::string_view content) {
  return "sha256-" + base64(sha256(content));
}

}  // namespace isobit
