// How a broken or unsupported checkpoint is refused, and how its bytes may appear in the message.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace isobit {

// Throws Error(environment): "WHERE: WHAT". A checkpoint comes from outside, so nothing in it is a
// bug of isobit.
[[noreturn]] inline void refuse(const std::string& where, const std::string& what,
                                std::string hint = {}) {
  throw Error(ErrorCode::environment, where + ": " + what, std::move(hint));
}

// `bytes` between single quotes, as printable ASCII: everything else becomes \xNN, and what is past
// 80 bytes becomes "...". Names in a checkpoint are not trusted to be text, short, or free of
// terminal escapes.
std::string shown(std::string_view bytes);

// "(576, 1536)"
template <class Shape>
std::string shape_text(const Shape& shape) {
  std::string out = "(";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + ")";
}

}  // namespace isobit
