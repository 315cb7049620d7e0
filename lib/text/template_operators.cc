#include "text/template_operators.h"

#include <algorithm>
#include <cmath>

#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

[[noreturn]] void unsupported_operands(const char* sign, const Value& a, const Value& b) {
  raise("TypeError", std::string("unsupported operand type(s) for ") + sign + ": '" +
                         a.type_name() + "' and '" + b.type_name() + "'");
}

[[noreturn]] void integer_overflow() {
  raise("OverflowError", "an integer leaves the 64 bits that this interpreter keeps");
}

const char* sign_of(Operator op) {
  static const char* const signs[] = {"+",  "-", "*",  "/", "//", "%",  "** or pow()", "==",
                                      "!=", "<", "<=", ">", ">=", "in", "not in"};
  return signs[static_cast<int>(op)];
}

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == -1) {
    if (a == INT64_MIN) integer_overflow();
    return -a;
  }
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

Value integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  if (base == 0 || base == 1) return Value::integer(exponent == 0 ? 1 : base);
  if (base == -1) return Value::integer(exponent % 2 == 0 ? 1 : -1);
  int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) integer_overflow();
  }
  return Value::integer(result);
}

Value integer_arithmetic(Operator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) integer_overflow();
      return Value::integer(result);
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) integer_overflow();
      return Value::integer(result);
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) integer_overflow();
      return Value::integer(result);
    case Operator::divide:
      if (b == 0) raise("ZeroDivisionError", "division by zero");
      return Value::real(
          static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Operator::floor_divide:
      if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
      return Value::integer(floor_quotient(a, b));
    case Operator::modulo:
      if (b == 0) raise("ZeroDivisionError", "integer modulo by zero");
      return Value::integer(floor_remainder(a, b));
    default:
      return integer_power(a, b);
  }
}

double float_modulo(double a, double b) {
  double r = std::fmod(a, b);
  if (r != 0) {
    if ((b < 0) != (r < 0)) r += b;
  } else {
    r = std::copysign(0.0, b);
  }
  return r;
}

double float_floor_quotient(double a, double b) {
  const double r = float_modulo(a, b);
  const double q = (a - r) / b;
  if (q == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(q);
  return q - floored > 0.5 ? floored + 1 : floored;
}

Value float_arithmetic(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return Value::real(a + b);
    case Operator::subtract:
      return Value::real(a - b);
    case Operator::multiply:
      return Value::real(a * b);
    case Operator::divide:
      if (b == 0) raise("ZeroDivisionError", "float division by zero");
      return Value::real(a / b);
    case Operator::floor_divide:
      if (b == 0) raise("ZeroDivisionError", "float floor division by zero");
      return Value::real(float_floor_quotient(a, b));
    case Operator::modulo:
      if (b == 0) raise("ZeroDivisionError", "float modulo");
      return Value::real(float_modulo(a, b));
    default:
      break;
  }
  if (a == 0 && b < 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  if (a < 0 && b != std::floor(b)) raise(kNotSupported, "a power whose result is a complex number");
  const double power = std::pow(a, b);
  if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) {
    raise("OverflowError", "(34, 'Numerical result out of range')");
  }
  return Value::real(power);
}

Value repeated(const Value& v, int64_t times, Budget& budget) {
  const size_t n = times < 0 ? 0 : static_cast<size_t>(times);
  if (v.is_text()) {
    if (n != 0 && v.as_text().size() > SIZE_MAX / 2 / n) budget.spend(SIZE_MAX);
    budget.spend_bytes(v.as_text().size() * n);
    std::string out;
    out.reserve(v.as_text().size() * n);
    if (!v.as_text().empty()) {
      for (size_t i = 0; i < n; ++i) out += v.as_text();
    }
    return Value::text(std::move(out), v.is_markup());
  }
  const auto& items = v.items_of().items;
  if (items.empty()) return Value::sequence(v.items_of().type, {});
  if (n > SIZE_MAX / 2 / items.size()) budget.spend(SIZE_MAX);
  budget.spend(items.size() * n);
  std::vector<Value> out;
  out.reserve(items.size() * n);
  for (size_t i = 0; i < n; ++i) out.insert(out.end(), items.begin(), items.end());
  return Value::sequence(v.items_of().type, std::move(out));
}

bool is_set_like(const Value& v) {
  return v.is_sequence(SequenceType::dict_keys) || v.is_sequence(SequenceType::dict_items);
}

bool is_repeatable(const Value& v) {
  return v.is_text() || v.is_sequence(SequenceType::list) || v.is_sequence(SequenceType::tuple);
}

Value concatenated(const Value& a, const Value& b, Budget& budget) {
  if (a.is_text() && b.is_text()) {
    const bool markup = a.is_markup() || b.is_markup();
    std::string out = markup && !a.is_markup() ? escape_html(a.as_text()) : a.as_text();
    budget.spend_bytes(out.size() + b.as_text().size());
    out += markup && !b.is_markup() ? escape_html(b.as_text()) : b.as_text();
    return Value::text(std::move(out), markup);
  }
  if (a.is_sequence() && b.is_sequence() && a.items_of().type == b.items_of().type &&
      is_repeatable(a)) {
    std::vector<Value> out = a.items_of().items;
    budget.spend(out.size() + b.items_of().items.size());
    out.insert(out.end(), b.items_of().items.begin(), b.items_of().items.end());
    return Value::sequence(a.items_of().type, std::move(out));
  }
  if (a.is_text()) {
    raise("TypeError", "can only concatenate str (not \"" + b.type_name() + "\") to str");
  }
  if (is_repeatable(a)) {
    raise("TypeError", "can only concatenate " + a.type_name() + " (not \"" + b.type_name() +
                           "\") to " + a.type_name());
  }
  unsupported_operands("+", a, b);
}

}  // namespace

Value arithmetic(Operator op, const Value& a, const Value& b, Budget& budget) {
  if (a.is_undefined()) a.raise_undefined();
  if (op == Operator::modulo && a.is_text()) return printf_format(a, b, budget);
  if (b.is_undefined()) b.raise_undefined();
  if (a.is_integral() && b.is_integral())
    return integer_arithmetic(op, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return float_arithmetic(op, a.as_real(), b.as_real());
  if (op == Operator::subtract && (is_set_like(a) || is_set_like(b)))
    raise(kNotSupported, "arithmetic of dict keys, whose result is a set");
  if (op == Operator::add) return concatenated(a, b, budget);
  if (op == Operator::multiply) {
    if (is_repeatable(a) && b.is_integral()) return repeated(a, b.as_integer(), budget);
    if (is_repeatable(b) && a.is_integral()) return repeated(b, a.as_integer(), budget);
    if (is_repeatable(a))
      raise("TypeError", "can't multiply sequence by non-int of type '" + b.type_name() + "'");
    if (is_repeatable(b))
      raise("TypeError", "can't multiply sequence by non-int of type '" + a.type_name() + "'");
  }
  unsupported_operands(sign_of(op), a, b);
}

Value negated(const Value& v) {
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_integral()) return integer_arithmetic(Operator::subtract, 0, v.as_integer());
  if (v.is_real()) return Value::real(-v.as_real());
  raise("TypeError", "bad operand type for unary -: '" + v.type_name() + "'");
}

Value unary_plus(const Value& v) {
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_integral()) return Value::integer(v.as_integer());
  if (v.is_real()) return v;
  raise("TypeError", "bad operand type for unary +: '" + v.type_name() + "'");
}

bool truth(const Value& v) {
  switch (v.kind()) {
    case Kind::none:
    case Kind::undefined:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return v.as_integer() != 0;
    case Kind::real:
      return v.as_real() != 0;
    case Kind::text:
      return !v.as_text().empty();
    case Kind::sequence:
      return v.is_sequence(SequenceType::generator) || !v.items_of().items.empty();
    case Kind::dict:
      return v.as_dict().size() != 0;
    case Kind::object:
      return true;
  }
  return true;
}

int64_t length_of(const Value& v) {
  switch (v.kind()) {
    case Kind::text:
      return static_cast<int64_t>(count_code_points(v.as_text()));
    case Kind::dict:
      return static_cast<int64_t>(v.as_dict().size());
    case Kind::undefined:
      return 0;
    case Kind::sequence:
      if (!v.is_sequence(SequenceType::generator))
        return static_cast<int64_t>(v.items_of().items.size());
      [[fallthrough]];
    default:
      raise("TypeError", "object of type '" + v.type_name() + "' has no len()");
  }
}

}  // namespace isobit::jinja
