#include "app/run_claims.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "app/audit.h"
#include "app/prompt_requests.h"
#include "base/error.h"
#include "base/json.h"
#include "fingerprint/fingerprint_id.h"
#include "gate/date.h"
#include "matrix/plan_file.h"
#include "matrix/recorded_cells.h"
#include "record/answer_counts.h"
#include "record/fact_bounds.h"
#include "statement/in_toto.h"

namespace isobit::app {
namespace {

std::string differs(const std::string& what, const std::string& stored, const std::string& found) {
  return what + " is recorded as " + stored.substr(0, 12) + ", but the rows give " +
         found.substr(0, 12);
}

std::optional<uint64_t> planned_repeats(const std::string& plan_json) {
  const Json plan = parse_json(plan_json, "its plan", {.max_depth = 16});
  if (!plan.is_object() || !plan.contains("matrix") || !plan["matrix"].is_object() ||
      !plan["matrix"].contains("repeats") || !plan["matrix"]["repeats"].is_number_unsigned())
    return std::nullopt;
  return plan["matrix"]["repeats"].get<uint64_t>();
}

// Every complete cell was executed as often as its plan asks for. One that has no answers at all is
// left to whoever counts them.
std::string cell_without_repeats(const RunRecord& run) {
  const auto planned = planned_repeats(run.plan_json);
  if (!planned) return "its plan says no number of repeats";
  std::map<int32_t, std::set<int32_t>> repeats;  // by cell
  for (const SampleRecord& s : run.samples) repeats[s.cell_index].insert(s.repeat);
  for (const auto& [cell, found] : repeats) {
    const CellRecord& c = run.cells[static_cast<size_t>(cell)];
    if (!c.complete || found.size() == *planned) continue;
    return "cell " + std::to_string(cell) + " ('" + c.name + "') has answers of " +
           std::to_string(found.size()) + " repeats, its plan asks for " + std::to_string(*planned);
  }
  return {};
}

// The context is the model's, as it was fingerprinted; 0 where that is not known.
ModelLimits recorded_limits(const RunRecord& run) {
  ModelLimits out{.context_tokens = 0, .max_concurrency = kMaxConcurrency};
  for (const FingerprintItem& item : run.fingerprint.items) {
    if (item.item_class == FingerprintClass::kModel && item.name == "config.max_positions")
      std::from_chars(item.value.data(), item.value.data() + item.value.size(), out.context_tokens);
  }
  return out;
}

// What the plan says of cells and repeats; the plan's own cells are those of its matrix, since a
// cell that is made its own reference would never be compared; and the answers are such as the
// cells can have given.
std::vector<std::string> unlike_plan(const RunRecord& run) {
  try {
    const std::string cell = first_cell_unlike_plan(run.plan_json, run.cells, "its plan");
    if (!cell.empty()) return {cell};
    const std::string repeats = cell_without_repeats(run);
    if (!repeats.empty()) return {repeats};
    const Plan plan = plan_from_json(run.plan_json, "its plan");
    return answers_unlike_cells(run, plan, recorded_limits(run));
  } catch (const Error& e) {
    return {e.message()};
  }
  return {};
}

void require_none(const std::vector<std::string>& broken, const RunRecord& run,
                  const std::string& where) {
  if (broken.empty()) return;
  throw Error(ErrorCode::environment, where + ", run " + run.id + ": " + broken.front(),
              "the file was changed by something else than isobit; see isobit store check");
}

}  // namespace

std::vector<std::string> broken_claims(const RunRecord& run) {
  std::vector<std::string> broken = facts_out_of_bounds(run);
  if (run.id.size() < 8 || run.id.find_first_not_of("0123456789abcdef") != std::string::npos)
    broken.push_back("its id is not one that isobit gives");
  const std::string fingerprint = fingerprint_id(run.fingerprint.items);
  if (fingerprint != run.fingerprint.id)
    broken.push_back(differs("the fingerprint's id", run.fingerprint.id, fingerprint));
  if (!run.redacted) {
    const std::string prompts = requests_digest(run.requests);
    if (prompts != run.prompts_digest)
      broken.push_back(differs("the digest of its prompts", run.prompts_digest, prompts));
  }
  if (!parse_date(run.created))
    broken.push_back("its time '" + run.created.substr(0, 40) + "' is none");
  if (run.redacted && !is_sha256_hex(run.prompts_digest))
    broken.push_back("the digest of its prompts is none");
  for (std::string& sentence : unlike_plan(run)) broken.push_back(std::move(sentence));
  return broken;
}

void require_sound_claims(const RunRecord& run, const std::string& where) {
  require_none(broken_claims(run), run, where);
}

void require_whole_run(const RunRecord& run, const std::string& where) {
  require_sound_claims(run, where);
  require_none(wrong_answer_counts(run), run, where);
}

}  // namespace isobit::app
