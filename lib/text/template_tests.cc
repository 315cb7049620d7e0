// The tests behind "is".
#include <algorithm>

#include "text/template_arguments.h"
#include "text/template_filters.h"
#include "text/template_format.h"
#include "text/template_objects.h"
#include "text/template_parser.h"

namespace isobit::jinja {
namespace {

using TestBody = bool (*)(Interpreter&, const Value&, const Arguments&);

struct Test {
  const char* name;
  TestBody body;
};

template <bool (*holds)(const Value&)>
bool plain(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("test", arguments, {}, 0);
  return holds(v);
}

bool is_defined(const Value& v) {
  return !v.is_undefined();
}
bool is_undefined(const Value& v) {
  return v.is_undefined();
}
bool is_none(const Value& v) {
  return v.is_none();
}
bool is_boolean(const Value& v) {
  return v.kind() == Kind::boolean;
}
bool is_true(const Value& v) {
  return is_boolean(v) && v.as_boolean();
}
bool is_false(const Value& v) {
  return is_boolean(v) && !v.as_boolean();
}
bool is_integer(const Value& v) {
  return v.kind() == Kind::integer;
}
bool is_float(const Value& v) {
  return v.is_real();
}
bool is_number(const Value& v) {
  return v.is_number();
}
bool is_string(const Value& v) {
  return v.is_text();
}
bool is_mapping(const Value& v) {
  return v.is_dict();
}
bool is_escaped(const Value& v) {
  return v.is_markup();
}

// What has a length and can be subscripted. Undefined answers to both.
bool is_sequence(const Value& v) {
  return v.is_text() || v.is_dict() || v.is_undefined() || v.is_sequence(SequenceType::list) ||
         v.is_sequence(SequenceType::tuple) || v.is_sequence(SequenceType::range);
}

bool is_callable(const Value& v) {
  return v.is_undefined() || (v.kind() == Kind::object && v.as_object().callable());
}

template <bool (*holds)(std::string_view)>
bool text_test(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("test", arguments, {}, 0);
  return holds(str(v, in.budget()));
}

template <int64_t remainder>
bool parity(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("test", arguments, {}, 0);
  const Value rest = arithmetic(Operator::modulo, v, Value::integer(2), in.budget());
  return equal(rest, Value::integer(remainder), in.budget());
}

bool divisible(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("divisibleby", arguments, {"num"}, 1);
  return equal(arithmetic(Operator::modulo, v, bound[0], in.budget()), Value::integer(0),
               in.budget());
}

template <Operator op>
bool comparison(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("comparison", arguments, {""}, 1);
  return compare(op, v, bound[0], in.budget());
}

bool is_same_as(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("sameas", arguments, {"other"}, 1);
  return v.same_object(bound[0]);
}

bool is_in(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("in", arguments, {"seq"}, 1);
  return contains(bound[0], v, in.budget());
}

// A look-up in a dict of names, so what cannot be a key is an error.
template <bool (*is_name)(const std::string&)>
bool names_one(Interpreter&, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("test", arguments, {}, 0);
  key_identity(v);
  return v.is_text() && is_name(v.as_text());
}

constexpr Test kTests[] = {
    {"odd", parity<1>},
    {"even", parity<0>},
    {"divisibleby", divisible},
    {"defined", plain<is_defined>},
    {"undefined", plain<is_undefined>},
    {"filter", names_one<is_filter_name>},
    {"test", names_one<is_test_name>},
    {"none", plain<is_none>},
    {"boolean", plain<is_boolean>},
    {"false", plain<is_false>},
    {"true", plain<is_true>},
    {"integer", plain<is_integer>},
    {"float", plain<is_float>},
    {"lower", text_test<is_lower_text>},
    {"upper", text_test<is_upper_text>},
    {"string", plain<is_string>},
    {"mapping", plain<is_mapping>},
    {"number", plain<is_number>},
    {"sequence", plain<is_sequence>},
    {"iterable", plain<is_iterable>},
    {"callable", plain<is_callable>},
    {"sameas", is_same_as},
    {"escaped", plain<is_escaped>},
    {"in", is_in},
    {"==", comparison<Operator::equal>},
    {"eq", comparison<Operator::equal>},
    {"equalto", comparison<Operator::equal>},
    {"!=", comparison<Operator::not_equal>},
    {"ne", comparison<Operator::not_equal>},
    {">", comparison<Operator::greater>},
    {"gt", comparison<Operator::greater>},
    {"greaterthan", comparison<Operator::greater>},
    {"ge", comparison<Operator::greater_equal>},
    {">=", comparison<Operator::greater_equal>},
    {"<", comparison<Operator::less>},
    {"lt", comparison<Operator::less>},
    {"lessthan", comparison<Operator::less>},
    {"<=", comparison<Operator::less_equal>},
    {"le", comparison<Operator::less_equal>},
};

const Test* find_test(const std::string& name) {
  const auto* at = std::find_if(std::begin(kTests), std::end(kTests),
                                [&](const Test& t) { return t.name == name; });
  return at == std::end(kTests) ? nullptr : at;
}

}  // namespace

bool is_test_name(const std::string& name) {
  return find_test(name) != nullptr;
}

bool Interpreter::apply_test(const std::string& name, const Value& value,
                             const Arguments& arguments) {
  const Budget::Level level(budget_);
  budget_.spend(1);
  const Test* test = find_test(name);
  if (test == nullptr) raise("TemplateRuntimeError", "No test named " + string_repr(name) + ".");
  return test->body(*this, value, arguments);
}

}  // namespace isobit::jinja
