// Attributes of numbers, and the attributes of other built-in types that Python has and this
// interpreter does not: those are refused by name, since answering "undefined" would change a text
// silently.
#include <algorithm>
#include <bit>
#include <cmath>

#include "text/template_arguments.h"
#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

uint64_t magnitude_of(const Value& v) {
  const int64_t i = v.as_integer();
  return i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
}

Value bit_length(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("bit_length", arguments, {}, 0);
  return Value::integer(64 - std::countl_zero(magnitude_of(self)));
}

Value bit_count(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("bit_count", arguments, {}, 0);
  return Value::integer(std::popcount(magnitude_of(self)));
}

// A bool becomes an int.
Value plain(const Value& self) {
  return self.is_real() ? self : Value::integer(self.as_integer());
}

Value conjugate(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("conjugate", arguments, {}, 0);
  return plain(self);
}

Value is_integer(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("is_integer", arguments, {}, 0);
  const double d = self.as_real();
  return Value::boolean(std::isfinite(d) && d == std::floor(d));
}

constexpr Method kOfInteger[] = {{"bit_length", bit_length}, {"bit_count", bit_count},
                                 {"conjugate", conjugate},   {"as_integer_ratio", nullptr},
                                 {"from_bytes", nullptr},    {"to_bytes", nullptr}};
constexpr Method kOfReal[] = {{"is_integer", is_integer},
                              {"conjugate", conjugate},
                              {"as_integer_ratio", nullptr},
                              {"fromhex", nullptr},
                              {"hex", nullptr}};

struct Refused {
  std::string_view type;
  std::string_view attribute;
};
constexpr Refused kRefused[] = {{"Markup", "escape"},
                                {"Markup", "striptags"},
                                {"Markup", "unescape"},
                                {"range", "start"},
                                {"range", "step"},
                                {"range", "stop"},
                                {"dict_keys", "isdisjoint"},
                                {"dict_keys", "mapping"},
                                {"dict_values", "mapping"},
                                {"dict_items", "isdisjoint"},
                                {"dict_items", "mapping"},
                                {"generator", "close"},
                                {"generator", "gi_running"},
                                {"generator", "gi_suspended"},
                                {"generator", "gi_yieldfrom"},
                                {"generator", "send"},
                                {"generator", "throw"},
                                {"Cycler", "items"},
                                {"Cycler", "pos"},
                                {"Joiner", "sep"},
                                {"Joiner", "used"},
                                {"type", "current"},
                                {"type", "next"},
                                {"type", "reset"},
                                {"Macro", "explicit_caller"}};

template <size_t n>
const Method* named(const Method (&methods)[n], const std::string& name) {
  const auto* at = std::find_if(std::begin(methods), std::end(methods),
                                [&](const Method& m) { return m.name == name; });
  return at == std::end(methods) ? nullptr : at;
}

}  // namespace

const Method* find_number_method(const Value& v, const std::string& name) {
  return v.is_real() ? named(kOfReal, name) : named(kOfInteger, name);
}

std::optional<Value> number_attribute(const Value& v, const std::string& name) {
  if (name == "real") return plain(v);
  if (name == "imag") return v.is_real() ? Value::real(0) : Value::integer(0);
  if (v.is_real()) return std::nullopt;
  if (name == "numerator") return plain(v);
  if (name == "denominator") return Value::integer(1);
  return std::nullopt;
}

void refuse_missing_attribute(const Value& v, const std::string& name) {
  const std::string type = v.type_name();
  for (const Refused& refused : kRefused) {
    if (refused.type == type && refused.attribute == name)
      raise(kNotSupported, "the attribute " + type + "." + name);
  }
}

}  // namespace isobit::jinja
