// A day, as overrides expire on one. No clock here: today is an argument.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace isobit {

struct Date {
  int year = 1970, month = 1, day = 1;
  auto operator<=>(const Date&) const = default;
};

// "2026-01-31", or a time that begins so, "2026-01-31T12:34:56Z". Absent: no such day.
std::optional<Date> parse_date(std::string_view text);
std::string date_text(const Date& date);  // "2026-01-31"

}  // namespace isobit
