// The axes of the matrix as data: what may vary, how its values are spelled, and what a difference
// along it means.
//
// A schedule axis may not change the answer: its cells are compared with a reference cell. An
// identity axis changes the question or the arithmetic: each of its values gets a reference cell of
// its own. Everything else in this folder reads the table; a new axis is a new row and the code
// that honours it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isobit {

enum class AxisKind { kSchedule, kIdentity };

// Who makes the value true: the order and number of requests, the requests themselves, or the
// target.
enum class AxisAppliedBy { kWorkload, kRequests, kTarget };

// Numbers that an axis takes beside its words.
enum class AxisNumbers { kNone, kCount, kDecimal, kSeed };

struct Axis {
  std::string key = {};  // "load.concurrency"
  AxisKind kind = AxisKind::kSchedule;
  AxisAppliedBy applied_by = AxisAppliedBy::kTarget;
  std::string default_value = {};  // "1"
  std::vector<std::string> words =
      {};  // accepted spellings, the default included where it is a word
  AxisNumbers numbers = AxisNumbers::kNone;
  double min = 0, max = 0;                    // inclusive bounds of the numbers
  std::vector<std::string> later_words = {};  // known to the product, refused by this version
  bool needs_company =
      false;  // any value but the default means nothing to a request that runs alone
  bool only_default = false;  // known to the product; this version accepts its default only
};

// In the order in which cell names list them.
std::span<const Axis> axes();

// Throws Error(usage) for a key that does not exist, naming the nearest one.
const Axis& find_axis(std::string_view key);

// The one spelling of a value ("0.70" -> "0.7", "016" -> "16"). Throws Error(usage) for what is no
// value of this axis (with the nearest word) and Error(unsupported) for a value that the product
// knows and this version does not.
std::string normalize_axis_value(const Axis& axis, std::string_view text);

// As above, for "v1,v2,v3": each once, in the order given. The preset `edges` of load.concurrency
// stands for the row counts at which engines are known to change kernels.
std::vector<std::string> normalize_axis_values(const Axis& axis, std::string_view list);

}  // namespace isobit
