#include "checkpoint/checkpoint_json.h"

#include <algorithm>

#include "checkpoint/refusal.h"

namespace isobit {
namespace {

// A llama of 1,000 layers has 9,003 tensors of four keys each. Every key is followed by a colon.
constexpr std::ptrdiff_t kMaxColons = 60'000;

}  // namespace

Json parse_checkpoint_json(std::string_view text, const std::string& where) {
  if (std::count(text.begin(), text.end(), ':') > kMaxColons) {
    refuse(where, "more than " + std::to_string(kMaxColons) + " keys");
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
