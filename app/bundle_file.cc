#include "app/bundle_file.h"

#include <filesystem>
#include <fstream>

#include "app/run_claims.h"
#include "base/error.h"
#include "base/file.h"
#include "gate/policy_file.h"

namespace isobit::app {
namespace {

[[noreturn]] void refuse_ref(const RunBundle& bundle, const std::string& ref,
                             const std::string& path) {
  std::vector<std::string> ids;
  for (const RunRecord& run : bundle.runs) ids.push_back(run.id);
  std::string known;
  for (const std::string& id : ids) known += (known.empty() ? "" : ", ") + id;
  throw Error(
      ErrorCode::usage,
      "bundle '" + path + "' has no run '" + ref.substr(0, 80) + "'" + did_you_mean(ref, ids),
      "it has " + known.substr(0, 400));
}

// N of "latest~N", 0 for "latest"; nothing for other words.
std::optional<size_t> steps_back(const std::string& ref) {
  if (ref == "latest") return 0;
  if (!ref.starts_with("latest~")) return std::nullopt;
  const std::string digits = ref.substr(7);
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoul(digits);
}

}  // namespace

bool is_bundle_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::string begin(262, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(file.gcount()));
  return path.ends_with(".tar") || begins_as_tar(begin);
}

RunBundle load_bundle(const std::string& path) {
  const std::string where = "bundle '" + path + "'";
  RunBundle bundle = read_bundle(read_file(path, kMaxBundleBytes), where);
  require_sound_bundle(bundle, where);
  return bundle;
}

void require_sound_bundle(const RunBundle& bundle, const std::string& where) {
  for (const RunRecord& run : bundle.runs) require_whole_run(run, where);
  if (bundle.policy.empty()) return;
  try {
    static_cast<void>(read_policy(bundle.policy, where + ": policy.json"));
  } catch (const Error& e) {  // a file, not something typed
    throw Error(ErrorCode::environment, e.message(), "ask whoever exported the bundle for another");
  }
}

RunRecord run_in_bundle(RunBundle bundle, const std::string& ref, const std::string& path) {
  if (const auto back = steps_back(ref)) {
    if (*back >= bundle.runs.size()) refuse_ref(bundle, ref, path);
    return std::move(bundle.runs[bundle.runs.size() - 1 - *back]);
  }
  RunRecord* found = nullptr;
  for (RunRecord& run : bundle.runs) {
    if (run.id == ref) return std::move(run);
    if (ref.empty() || !run.id.starts_with(ref)) continue;
    if (found)
      throw Error(ErrorCode::usage,
                  "'" + ref + "' begins the ids of several runs of bundle '" + path + "'");
    found = &run;
  }
  if (!found) refuse_ref(bundle, ref, path);
  return std::move(*found);
}

}  // namespace isobit::app
