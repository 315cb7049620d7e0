// Equality, order and membership.
#include <algorithm>

#include "text/template_operators.h"

namespace isobit::jinja {
namespace {

bool equal_items(const std::vector<Value>& a, const std::vector<Value>& b, Budget& budget) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Value& x, const Value& y) { return equal(x, y, budget); });
}

bool equal_dicts(const Dict& a, const Dict& b, Budget& budget) {
  if (a.size() != b.size()) return false;
  return std::all_of(a.entries().begin(), a.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.first);
    return other != nullptr && equal(entry.second, *other, budget);
  });
}

// x87 and quad long double both hold every int64 and every double.
bool less_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_integer() < b.as_integer();
  const auto wide = [](const Value& v) {
    return v.is_real() ? static_cast<long double>(v.as_real())
                       : static_cast<long double>(v.as_integer());
  };
  return wide(a) < wide(b);
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_integer() == b.as_integer();
  if (a.is_real() && b.is_real()) return a.as_real() == b.as_real();
  const double d = a.is_real() ? a.as_real() : b.as_real();
  const int64_t i = a.is_real() ? b.as_integer() : a.as_integer();
  return static_cast<long double>(d) == static_cast<long double>(i);
}

}  // namespace

bool equal(const Value& a, const Value& b, Budget& budget) {
  budget.spend(1);
  if (a.is_number() && b.is_number()) return equal_numbers(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::none:
      return true;
    case Kind::undefined:
      return true;
    case Kind::text:
      return a.as_text() == b.as_text();
    case Kind::sequence: {
      if (a.same_object(b)) return true;
      const SequenceType type = a.items_of().type;
      const bool by_value = type == SequenceType::list || type == SequenceType::tuple ||
                            type == SequenceType::range || type == SequenceType::dict_keys ||
                            type == SequenceType::dict_items;
      return by_value && type == b.items_of().type &&
             equal_items(a.items_of().items, b.items_of().items, budget);
    }
    case Kind::dict:
      return a.same_object(b) || equal_dicts(a.as_dict(), b.as_dict(), budget);
    default:
      return a.same_object(b);
  }
}

bool less(const Value& a, const Value& b, Budget& budget, const char* sign) {
  budget.spend(1);
  if (a.is_undefined()) a.raise_undefined();
  if (b.is_undefined()) b.raise_undefined();
  if (a.is_number() && b.is_number()) return less_numbers(a, b);
  if (a.is_text() && b.is_text())
    return a.as_text() < b.as_text();  // UTF-8 sorts as its code points do
  const bool ordered = a.is_sequence() && b.is_sequence() &&
                       a.items_of().type == b.items_of().type &&
                       (a.is_sequence(SequenceType::list) || a.is_sequence(SequenceType::tuple));
  if (!ordered) {
    raise("TypeError", std::string("'") + sign + "' not supported between instances of '" +
                           a.type_name() + "' and '" + b.type_name() + "'");
  }
  const auto& x = a.items_of().items;
  const auto& y = b.items_of().items;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (!equal(x[i], y[i], budget)) return less(x[i], y[i], budget, sign);
  }
  return x.size() < y.size();
}

bool compare(Operator op, const Value& a, const Value& b, Budget& budget) {
  switch (op) {
    case Operator::equal:
      return equal(a, b, budget);
    case Operator::not_equal:
      return !equal(a, b, budget);
    case Operator::in:
      return contains(b, a, budget);
    case Operator::not_in:
      return !contains(b, a, budget);
    case Operator::less:
      return less(a, b, budget, "<");
    case Operator::greater:
      if (a.is_undefined()) a.raise_undefined();
      if (!(a.is_number() && b.is_number()) && a.kind() != b.kind() && !b.is_undefined()) {
        raise("TypeError", "'>' not supported between instances of '" + a.type_name() + "' and '" +
                               b.type_name() + "'");
      }
      return less(b, a, budget, ">");
    case Operator::less_equal:
      return less(a, b, budget, "<=") || equal(a, b, budget);
    default:
      if (a.is_undefined()) a.raise_undefined();
      return !less(a, b, budget, ">=") &&
             (!(a.is_number() && b.is_number()) || less(b, a, budget) || equal(a, b, budget));
  }
}

bool contains(const Value& container, const Value& item, Budget& budget) {
  if (container.is_text()) {
    if (!item.is_text()) {
      raise("TypeError", "'in <string>' requires string as left operand, not " + item.type_name());
    }
    budget.spend_bytes(container.as_text().size());
    return container.as_text().find(item.as_text()) != std::string::npos;
  }
  if (container.is_dict()) return container.as_dict().find(item) != nullptr;
  if (!is_iterable(container)) {
    raise("TypeError", "argument of type '" + container.type_name() + "' is not iterable");
  }
  Iteration items(container, budget);
  while (std::optional<Value> v = items.next()) {
    if (equal(*v, item, budget)) return true;
  }
  return false;
}

}  // namespace isobit::jinja
