// Filters whose result is a generator: they do for an item what they do only when it is asked for.
#include <algorithm>
#include <set>

#include "text/template_attribute_path.h"
#include "text/template_filters.h"
#include "text/template_iteration.h"
#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

Value unique(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("unique", arguments, {"case_sensitive", "attribute"}, 0);
  const AttributePath path(in, bound.value_or(1, {}), !bound.flag(0, false));
  std::optional<Iteration> items;
  return generated(v.depth(), [=, &in, seen = std::set<std::string>()]() mutable {
    if (!items) items.emplace(v, in.budget());
    std::optional<Value> item = items->next();
    while (item && !seen.insert(key_identity(path.of(*item))).second) item = items->next();
    return item;
  });
}

Value items(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("items", arguments, {}, 0);
  return generated(v.depth(), [=, &in, at = size_t{0}]() mutable -> std::optional<Value> {
    if (v.is_undefined()) return std::nullopt;
    if (!v.is_dict()) raise("TypeError", "Can only get item pairs from a mapping.");
    in.budget().spend(1);
    const auto& entries = v.as_dict().entries();
    if (at == entries.size()) return std::nullopt;
    const auto& [key, value] = entries[at++];
    return Value::tuple({key, value});
  });
}

Value batch(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("batch", arguments, {"linecount", "fill_with"}, 1);
  const Value size = bound[0];
  const Value fill = bound.value_or(1, {});
  std::optional<Iteration> items;
  std::vector<Value> line;
  return generated(v.depth() + 1, [=, &in]() mutable -> std::optional<Value> {
    if (!items) items.emplace(v, in.budget());
    const auto is_full = [&] {
      return equal(Value::integer(static_cast<int64_t>(line.size())), size, in.budget());
    };
    while (std::optional<Value> item = items->next()) {
      std::optional<Value> full;
      if (is_full()) full = Value::list(std::exchange(line, {}));
      line.push_back(std::move(*item));
      if (full) return full;
    }
    if (line.empty()) return std::nullopt;
    if (!fill.is_none() &&
        less(Value::integer(static_cast<int64_t>(line.size())), size, in.budget())) {
      if (!size.is_integral())
        raise("TypeError", "can't multiply sequence by non-int of type '" + size.type_name() + "'");
      in.budget().spend(static_cast<size_t>(size.as_integer()));
      line.resize(static_cast<size_t>(size.as_integer()), fill);
    }
    return Value::list(std::exchange(line, {}));
  });
}

// The part number `i` of `all` cut into `n_slices`; the first ones are longer by one.
Value nth_slice(const std::vector<Value>& all, int64_t i, int64_t n_slices, const Value& fill) {
  const auto n = static_cast<int64_t>(all.size());
  const int64_t n_longer = n % n_slices;
  const int64_t begin = i * (n / n_slices) + std::min(i, n_longer);
  const int64_t end = begin + n / n_slices + (i < n_longer ? 1 : 0);
  std::vector<Value> part(all.begin() + begin, all.begin() + end);
  if (i >= n_longer && !fill.is_none()) part.push_back(fill);
  return Value::list(std::move(part));
}

Value slice(Interpreter& in, const Value& v, const Arguments& arguments) {
  const BoundArguments bound("slice", arguments, {"slices", "fill_with"}, 1);
  const Value count = bound[0];
  const Value fill = bound.value_or(1, {});
  std::optional<std::vector<Value>> all;
  return generated(v.depth() + 1, [=, &in, i = int64_t{0}]() mutable -> std::optional<Value> {
    in.budget().spend(1);
    if (!all) {
      all = iterate(v, in.budget());
      arithmetic(Operator::floor_divide, Value::integer(1), count, in.budget());
      if (!count.is_integral()) {
        raise("TypeError",
              "'" + count.type_name() + "' object cannot be interpreted as an integer");
      }
    }
    if (i >= count.as_integer()) return std::nullopt;
    return nth_slice(*all, i++, count.as_integer(), fill);
  });
}

// The rest of an argument list, after the first `n`.
Arguments without_first(const Arguments& arguments, size_t n) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<long>(n),
                         arguments.positional.end());
  rest.named = arguments.named;
  return rest;
}

std::string not_named(const char* kind, const Value& name, Budget& budget) {
  std::string message = std::string("No ") + kind + " named " + repr(name, budget) + ".";
  if (name.is_undefined())
    message += " (" + name.as_undefined().message + "; did you forget to quote the callable name?)";
  return message;
}

// What map(...) does to an item.
class Mapping {
 public:
  Mapping(Interpreter& in, Arguments arguments) : in_(in), arguments_(std::move(arguments)) {}

  // REQUIRES: prepared.
  Value operator()(const Value& item) {
    return path_ ? path_->of(item) : in_.apply_filter(filter_, item, rest_);
  }

  void prepare() {
    if (arguments_.positional.empty()) {
      const bool by_attribute = std::any_of(arguments_.named.begin(), arguments_.named.end(),
                                            [](const auto& a) { return a.first == "attribute"; });
      if (!by_attribute) raise("FilterArgumentError", "map requires a filter argument");
      for (const auto& [name, value] : arguments_.named) {
        if (name != "attribute" && name != "default")
          raise("FilterArgumentError", "Unexpected keyword argument " + string_repr(name));
      }
      const BoundArguments bound("map", arguments_, {"", "attribute", "default"}, 0);
      path_.emplace(in_, bound[1], false, bound.value_or(2, {}));
      return;
    }
    const Value& name = arguments_.positional[0];
    if (!name.is_text()) raise("TemplateRuntimeError", not_named("filter", name, in_.budget()));
    filter_ = name.as_text();
    rest_ = without_first(arguments_, 1);
  }

 private:
  Interpreter& in_;
  Arguments arguments_;
  std::optional<AttributePath> path_;
  std::string filter_;
  Arguments rest_;
};

int depth_of(const Value& v, const Arguments& arguments) {
  int depth = v.depth();
  for (const Value& a : arguments.positional) depth = std::max(depth, a.depth());
  for (const auto& a : arguments.named) depth = std::max(depth, a.second.depth());
  return depth;
}

Value map(Interpreter& in, const Value& v, const Arguments& arguments) {
  std::optional<Iteration> items;
  return generated(depth_of(v, arguments),
                   [=, &in, mapping = Mapping(in, arguments)]() mutable -> std::optional<Value> {
                     if (!items) {
                       if (!truth(v)) return std::nullopt;
                       mapping.prepare();
                       items.emplace(v, in.budget());
                     }
                     const std::optional<Value> item = items->next();
                     return item ? std::optional(mapping(*item)) : std::nullopt;
                   });
}

// Whether select(...) and its relatives take an item.
class Selection {
 public:
  Selection(Interpreter& in, Arguments arguments, bool by_attribute)
      : in_(in), arguments_(std::move(arguments)), by_attribute_(by_attribute) {}

  // REQUIRES: prepared.
  bool takes(const Value& item) const {
    const Value tested = path_->of(item);
    return test_ ? in_.apply_test(*test_, tested, rest_) : truth(tested);
  }

  void prepare() {
    size_t n_used = 0;
    Value attribute;
    if (by_attribute_) {
      if (arguments_.positional.empty())
        raise("FilterArgumentError", "Missing parameter for attribute name");
      attribute = arguments_.positional[n_used++];
    }
    path_.emplace(in_, attribute);
    if (n_used == arguments_.positional.size()) return;
    const Value& name = arguments_.positional[n_used++];
    if (!name.is_text()) raise("TemplateRuntimeError", not_named("test", name, in_.budget()));
    test_ = name.as_text();
    rest_ = without_first(arguments_, n_used);
  }

 private:
  Interpreter& in_;
  Arguments arguments_;
  bool by_attribute_;
  std::optional<AttributePath> path_;
  std::optional<std::string> test_;
  Arguments rest_;
};

template <bool by_attribute, bool keep>
Value select(Interpreter& in, const Value& v, const Arguments& arguments) {
  std::optional<Iteration> items;
  return generated(
      depth_of(v, arguments),
      [=, &in,
       selection = Selection(in, arguments, by_attribute)]() mutable -> std::optional<Value> {
        if (!items) {
          if (!truth(v)) return std::nullopt;
          selection.prepare();
          items.emplace(v, in.budget());
        }
        std::optional<Value> item = items->next();
        while (item && selection.takes(*item) != keep) item = items->next();
        return item;
      });
}

constexpr Filter kFilters[] = {
    {"batch", batch},
    {"items", items},
    {"map", map},
    {"reject", select<false, false>},
    {"rejectattr", select<true, false>},
    {"select", select<false, true>},
    {"selectattr", select<true, true>},
    {"slice", slice},
    {"unique", unique},
};

}  // namespace

const Filter* find_lazy_filter(const std::string& name) {
  const auto* at = std::find_if(std::begin(kFilters), std::end(kFilters),
                                [&](const Filter& f) { return f.name == name; });
  return at == std::end(kFilters) ? nullptr : at;
}

}  // namespace isobit::jinja
