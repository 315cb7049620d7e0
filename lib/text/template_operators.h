// Python's operators on values: truth, equality, order, arithmetic, membership, str() and repr().
#pragma once

#include <string>
#include <vector>

#include "text/template_iteration.h"
#include "text/template_value.h"

namespace isobit::jinja {

enum class Operator {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

bool truth(const Value& v);
bool equal(const Value& a, const Value& b, Budget& budget);
// a < b. Throws TypeError, naming `sign`, when Python has no order between the two.
bool less(const Value& a, const Value& b, Budget& budget, const char* sign = "<");
bool compare(Operator op, const Value& a, const Value& b, Budget& budget);
bool contains(const Value& container, const Value& item, Budget& budget);
Value arithmetic(Operator op, const Value& a, const Value& b, Budget& budget);
Value negated(const Value& v);
Value unary_plus(const Value& v);

// len(); throws TypeError when there is none.
int64_t length_of(const Value& v);

std::string float_repr(double d);
std::string repr(const Value& v, Budget& budget);
std::string str(const Value& v, Budget& budget);
std::string string_repr(std::string_view text);
// markupsafe.escape
std::string escape_html(std::string_view text);

struct JsonStyle {
  bool ensure_ascii = false;
  std::optional<std::string> indent;  // the text of one level
  std::optional<std::string> item_separator;
  std::string key_separator = ": ";
  bool sort_keys = false;
};
// json.dumps
std::string to_json(const Value& v, const JsonStyle& style, Budget& budget);

// `left % right` on text, and str.format; template_format.cc.
Value printf_format(const Value& format, const Value& right, Budget& budget);

}  // namespace isobit::jinja
