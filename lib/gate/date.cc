#include "gate/date.h"

#include <fmt/format.h>

namespace isobit {
namespace {

std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Of the Gregorian calendar.
int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// "T12:34:56" and what may follow it: no hour of a day is 24 or more, no minute 60.
bool is_time(std::string_view text) {
  if (text.size() < 6 || text[0] != 'T' || text[3] != ':') return false;
  const auto hour = digits(text.substr(1, 2)), minute = digits(text.substr(4, 2));
  return hour && minute && *hour < 24 && *minute < 60;
}

}  // namespace

std::optional<Date> parse_date(std::string_view text) {
  if (text.size() > 10 && !is_time(text.substr(10))) return std::nullopt;
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text.substr(0, 4)), month = digits(text.substr(5, 2)),
             day = digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > days_in_month(*year, *month))
    return std::nullopt;
  return Date{.year = *year, .month = *month, .day = *day};
}

std::string date_text(const Date& date) {
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

}  // namespace isobit
