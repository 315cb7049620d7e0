// "a.b.0" as a path of look-ups; what map(attribute=), sort(attribute=) and the others read items
// with.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_interpreter.h"
#include "text/template_unicode.h"

namespace isobit::jinja {

// Text in lower case; anything else as it is.
inline Value lowered(const Value& v) {
  return v.is_text() ? Value::text(to_lower(v.as_text())) : v;
}

class AttributePath {
 public:
  AttributePath(Interpreter& in, const Value& attribute, bool ignore_case = false,
                const Value& fallback = {})
      : in_(in), ignore_case_(ignore_case), fallback_(fallback) {
    if (attribute.is_none()) return;
    if (!attribute.is_text()) {
      parts_.push_back(attribute);
      return;
    }
    std::string_view rest = attribute.as_text();
    for (bool more = true; more;) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      const std::string part(rest.substr(0, dot));
      const bool is_number =
          !part.empty() && part.size() < 18 && part.find_first_not_of("0123456789") == part.npos;
      parts_.push_back(is_number ? Value::integer(std::stoll(part)) : Value::text(part));
      more = dot < rest.size();
      if (more) rest.remove_prefix(dot + 1);
    }
  }

  Value of(Value item) const {
    for (const Value& part : parts_) {
      item = in_.item(item, part);
      if (item.is_undefined() && !fallback_.is_none()) item = fallback_;
    }
    return ignore_case_ ? lowered(item) : item;
  }

 private:
  Interpreter& in_;
  bool ignore_case_;
  Value fallback_;
  std::vector<Value> parts_;
};

}  // namespace isobit::jinja
