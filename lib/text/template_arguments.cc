#include "text/template_arguments.h"

#include "text/template_operators.h"

namespace isobit::jinja {

BoundArguments::BoundArguments(std::string callee, const Arguments& arguments,
                               std::initializer_list<const char*> names, size_t n_required)
    : callee_(std::move(callee)), values_(names.size(), nullptr) {
  const std::vector<std::string> known(names.begin(), names.end());
  if (arguments.positional.size() > known.size()) {
    raise("TypeError", callee_ + "() takes at most " + std::to_string(known.size()) +
                           " arguments (" + std::to_string(arguments.positional.size()) +
                           " given)");
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    size_t i = 0;
    while (i < known.size() && (known[i].empty() || known[i] != name)) ++i;
    if (i == known.size())
      raise("TypeError", callee_ + "() got an unexpected keyword argument '" + name + "'");
    if (values_[i] != nullptr)
      raise("TypeError", callee_ + "() got multiple values for argument '" + name + "'");
    values_[i] = &value;
  }
  for (size_t i = 0; i < n_required; ++i) {
    if (values_[i] == nullptr) {
      raise("TypeError", callee_ + "() is missing argument " + std::to_string(i + 1) +
                             (known[i].empty() ? std::string() : " ('" + known[i] + "')"));
    }
  }
}

int64_t BoundArguments::integer(size_t i) const {
  const Value& v = *values_[i];
  if (!v.is_integral())
    raise("TypeError", "'" + v.type_name() + "' object cannot be interpreted as an integer");
  return v.as_integer();
}

const std::string& BoundArguments::text(size_t i) const {
  const Value& v = *values_[i];
  if (!v.is_text()) {
    raise("TypeError",
          callee_ + "() argument " + std::to_string(i + 1) + " must be str, not " + v.type_name());
  }
  return v.as_text();
}

bool BoundArguments::flag(size_t i, bool fallback) const {
  return given(i) ? truth(*values_[i]) : fallback;
}

}  // namespace isobit::jinja
