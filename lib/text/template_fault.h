// What a template can do wrong, and the limits that keep a hostile template from taking the process
// with it.
//
// A Fault carries the name of the Python exception that jinja2 would raise, because people compare
// the two; it becomes an isobit::Error with the template's name and line where it leaves the
// interpreter. Construct names that this interpreter does not have are Faults of the type
// kNotSupported.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

namespace isobit::jinja {

inline constexpr const char* kNotSupported = "NotSupported";

struct Fault : std::exception {
  Fault(std::string type, std::string message, int line = 0)
      : type(std::move(type)), message(std::move(message)), line(line) {}
  const char* what() const noexcept override { return message.c_str(); }

  std::string type;  // "UndefinedError", "TypeError", ...
  std::string message;
  int line;  // 1-based; 0 when only the interpreter knows it
};

[[noreturn]] inline void raise(const char* type, std::string message) {
  throw Fault(type, std::move(message));
}

// Steps cover time and memory together: one per node visited and per element created, one per 16
// bytes of text.
class Budget {
 public:
  explicit Budget(size_t max_steps) : left_(max_steps) {}

  void spend(size_t n_steps) {
    if (n_steps > left_) exhausted();
    left_ -= n_steps;
  }
  void spend_bytes(size_t n_bytes) { spend(n_bytes / 16 + 1); }

  // One native stack level of the interpreter; a template that nests deeper is refused.
  class Level {
   public:
    explicit Level(Budget& budget) : budget_(budget) {
      if (budget_.depth_ >= kMaxDepth) too_deep();
      ++budget_.depth_;
    }
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Budget& budget_;
  };

 private:
  static constexpr int kMaxDepth = 1000;
  [[noreturn]] static void exhausted() {
    raise("LimitError",
          "the template takes more steps, or builds more text, than the limit allows");
  }
  [[noreturn]] static void too_deep() {
    raise("RecursionError", "maximum recursion depth exceeded");
  }

  size_t left_;
  int depth_ = 0;
};

}  // namespace isobit::jinja
