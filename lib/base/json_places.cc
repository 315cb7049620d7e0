#include "base/json_places.h"

#include <algorithm>

#include "base/json.h"

namespace isobit {
namespace {

// How far the way down to a value agrees with the pointer that is looked for: so many of its
// characters, or not at all.
using Agreement = std::optional<size_t>;

// Walks valid JSON. Positions only grow and stop at the end, so that a broken precondition ends
// too.
class Walk {
 public:
  Walk(std::string_view text, std::string_view pointer) : text_(text), pointer_(pointer) {
    value(size_t{0});
  }

  std::optional<TextPlace> value_place, key_place;
  std::vector<TextPlace> element_places;

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void step() {
    if (at_ == text_.size()) return;
    if (text_[at_++] == '\n') line_start_ = at_, ++line_;
  }

  TextPlace place() const { return {.line = line_, .column = at_ - line_start_ + 1}; }

  void skip_to(std::string_view end) {
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) step();
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) {
        skip_to("\n");
      } else if (text_.substr(at_).starts_with("/*")) {
        skip_to("*/");
        step();
        step();
      } else if (std::string_view(" \t\r\n\xEF\xBB\xBF").find(peek()) != text_.npos) {
        step();
      } else {
        return;
      }
    }
  }

  void value(Agreement agreed) {
    skip_space();
    if (is_found(agreed)) value_place = place();
    if (peek() == '{') {
      object(agreed);
    } else if (peek() == '[') {
      array(agreed);
    } else if (peek() == '"') {
      string();
    } else {
      while (at_ < text_.size() && std::string_view(",]} \t\r\n/").find(peek()) == text_.npos)
        step();
    }
    skip_space();
  }

  bool is_found(Agreement agreed) const { return agreed == pointer_.size(); }

  // One step further down.
  Agreement further(Agreement agreed, const std::string& down) const {
    if (!agreed || !pointer_.substr(*agreed).starts_with(down)) return std::nullopt;
    const size_t end = *agreed + down.size();
    const bool whole = end == pointer_.size() || pointer_[end] == '/';
    return whole ? Agreement(end) : std::nullopt;
  }

  std::string_view string() {
    const size_t start = at_;
    step();
    while (at_ < text_.size() && peek() != '"') {
      if (peek() == '\\') step();
      step();
    }
    step();
    return text_.substr(start, at_ - start);
  }

  void object(Agreement agreed) {
    step();
    for (skip_space(); at_ < text_.size() && peek() != '}'; skip_space()) {
      const TextPlace at_key = place();
      const std::string_view key = string();
      const Agreement member =
          agreed ? further(agreed, pointer_step(parse_json(key, "key").get<std::string>()))
                 : std::nullopt;
      if (is_found(member)) key_place = at_key;
      skip_space();
      step();  // the colon
      value(member);
      if (peek() == ',') step();
    }
    step();
  }

  void array(Agreement agreed) {
    const bool found = is_found(agreed);
    step();
    skip_space();
    for (size_t i = 0; at_ < text_.size() && peek() != ']'; ++i) {
      if (found) element_places.push_back(place());
      value(agreed && !found ? further(agreed, "/" + std::to_string(i)) : std::nullopt);
      if (peek() == ',') step();
      skip_space();
    }
    step();
  }

  std::string_view text_;
  std::string_view pointer_;
  size_t at_ = 0, line_ = 1, line_start_ = 0;
};

}  // namespace

std::optional<TextPlace> JsonPlaces::of_value(const std::string& pointer) const {
  return Walk(text_, pointer).value_place;
}

std::optional<TextPlace> JsonPlaces::of_key(const std::string& pointer) const {
  return Walk(text_, pointer).key_place;
}

std::vector<TextPlace> JsonPlaces::of_elements(const std::string& pointer) const {
  return Walk(text_, pointer).element_places;
}

std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string place_text(const TextPlace& place) {
  return ", line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

}  // namespace isobit
