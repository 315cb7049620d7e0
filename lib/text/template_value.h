// Values with Python's meaning: None, bool, int (64 bits), float, str, list, tuple, dict, the lazy
// views and iterators that print differently, Undefined, and callable objects.
//
// Values are immutable, as the immutable sandbox requires; only namespaces, loops, cyclers and
// joiners change, and those are owned by the interpreter, so values never form a cycle. Containers
// know how deep they nest: building one past kMaxValueDepth is refused, which bounds every
// recursion over values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "text/template_fault.h"

namespace isobit::jinja {

class Interpreter;
class Value;
class Dict;

inline constexpr int kMaxValueDepth = 400;

enum class Kind { none, boolean, integer, real, text, sequence, dict, object, undefined };

struct Text {
  std::string bytes;  // UTF-8
  bool markup =
      false;  // markupsafe.Markup: what |safe and |escape return; it escapes what is joined to it
};

enum class SequenceType { list, tuple, range, dict_keys, dict_values, dict_items, generator };

inline constexpr const char* kGroupLabel =
    "group";  // a pair with the attributes `grouper` and `list`

// What makes a generator's items, one by one; it yields each once.
class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::optional<Value> next() = 0;  // nothing at the end
};

struct Sequence {
  SequenceType type = SequenceType::list;
  std::vector<Value> items;                        // of all but generators
  std::shared_ptr<Generator> generator = nullptr;  // of a generator
  std::string
      label;  // a range's repr, a generator's Python type name, kGroupLabel for groupby's pairs
  int depth = 1;
};

struct Undefined {
  std::string message;
  const char* error = "UndefinedError";  // SecurityError for an attribute that the sandbox hides
};

// Positional and named arguments of a call, in order.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// Something with attributes or a call: functions, bound methods, macros, namespaces, loops.
class Object {
 public:
  virtual ~Object() = default;
  virtual std::string type_name() const = 0;
  virtual std::string module_name() const { return {}; }  // "" for a builtin
  virtual bool callable() const { return false; }
  virtual bool iterable() const { return false; }
  virtual Value call(Interpreter& interpreter, Arguments& arguments);
  virtual std::optional<Value> attribute(Interpreter& interpreter, const std::string& name);
  // What printing it gives; throws kNotSupported where Python prints a memory address.
  virtual std::string repr(Budget& budget) const;
  virtual int depth() const { return 0; }
};

class Value {
 public:
  Value() = default;  // None
  static Value boolean(bool b) { return Value(Rep(b)); }
  static Value integer(int64_t i) { return Value(Rep(i)); }
  static Value real(double d) { return Value(Rep(d)); }
  static Value text(std::string bytes, bool markup = false);
  static Value list(std::vector<Value> items) {
    return sequence(SequenceType::list, std::move(items));
  }
  static Value tuple(std::vector<Value> items) {
    return sequence(SequenceType::tuple, std::move(items));
  }
  static Value generator(std::shared_ptr<Generator> generator, int source_depth,
                         std::string type_name = "generator");
  static Value sequence(SequenceType type, std::vector<Value> items, std::string label = {});
  static Value dict(Dict entries);
  static Value object(std::shared_ptr<Object> object) { return Value(Rep(std::move(object))); }
  static Value borrowed(Object& object) {
    return Value(Rep(std::shared_ptr<Object>(std::shared_ptr<Object>(), &object)));
  }
  static Value undefined(std::string message, const char* error = "UndefinedError");

  Kind kind() const { return static_cast<Kind>(rep_.index()); }
  bool is_none() const { return kind() == Kind::none; }
  bool is_undefined() const { return kind() == Kind::undefined; }
  bool is_text() const { return kind() == Kind::text; }
  bool is_dict() const { return kind() == Kind::dict; }
  bool is_real() const { return kind() == Kind::real; }
  bool is_sequence() const { return kind() == Kind::sequence; }
  bool is_sequence(SequenceType type) const { return is_sequence() && items_of().type == type; }
  bool is_integral() const { return kind() == Kind::integer || kind() == Kind::boolean; }
  bool is_number() const { return is_integral() || is_real(); }

  // REQUIRES: the kind that each names.
  bool as_boolean() const { return std::get<bool>(rep_); }
  int64_t as_integer() const;  // also of a bool
  double as_real() const;      // of any number
  const std::string& as_text() const { return std::get<std::shared_ptr<const Text>>(rep_)->bytes; }
  bool is_markup() const {
    return is_text() && std::get<std::shared_ptr<const Text>>(rep_)->markup;
  }
  const Sequence& items_of() const { return *std::get<std::shared_ptr<const Sequence>>(rep_); }
  const Dict& as_dict() const { return *std::get<std::shared_ptr<const Dict>>(rep_); }
  Object& as_object() const { return *std::get<std::shared_ptr<Object>>(rep_); }
  const Undefined& as_undefined() const {
    return *std::get<std::shared_ptr<const Undefined>>(rep_);
  }

  std::string type_name() const;               // Python's
  int depth() const;                           // 0 for scalars
  bool same_object(const Value& other) const;  // Python's `is`

  [[noreturn]] void raise_undefined() const;

 private:
  using Rep = std::variant<std::monostate, bool, int64_t, double, std::shared_ptr<const Text>,
                           std::shared_ptr<const Sequence>, std::shared_ptr<const Dict>,
                           std::shared_ptr<Object>, std::shared_ptr<const Undefined>>;
  explicit Value(Rep rep) : rep_(std::move(rep)) {}
  Rep rep_;
};

// Insertion order, and Python's key equality: 1, 1.0 and True are one key.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  // These throw TypeError for an unhashable key.
  void set(const Value& key, Value value);
  void set(const std::string& key, Value value) { set(Value::text(key), std::move(value)); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view name) const;
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }

 private:
  static constexpr size_t kIndexedFrom = 9;  // fewer entries are looked through
  const Entry* locate(const Value& key) const;
  const Entry* locate(std::string_view name) const;
  const Entry* at_identity(const std::string& identity) const;

  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;  // identity string of the key -> entry
  int depth_ = 1;
};

// A string that is the same for two values exactly when Python's dict would take them for one key.
std::string key_identity(const Value& key);

}  // namespace isobit::jinja
