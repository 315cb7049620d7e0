#include "record/float_json.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/digest.h"

namespace isobit {
namespace {

int digit_value(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The double with the fewest digits that rounds to `value`.
double shortest(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double decimal = 0;
  std::from_chars(text, end, decimal);
  return static_cast<float>(decimal) == value ? decimal : static_cast<double>(value);
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

Json float_json(float value) {
  if (std::isfinite(value) && !(value == 0 && std::signbit(value))) return shortest(value);
  return fmt::format("{:08x}", std::bit_cast<uint32_t>(value));
}

std::optional<float> float_from_json(const Json& value) {
  if (value.is_number()) {
    const auto number = static_cast<float>(value.get<double>());
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  const auto bytes = bytes_from_hex(value.get_ref<const std::string&>());
  if (!bytes || bytes->size() != 4) return std::nullopt;
  uint32_t bits = 0;
  for (const char byte : *bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
  return std::bit_cast<float>(bits);
}

Json bytes_json(const std::string& bytes) {
  if (is_utf8(bytes)) return bytes;
  return {{"bytes", hex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()})}};
}

std::optional<std::string> bytes_from_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1 || !value.contains("bytes")) return std::nullopt;
  const Json& digits = value["bytes"];
  return digits.is_string() ? bytes_from_hex(digits.get_ref<const std::string&>()) : std::nullopt;
}

std::optional<std::string> bytes_from_hex(const std::string& digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string out;
  out.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_value(digits[i]), low = digit_value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

}  // namespace isobit
