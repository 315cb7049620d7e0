#include "app/run_claims.h"

#include "app/prompt_requests.h"
#include "base/error.h"
#include "fingerprint/fingerprint_id.h"
#include "matrix/plan_file.h"

namespace isobit::app {
namespace {

std::string differs(const std::string& what, const std::string& stored, const std::string& found) {
  return what + " is recorded as " + stored.substr(0, 12) + ", but the rows give " +
         found.substr(0, 12);
}

}  // namespace

std::vector<std::string> broken_claims(const RunRecord& run) {
  std::vector<std::string> broken;
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
  try {
    const std::string cell = first_cell_unlike_plan(run.plan_json, run.cells, "its plan");
    if (!cell.empty()) broken.push_back(cell);
  } catch (const Error& e) {
    broken.push_back(e.message());
  }
  return broken;
}

void require_sound_claims(const RunRecord& run, const std::string& where) {
  const std::vector<std::string> broken = broken_claims(run);
  if (broken.empty()) return;
  throw Error(ErrorCode::environment, where + ", run " + run.id + ": " + broken.front(),
              "the file was changed by something else than isobit; see isobit store check");
}

}  // namespace isobit::app
