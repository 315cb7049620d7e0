#include "checkpoint/checkpoint_json.h"

#include <algorithm>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// A llama of 1,000 layers has 9,003 tensors of four keys each. Every key is followed by a colon.
constexpr std::ptrdiff_t kMaxColons = 60'000;
// And eight values: a value can take 50 times the memory of its text ("[],").
constexpr std::ptrdiff_t kMaxValues = 300'000;

// No fewer than the values of `text`: all but the first of an array or object follow a comma.
std::ptrdiff_t most_values(std::string_view text) {
  return 1 + std::count_if(text.begin(), text.end(),
                           [](char c) { return c == ',' || c == '[' || c == '{'; });
}

}  // namespace

Json parse_checkpoint_json(std::string_view text, const std::string& where) {
  if (std::count(text.begin(), text.end(), ':') > kMaxColons) {
    refuse(where, "more than " + std::to_string(kMaxColons) + " keys");
  }
  if (most_values(text) > kMaxValues) {
    refuse(where, "more than " + std::to_string(kMaxValues) + " values");
  }
  Json root;
  try {
    root = parse_json(text, where);
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(),
                "the file is damaged, or is not what its name says");
  }
  if (!root.is_object()) refuse(where, "not a JSON object");
  return root;
}

}  // namespace isobit
