// Binds the arguments of a call to parameter names, as Python does, with Python's kinds of
// complaint.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "text/template_value.h"

namespace isobit::jinja {

class BoundArguments {
 public:
  // A parameter whose name is "" can only be given by position. Throws TypeError for missing,
  // surplus, unknown or doubled arguments.
  BoundArguments(std::string callee, const Arguments& arguments,
                 std::initializer_list<const char*> names, size_t n_required);

  bool given(size_t i) const { return values_[i] != nullptr; }
  bool given_and_not_none(size_t i) const { return given(i) && !values_[i]->is_none(); }
  // REQUIRES: given(i).
  const Value& operator[](size_t i) const { return *values_[i]; }
  Value value_or(size_t i, Value fallback) const {
    return given(i) ? *values_[i] : std::move(fallback);
  }
  // Throw TypeError when the argument is of another type.
  int64_t integer(size_t i) const;
  int64_t integer_or(size_t i, int64_t fallback) const { return given(i) ? integer(i) : fallback; }
  const std::string& text(size_t i) const;
  bool flag(size_t i, bool fallback) const;

 private:
  std::string callee_;
  std::vector<const Value*> values_;
};

}  // namespace isobit::jinja
