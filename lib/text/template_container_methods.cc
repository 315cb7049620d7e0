// The methods of dict, list, tuple and range. Those that change their object never get here: the
// sandbox hides them.
#include <algorithm>

#include "text/template_arguments.h"
#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

Value items(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("items", arguments, {}, 0);
  in.budget().spend(self.as_dict().size());
  std::vector<Value> out;
  for (const auto& [key, value] : self.as_dict().entries())
    out.push_back(Value::tuple({key, value}));
  return Value::sequence(SequenceType::dict_items, std::move(out));
}

Value keys(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("keys", arguments, {}, 0);
  in.budget().spend(self.as_dict().size());
  std::vector<Value> out;
  for (const auto& entry : self.as_dict().entries()) out.push_back(entry.first);
  return Value::sequence(SequenceType::dict_keys, std::move(out));
}

Value values(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("values", arguments, {}, 0);
  in.budget().spend(self.as_dict().size());
  std::vector<Value> out;
  for (const auto& entry : self.as_dict().entries()) out.push_back(entry.second);
  return Value::sequence(SequenceType::dict_values, std::move(out));
}

Value get(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("get", arguments, {"", ""}, 1);
  const Value* found = self.as_dict().find(bound[0]);
  return found != nullptr ? *found : bound.value_or(1, {});
}

// Values never change, so a copy is the value itself.
Value copy(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("copy", arguments, {}, 0);
  return self;
}

Value index(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("index", arguments, {"", "", ""}, 1);
  const auto& all = self.items_of().items;
  const auto n = static_cast<int64_t>(all.size());
  const auto clamp = [&](int64_t i) {
    return i < 0 ? std::max<int64_t>(i < -n ? 0 : i + n, 0) : std::min(i, n);
  };
  const int64_t end = clamp(bound.integer_or(2, n));
  for (int64_t i = clamp(bound.integer_or(1, 0)); i < end; ++i) {
    if (equal(all[static_cast<size_t>(i)], bound[0], in.budget())) return Value::integer(i);
  }
  raise("ValueError", repr(bound[0], in.budget()) + " is not in " + self.type_name());
}

Value count(Interpreter& in, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("count", arguments, {""}, 1);
  const auto& all = self.items_of().items;
  return Value::integer(std::count_if(
      all.begin(), all.end(), [&](const Value& v) { return equal(v, bound[0], in.budget()); }));
}

constexpr Method kOfDict[] = {{"items", items}, {"keys", keys}, {"values", values},
                              {"get", get},     {"copy", copy}, {"fromkeys", nullptr}};
constexpr Method kOfList[] = {{"index", index}, {"count", count}, {"copy", copy}};
constexpr Method kOfTuple[] = {{"index", index}, {"count", count}};

template <size_t n>
const Method* named(const Method (&methods)[n], const std::string& name) {
  const auto* at = std::find_if(std::begin(methods), std::end(methods),
                                [&](const Method& m) { return m.name == name; });
  return at == std::end(methods) ? nullptr : at;
}

}  // namespace

const Method* find_container_method(const Value& v, const std::string& name) {
  if (v.is_dict()) return named(kOfDict, name);
  if (v.is_sequence(SequenceType::list)) return named(kOfList, name);
  if (v.is_sequence(SequenceType::tuple) || v.is_sequence(SequenceType::range))
    return named(kOfTuple, name);
  return nullptr;
}

}  // namespace isobit::jinja
