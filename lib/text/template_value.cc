#include "text/template_value.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace isobit::jinja {
namespace {

int checked_depth(int depth) {
  if (depth > kMaxValueDepth) raise("RecursionError", "values nest deeper than the limit allows");
  return depth;
}

std::string text_identity(std::string_view text) {
  std::string out = 's' + std::to_string(text.size()) + ':';
  return out.append(text);
}

void append_identity(std::string& out, const Value& key) {
  switch (key.kind()) {
    case Kind::none:
      out += 'n';
      return;
    case Kind::boolean:
    case Kind::integer:
      out += 'i' + std::to_string(key.as_integer());
      return;
    case Kind::real: {
      const double d = key.as_real();
      if (d == std::floor(d) && std::fabs(d) < 9e18) {
        out += 'i' + std::to_string(static_cast<int64_t>(d));
      } else {
        out += 'f' + std::to_string(std::bit_cast<uint64_t>(d));
      }
      return;
    }
    case Kind::text:
      out += text_identity(key.as_text());
      return;
    case Kind::object:
      out += 'o' + std::to_string(reinterpret_cast<uintptr_t>(&key.as_object()));
      return;
    case Kind::undefined:
      out += 'u';
      return;
    case Kind::sequence:
      if (!key.is_sequence(SequenceType::list) && !key.is_sequence(SequenceType::dict_keys) &&
          !key.is_sequence(SequenceType::dict_items)) {
        out += 't' + std::to_string(key.items_of().items.size()) + ':';
        for (const Value& item : key.items_of().items) append_identity(out, item);
        return;
      }
      [[fallthrough]];
    case Kind::dict:
      raise("TypeError", "unhashable type: '" + key.type_name() + "'");
  }
}

}  // namespace

Value Object::call(Interpreter&, Arguments&) {
  raise("TypeError", "'" + type_name() + "' object is not callable");
}

std::optional<Value> Object::attribute(Interpreter&, const std::string&) {
  return std::nullopt;
}

std::string Object::repr(Budget&) const {
  raise(kNotSupported,
        "printing a '" + type_name() + "' object, whose text holds a memory address");
}

Value Value::text(std::string bytes, bool markup) {
  return Value(Rep(std::make_shared<const Text>(Text{std::move(bytes), markup})));
}

Value Value::sequence(SequenceType type, std::vector<Value> items, std::string label) {
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, item.depth());
  auto made = std::make_shared<Sequence>();
  made->type = type;
  made->items = std::move(items);
  made->label = std::move(label);
  made->depth = checked_depth(depth + 1);
  return Value(Rep(std::shared_ptr<const Sequence>(std::move(made))));
}

Value Value::generator(std::shared_ptr<Generator> generator, int source_depth,
                       std::string type_name) {
  auto made = std::make_shared<Sequence>();
  made->type = SequenceType::generator;
  made->generator = std::move(generator);
  made->label = std::move(type_name);
  made->depth = checked_depth(source_depth + 1);
  return Value(Rep(std::shared_ptr<const Sequence>(std::move(made))));
}

Value Value::dict(Dict entries) {
  return Value(Rep(std::make_shared<const Dict>(std::move(entries))));
}

Value Value::undefined(std::string message, const char* error) {
  return Value(Rep(std::make_shared<const Undefined>(Undefined{std::move(message), error})));
}

int64_t Value::as_integer() const {
  return kind() == Kind::boolean ? int64_t{as_boolean()} : std::get<int64_t>(rep_);
}

double Value::as_real() const {
  return is_real() ? std::get<double>(rep_) : static_cast<double>(as_integer());
}

std::string Value::type_name() const {
  switch (kind()) {
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::text:
      return is_markup() ? "Markup" : "str";
    case Kind::dict:
      return "dict";
    case Kind::object:
      return as_object().type_name();
    case Kind::undefined:
      return "Undefined";
    case Kind::sequence:
      break;
  }
  switch (items_of().type) {
    case SequenceType::list:
      return "list";
    case SequenceType::tuple:
      return "tuple";
    case SequenceType::range:
      return "range";
    case SequenceType::dict_keys:
      return "dict_keys";
    case SequenceType::dict_values:
      return "dict_values";
    case SequenceType::dict_items:
      return "dict_items";
    case SequenceType::generator:
      break;
  }
  return items_of().label;
}

int Value::depth() const {
  switch (kind()) {
    case Kind::sequence:
      return items_of().depth;
    case Kind::dict:
      return as_dict().depth();
    case Kind::object:
      return as_object().depth();
    default:
      return 0;
  }
}

bool Value::same_object(const Value& other) const {
  if (kind() != other.kind()) return false;
  switch (kind()) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return as_boolean() == other.as_boolean();
    case Kind::integer:
      return as_integer() == other.as_integer();
    case Kind::real:
      return as_real() == other.as_real();
    case Kind::text:
      return as_text() == other.as_text();
    case Kind::sequence:
      return &items_of() == &other.items_of();
    case Kind::dict:
      return &as_dict() == &other.as_dict();
    case Kind::object:
      return &as_object() == &other.as_object();
    case Kind::undefined:
      return &as_undefined() == &other.as_undefined();
  }
  return false;
}

void Value::raise_undefined() const {
  raise(as_undefined().error, as_undefined().message);
}

std::string key_identity(const Value& key) {
  std::string out;
  append_identity(out, key);
  return out;
}

const Dict::Entry* Dict::at_identity(const std::string& identity) const {
  const auto at = index_.find(identity);
  return at == index_.end() ? nullptr : &entries_[at->second];
}

const Dict::Entry* Dict::locate(std::string_view name) const {
  if (!index_.empty()) return at_identity(text_identity(name));
  for (const Entry& entry : entries_) {
    if (entry.first.is_text() && entry.first.as_text() == name) return &entry;
  }
  return nullptr;
}

const Dict::Entry* Dict::locate(const Value& key) const {
  if (key.is_text()) return locate(std::string_view(key.as_text()));
  const std::string identity = key_identity(key);
  if (!index_.empty()) return at_identity(identity);
  for (const Entry& entry : entries_) {
    if (!entry.first.is_text() && key_identity(entry.first) == identity) return &entry;
  }
  return nullptr;
}

void Dict::set(const Value& key, Value value) {
  depth_ = checked_depth(std::max({depth_, key.depth() + 1, value.depth() + 1}));
  if (const Entry* known = locate(key)) {
    entries_[static_cast<size_t>(known - entries_.data())].second = std::move(value);
    return;
  }
  entries_.emplace_back(key, std::move(value));
  if (entries_.size() < kIndexedFrom) return;
  for (size_t i = index_.size(); i < entries_.size(); ++i)
    index_.emplace(key_identity(entries_[i].first), i);
}

const Value* Dict::find(const Value& key) const {
  const Entry* found = locate(key);
  return found != nullptr ? &found->second : nullptr;
}

const Value* Dict::find(std::string_view name) const {
  const Entry* found = locate(name);
  return found != nullptr ? &found->second : nullptr;
}

}  // namespace isobit::jinja
