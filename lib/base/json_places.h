// Where in a JSON text each value stands, so that an error can point at the line that a person
// wrote. The JSON library keeps no positions; this walks the same text once more, only when there
// is something to complain about.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

struct TextPlace {
  size_t line = 1;    // from 1
  size_t column = 1;  // from 1, in bytes
};

// Each question is one walk over the text; nothing is kept, so that a hostile file costs no memory.
class JsonPlaces {
 public:
  // REQUIRES: parse_json accepts `text`, comments included. `text` outlives this.
  explicit JsonPlaces(std::string_view text) : text_(text) {}

  // The place of the value under a JSON Pointer (RFC 6901): "" is the whole text, "/rules/0/max" a
  // member of an element. Absent: no such value.
  std::optional<TextPlace> of_value(const std::string& pointer) const;
  // Of a member: the place of its key.
  std::optional<TextPlace> of_key(const std::string& pointer) const;
  // Of an array: the places of its elements.
  std::vector<TextPlace> of_elements(const std::string& pointer) const;

 private:
  std::string_view text_;
};

// A member's part of a pointer: "/" and the key, its "~" and "/" escaped.
std::string pointer_step(std::string_view key);

// ", line 3, column 7"
std::string place_text(const TextPlace& place);

}  // namespace isobit
