// Going through a value, as Python's iter() and next() do: one item at a time, so that what a
// generator does for items nobody asks for is never done.
#pragma once

#include <optional>
#include <vector>

#include "text/template_value.h"

namespace isobit::jinja {

// Characters of text, items of a sequence, keys of a dict; uses a generator up.
class Iteration {
 public:
  // Throws TypeError when `v` is not iterable.
  Iteration(Value v, Budget& budget);
  std::optional<Value> next();

 private:
  Value v_;
  Budget* budget_;
  size_t at_ = 0;
};

bool is_iterable(const Value& v);
// Everything that is left. Throws TypeError when not iterable.
std::vector<Value> iterate(const Value& v, Budget& budget);

// A generator whose items a function makes: `make_next` gives the next one, nothing at the end.
// `source_depth` is that of the deepest value that the function holds.
template <typename MakeNext>
Value generated(int source_depth, MakeNext make_next, std::string type_name = "generator") {
  class Made : public Generator {
   public:
    explicit Made(MakeNext make_next) : make_next_(std::move(make_next)) {}
    std::optional<Value> next() override {
      if (ended_) return std::nullopt;
      ended_ = true;  // also when it throws: Python's generators end then
      std::optional<Value> item = make_next_();
      ended_ = !item.has_value();
      return item;
    }

   private:
    MakeNext make_next_;
    bool ended_ = false;
  };
  return Value::generator(std::make_shared<Made>(std::move(make_next)), source_depth,
                          std::move(type_name));
}

}  // namespace isobit::jinja
