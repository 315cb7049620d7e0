#include "text/template_iteration.h"

#include "text/template_unicode.h"

namespace isobit::jinja {

bool is_iterable(const Value& v) {
  return v.is_text() || v.is_sequence() || v.is_dict() || v.is_undefined() ||
         (v.kind() == Kind::object && v.as_object().iterable());
}

Iteration::Iteration(Value v, Budget& budget) : v_(std::move(v)), budget_(&budget) {
  if (!is_iterable(v_)) raise("TypeError", "'" + v_.type_name() + "' object is not iterable");
}

std::optional<Value> Iteration::next() {
  budget_->spend(1);
  if (v_.is_text()) {
    const std::string& text = v_.as_text();
    if (at_ >= text.size()) return std::nullopt;
    size_t n = 0;
    code_point_at(text, at_, n);
    at_ += n;
    return Value::text(text.substr(at_ - n, n));
  }
  if (v_.is_dict()) {
    const auto& entries = v_.as_dict().entries();
    return at_ < entries.size() ? std::optional(entries[at_++].first) : std::nullopt;
  }
  if (v_.is_undefined()) return std::nullopt;
  const Sequence& items = v_.items_of();
  if (items.generator) return items.generator->next();
  return at_ < items.items.size() ? std::optional(items.items[at_++]) : std::nullopt;
}

std::vector<Value> iterate(const Value& v, Budget& budget) {
  if (v.is_sequence() && !v.items_of().generator) {
    budget.spend(v.items_of().items.size());
    return v.items_of().items;
  }
  std::vector<Value> out;
  Iteration items(v, budget);
  while (std::optional<Value> item = items.next()) out.push_back(std::move(*item));
  return out;
}

}  // namespace isobit::jinja
