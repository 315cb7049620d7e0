// The functions that every template sees.
#include <ctime>
#include <map>

#include "text/template_arguments.h"
#include "text/template_objects.h"

namespace isobit::jinja {
namespace {

constexpr int64_t kMaxRange = 100000;  // jinja2.sandbox.MAX_RANGE

Value make_range(Interpreter& in, const Arguments& arguments) {
  const BoundArguments bound("range", arguments, {"", "", ""}, 1);
  const bool one = !bound.given(1);
  const int64_t start = one ? 0 : bound.integer(0);
  const int64_t stop = one ? bound.integer(0) : bound.integer(1);
  const int64_t step = bound.integer_or(2, 1);
  if (step == 0) raise("ValueError", "range() arg 3 must not be zero");
  const auto low = static_cast<uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<uint64_t>(step > 0 ? stop : start);
  const bool empty = step > 0 ? start >= stop : start <= stop;
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = empty ? 0 : (high - low - 1) / stride + 1;
  if (count > static_cast<uint64_t>(kMaxRange)) {
    raise("OverflowError",
          "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
  }
  in.budget().spend(count);
  std::vector<Value> items;
  for (uint64_t k = 0; k < count; ++k)
    items.push_back(Value::integer(start + static_cast<int64_t>(k) * step));
  std::string label = "range(" + std::to_string(start) + ", " + std::to_string(stop);
  label += step == 1 ? ")" : ", " + std::to_string(step) + ")";
  return Value::sequence(SequenceType::range, std::move(items), std::move(label));
}

// dict(mapping or pairs, **names)
Dict dict_from(Interpreter& in, const char* callee, const Arguments& arguments) {
  if (arguments.positional.size() > 1) {
    raise("TypeError", std::string(callee) + " expected at most 1 argument, got " +
                           std::to_string(arguments.positional.size()));
  }
  Dict dict;
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.is_undefined()) from.raise_undefined();
    if (from.is_dict()) {
      in.budget().spend(from.as_dict().size());
      dict = from.as_dict();
    } else {
      for (const Value& pair : iterate(from, in.budget())) {
        const std::vector<Value> two = iterate(pair, in.budget());
        if (two.size() != 2) {
          raise("ValueError", "dictionary update sequence element #" + std::to_string(dict.size()) +
                                  " has length " + std::to_string(two.size()) + "; 2 is required");
        }
        dict.set(two[0], two[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) dict.set(name, value);
  return dict;
}

Value make_dict(Interpreter& in, const Arguments& arguments) {
  return Value::dict(dict_from(in, "dict", arguments));
}

Value make_namespace(Interpreter& in, const Arguments& arguments) {
  auto made = std::make_unique<Namespace>(Dict{});
  const Dict attributes = dict_from(in, "dict", arguments);
  for (const auto& [name, value] : attributes.entries()) {
    if (!name.is_text()) raise(kNotSupported, "a namespace attribute whose name is not a string");
    made->set(name.as_text(), value);
  }
  return in.own(std::move(made));
}

Value raise_exception(Interpreter& in, const Arguments& arguments) {
  const BoundArguments bound("raise_exception", arguments, {"message"}, 1);
  raise("TemplateError", str(bound[0], in.budget()));
}

Value strftime_now(Interpreter& in, const Arguments& arguments) {
  const BoundArguments bound("strftime_now", arguments, {"format"}, 1);
  return Value::text(format_time(in.read_clock(), bound.text(0)));
}

Value lipsum(Interpreter&, const Arguments&) {
  raise(kNotSupported, "the function lipsum, which writes random text");
}

class Cycler : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  std::string type_name() const override { return "Cycler"; }
  std::string module_name() const override { return "jinja2.utils"; }
  std::optional<Value> attribute(Interpreter&, const std::string& name) override {
    static constexpr Method kNext{"next", [](Interpreter&, const Value& self, const Arguments&) {
                                    auto& cycler = static_cast<Cycler&>(self.as_object());
                                    const Value now = cycler.items_[cycler.at_];
                                    cycler.at_ = (cycler.at_ + 1) % cycler.items_.size();
                                    return now;
                                  }};
    static constexpr Method kReset{"reset", [](Interpreter&, const Value& self, const Arguments&) {
                                     static_cast<Cycler&>(self.as_object()).at_ = 0;
                                     return Value();
                                   }};
    if (name == "current") return items_[at_];
    if (name == "next")
      return Value::object(std::make_shared<BoundMethod>(Value::borrowed(*this), kNext));
    if (name == "reset")
      return Value::object(std::make_shared<BoundMethod>(Value::borrowed(*this), kReset));
    return std::nullopt;
  }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

Value make_cycler(Interpreter& in, const Arguments& arguments) {
  if (arguments.positional.empty()) raise("RuntimeError", "at least one item has to be provided");
  return in.own(std::make_unique<Cycler>(arguments.positional));
}

class Joiner : public Object {
 public:
  explicit Joiner(std::string separator) : separator_(std::move(separator)) {}
  std::string type_name() const override { return "Joiner"; }
  std::string module_name() const override { return "jinja2.utils"; }
  bool callable() const override { return true; }
  Value call(Interpreter&, Arguments&) override {
    return Value::text(std::exchange(used_, true) ? separator_ : std::string());
  }

 private:
  std::string separator_;
  bool used_ = false;
};

Value make_joiner(Interpreter& in, const Arguments& arguments) {
  const BoundArguments bound("joiner", arguments, {"sep"}, 0);
  return in.own(std::make_unique<Joiner>(bound.given(0) ? bound.text(0) : ", "));
}

}  // namespace

std::optional<Value> global_named(const std::string& name) {
  static std::map<std::string, Function, std::less<>> functions = [] {
    std::map<std::string, Function, std::less<>> all;
    const auto add = [&](const char* known, const char* type, Function::Body body) {
      all.emplace(known, Function(known, type, body));
    };
    add("range", "function", make_range);
    add("dict", "TemplateDict", make_dict);
    add("namespace", "type", make_namespace);
    add("raise_exception", "function", raise_exception);
    add("strftime_now", "function", strftime_now);
    add("cycler", "type", make_cycler);
    add("joiner", "type", make_joiner);
    add("lipsum", "function", lipsum);
    return all;
  }();
  const auto at = functions.find(name);
  if (at == functions.end()) return std::nullopt;
  return Value::borrowed(at->second);
}

std::string format_time(std::chrono::local_seconds time, const std::string& format) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::tm parts{};
  parts.tm_year = static_cast<int>(date.year()) - 1900;
  parts.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  parts.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  parts.tm_hour = static_cast<int>(clock.hours().count());
  parts.tm_min = static_cast<int>(clock.minutes().count());
  parts.tm_sec = static_cast<int>(clock.seconds().count());
  parts.tm_wday = static_cast<int>(std::chrono::weekday(day).c_encoding());
  parts.tm_yday = static_cast<int>((day - std::chrono::local_days(date.year() / 1 / 1)).count());
  parts.tm_isdst = -1;
  // The time has no zone and no fraction: Python prints these three before strftime sees the rest.
  std::string prepared;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '%' && i + 1 < format.size()) {
      const char kind = format[++i];
      if (kind == 'f') prepared += "000000";
      if (kind != 'f' && kind != 'z' && kind != 'Z') (prepared += '%') += kind;
    } else if (format[i] != '\0') {
      prepared += format[i];
    }
  }
  if (prepared.empty()) return {};
  prepared += '.';  // so that an empty result can be told from a buffer that is too small
  std::string out(prepared.size() * 8 + 256, '\0');
  const size_t n = std::strftime(out.data(), out.size(), prepared.c_str(), &parts);
  if (n == 0) raise("ValueError", "strftime_now: the format gives too long a text");
  out.resize(n - 1);
  return out;
}

}  // namespace isobit::jinja
