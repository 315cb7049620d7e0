// value.name, value[key] and value[a:b:c] for the built-in types, as the immutable sandbox answers
// them: an attribute that would change a list or a dict, or that begins with an underscore, is an
// Undefined that raises SecurityError.
#include <algorithm>
#include <array>

#include "text/template_objects.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// How jinja2 names an object in "... has no attribute".
std::string object_name(const Value& v) {
  if (v.is_none()) return "None";
  std::string module;
  if (v.kind() == Kind::object) module = v.as_object().module_name();
  if (v.is_markup()) module = "markupsafe";
  return (module.empty() ? "" : module + ".") + v.type_name() + " object";
}

Value no_attribute(const Value& v, const std::string& name) {
  return Value::undefined(string_repr(object_name(v)) + " has no attribute " + string_repr(name));
}

Value unsafe(const Value& v, const std::string& name) {
  return Value::undefined("access to attribute " + string_repr(name) + " of " +
                              string_repr(v.type_name()) + " object is unsafe.",
                          "SecurityError");
}

bool is_mutator(const Value& v, const std::string& name) {
  static constexpr std::array<std::string_view, 8> kOfLists = {
      "append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"};
  static constexpr std::array<std::string_view, 5> kOfDicts = {"clear", "pop", "popitem",
                                                               "setdefault", "update"};
  if (v.is_dict()) return std::find(kOfDicts.begin(), kOfDicts.end(), name) != kOfDicts.end();
  return v.is_sequence(SequenceType::list) &&
         std::find(kOfLists.begin(), kOfLists.end(), name) != kOfLists.end();
}

bool is_dunder(const std::string& name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

// What every Undefined has; any other such name reaches its complaint.
bool is_dunder_of_undefined(const std::string& name) {
  static constexpr std::string_view kNames[] = {"add",
                                                "aiter",
                                                "bool",
                                                "call",
                                                "class",
                                                "complex",
                                                "delattr",
                                                "dir",
                                                "div",
                                                "doc",
                                                "eq",
                                                "float",
                                                "floordiv",
                                                "format",
                                                "ge",
                                                "getattr",
                                                "getattribute",
                                                "getitem",
                                                "getstate",
                                                "gt",
                                                "hash",
                                                "init",
                                                "init_subclass",
                                                "int",
                                                "iter",
                                                "le",
                                                "len",
                                                "lt",
                                                "mod",
                                                "module",
                                                "mul",
                                                "ne",
                                                "neg",
                                                "new",
                                                "pos",
                                                "pow",
                                                "radd",
                                                "rdiv",
                                                "reduce",
                                                "reduce_ex",
                                                "repr",
                                                "rfloordiv",
                                                "rmod",
                                                "rmul",
                                                "rpow",
                                                "rsub",
                                                "rtruediv",
                                                "setattr",
                                                "sizeof",
                                                "slots",
                                                "str",
                                                "sub",
                                                "subclasshook",
                                                "truediv"};
  const std::string_view inner = std::string_view(name).substr(2, name.size() - 4);
  return std::find(std::begin(kNames), std::end(kNames), inner) != std::end(kNames);
}

// Python's getattr(): nullopt when there is no such attribute.
std::optional<Value> python_attribute(Interpreter& interpreter, const Value& v,
                                      const std::string& name) {
  if (v.is_undefined() && !(is_dunder(name) && is_dunder_of_undefined(name))) v.raise_undefined();
  if (is_dunder(name) || is_mutator(v, name)) return unsafe(v, name);
  if (v.kind() == Kind::object) {
    std::optional<Value> found = v.as_object().attribute(interpreter, name);
    if (!found) refuse_missing_attribute(v, name);
    return found;
  }
  if (v.is_sequence(SequenceType::tuple) && v.items_of().label == kGroupLabel) {
    if (name == "grouper") return v.items_of().items[0];
    if (name == "list") return v.items_of().items[1];
  }
  if (v.is_number()) {
    if (std::optional<Value> found = number_attribute(v, name)) return found;
  }
  const Method* method = v.is_text()     ? find_text_method(name)
                         : v.is_number() ? find_number_method(v, name)
                                         : find_container_method(v, name);
  if (method == nullptr) {
    refuse_missing_attribute(v, name);
    return std::nullopt;
  }
  return Value::object(std::make_shared<BoundMethod>(v, *method));
}

// Python's obj[key]: nullopt for LookupError and TypeError.
std::optional<Value> python_item(const Value& v, const Value& key) {
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_dict()) {
    if (key.is_sequence(SequenceType::list) || key.is_dict()) return std::nullopt;
    const Value* found = v.as_dict().find(key);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }
  if (!key.is_integral()) return std::nullopt;
  int64_t index = key.as_integer();
  if (v.is_text()) {
    const std::string& text = v.as_text();
    const auto n = static_cast<int64_t>(count_code_points(text));
    if (index < 0) index += n;
    if (index < 0 || index >= n) return std::nullopt;
    const size_t at = byte_offset_of(text, static_cast<size_t>(index));
    return Value::text(text.substr(at, byte_offset_of(std::string_view(text).substr(at), 1)),
                       v.is_markup());
  }
  const bool indexable = v.is_sequence(SequenceType::list) || v.is_sequence(SequenceType::tuple) ||
                         v.is_sequence(SequenceType::range);
  if (!indexable) return std::nullopt;
  const auto& items = v.items_of().items;
  const auto n = static_cast<int64_t>(items.size());
  if (index < 0) index += n;
  if (index < 0 || index >= n) return std::nullopt;
  return items[static_cast<size_t>(index)];
}

struct SliceRange {
  int64_t start, step;
  size_t count;
};

// Python's slice.indices().
SliceRange slice_range(const Value& start, const Value& stop, const Value& step, int64_t n) {
  const auto number = [](const Value& v) {
    if (v.is_undefined() || !v.is_integral()) {
      raise("TypeError", "slice indices must be integers or None or have an __index__ method");
    }
    return v.as_integer();
  };
  const int64_t by = step.is_none() ? 1 : number(step);
  if (by == 0) raise("ValueError", "slice step cannot be zero");
  const int64_t lowest = by > 0 ? 0 : -1;
  const int64_t highest = by > 0 ? n : n - 1;
  const auto bound = [&](const Value& v, int64_t otherwise) {
    if (v.is_none()) return otherwise;
    const int64_t i = number(v);
    return i < 0 ? std::max(i < -n ? lowest : i + n, lowest) : std::min(i, highest);
  };
  const int64_t from = bound(start, by > 0 ? lowest : highest);
  const int64_t to = bound(stop, by > 0 ? highest : lowest);
  const int64_t distance = by > 0 ? to - from : from - to;
  if (distance <= 0) return {from, by, 0};
  const uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : 0 - static_cast<uint64_t>(by);
  return {from, by, static_cast<size_t>((static_cast<uint64_t>(distance) - 1) / stride + 1)};
}

}  // namespace

Value attribute_of(Interpreter& interpreter, const Value& v, const std::string& name) {
  if (std::optional<Value> found = python_attribute(interpreter, v, name)) return *found;
  if (v.is_dict()) {
    if (const Value* found = v.as_dict().find(name)) return *found;
  }
  return no_attribute(v, name);
}

Value item_of(Interpreter& interpreter, const Value& v, const Value& key) {
  if (std::optional<Value> found = python_item(v, key)) return *found;
  if (key.is_text()) {
    if (std::optional<Value> found = python_attribute(interpreter, v, key.as_text())) return *found;
    return no_attribute(v, key.as_text());
  }
  return Value::undefined(object_name(v) + " has no element " + repr(key, interpreter.budget()));
}

Value slice_of(const Value& v, const Value& start, const Value& stop, const Value& step,
               Budget& budget) {
  if (v.is_undefined()) v.raise_undefined();
  if (v.is_dict()) raise("TypeError", "unhashable type: 'slice'");
  if (v.is_text()) {
    budget.spend(v.as_text().size() / 4 + 1);
    const std::u32string codes = to_code_points(v.as_text());
    const SliceRange range = slice_range(start, stop, step, static_cast<int64_t>(codes.size()));
    std::string out;
    for (size_t k = 0; k < range.count; ++k) {
      append_utf8(out,
                  codes[static_cast<size_t>(range.start + static_cast<int64_t>(k) * range.step)]);
    }
    return Value::text(std::move(out), v.is_markup());
  }
  const bool sliceable = v.is_sequence(SequenceType::list) || v.is_sequence(SequenceType::tuple);
  if (!sliceable) {
    if (v.is_sequence(SequenceType::range)) raise(kNotSupported, "a slice of a range");
    raise("TypeError", "'" + v.type_name() + "' object is not subscriptable");
  }
  const auto& items = v.items_of().items;
  const SliceRange range = slice_range(start, stop, step, static_cast<int64_t>(items.size()));
  budget.spend(range.count);
  std::vector<Value> out;
  for (size_t k = 0; k < range.count; ++k) {
    out.push_back(items[static_cast<size_t>(range.start + static_cast<int64_t>(k) * range.step)]);
  }
  return Value::sequence(v.items_of().type, std::move(out));
}

}  // namespace isobit::jinja
