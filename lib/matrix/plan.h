// From what the user asked to vary, to the list of cells. Pure: no clock, no I/O, no device.
//
// Every cell holds one value for each axis that the plan mentions. The cells that share their
// identity values form a group; in each group one cell, the reference cell, has every schedule axis
// at its reference value (the axis's default, or what `--set` or the matrix file's "reference"
// says), and the others are compared with it. It is added where the listed values do not contain
// it. `set` therefore moves the whole plan; `axis` varies it.
//
// Designs. grid: every combination. one-at-a-time: identity axes vary one at a time from the first
// listed (or set) values; in each group each schedule axis varies alone. An axis that means nothing
// to a request that runs alone (the batch's shape, the position in it, the neighbours) varies at
// the largest concurrency of the plan. Combinations that cannot happen are left out, with the
// reason, and are never counted as passed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/run_record.h"

namespace isobit {

enum class Design { kOneAtATime, kGrid };

using AxisValues = std::map<std::string, std::string>;  // axis key -> normalised value

struct VariedAxis {
  std::string key;
  std::vector<std::string> values;  // normalised, each once, in the order given
};

struct Scenario {
  std::string name;  // becomes the cell's name
  AxisValues values;
};

struct PlanSpec {
  Design design = Design::kOneAtATime;
  std::vector<VariedAxis> axes;
  AxisValues reference;  // --set: the value of every cell that does not vary the axis, the
                         // reference cell included
  std::vector<AxisValues> include;  // one further cell each; axes not named stand at the reference
  std::vector<AxisValues>
      exclude;  // cells that have all these values go, reference cells excepted (see make_plan)
  std::vector<Scenario> scenarios;
  int32_t repeats = 1;
  uint64_t seed = 0;            // of the order of cells, of permutations and of neighbours
  bool teacher_forcing = true;  // compute flipped answers once more over their reference's tokens
  bool embeddings = false;      // record the mean final hidden state of each answer
};

struct LeftOut {
  std::string name;    // the name the cell would have
  std::string reason;  // why it cannot happen
};

struct Plan {
  PlanSpec spec;
  std::vector<CellRecord> cells;  // a group's reference cell first; cells[i].index == i
  std::vector<int32_t>
      order;  // cell indices as they run: group by group, shuffled by the seed within each
  std::vector<LeftOut> left_out;
};

// Throws Error(usage) for an unknown word, with the nearest one, and Error(unsupported) for
// `pairwise`.
Design design_from_name(std::string_view word);
const char* name(Design design);

// Adds `--axis key=v1,v2` and `--set key=v`. A flag replaces what a matrix file lists for the same
// axis; the same axis twice among the flags is Error(usage).
void apply_axis_flags(PlanSpec& spec, std::span<const std::string> axis_flags,
                      std::span<const std::string> set_flags);

enum class CellNaming {
  kBesideReference,  // by what a cell changes
  kBesideDefaults,   // also by what --set gave to all cells: how stored plans may have named them
};

// A reference cell stays as long as anything could be compared with it: it goes only with its whole
// group, when an exclude entry names identity values alone. Throws Error(usage) when nothing
// remains of what was asked for, and for more than 10,000 cells.
Plan make_plan(const PlanSpec& spec, CellNaming naming = CellNaming::kBesideReference);

// The value of an axis in a cell: its default when the plan does not mention it.
std::string axis_value(const CellRecord& cell, std::string_view key);

// "load.concurrency=8,engine.chunked_prefill=16": the values that are not those of `base`, in the
// order of axes(); "reference" when none. What `base` does not mention stands at its default.
std::string cell_name(const AxisValues& values, const AxisValues& base = {});

// Why a cell with these values could not happen; nullopt when it can.
std::optional<std::string> impossible_reason(const AxisValues& values);

}  // namespace isobit
