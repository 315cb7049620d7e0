#include "app/policy_argument.h"

#include <algorithm>
#include <filesystem>

#include "app/audit.h"
#include "app/bundle_file.h"
#include "app/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "gate/policy_file.h"

namespace isobit::app {
namespace {

// A policy file's text, or that of the policy in a bundle.
std::string file_text(const std::string& path) {
  if (!is_bundle_file(path)) return read_file(path, kMaxPolicyBytes);
  std::string policy = load_bundle(path).policy;
  if (policy.empty())
    throw Error(ErrorCode::usage, "bundle '" + path + "' carries no policy",
                "isobit store export --policy puts one in");
  return policy;
}

bool is_ready(const std::string& name) {
  return std::any_of(ready_policies().begin(), ready_policies().end(),
                     [&](const ReadyPolicy& ready) { return ready.name == name; });
}

}  // namespace

Policy policy_argument(const std::string& name_or_file) {
  if (is_ready(name_or_file)) return ready_policy(name_or_file);
  const bool looks_like_file = name_or_file.find_first_of("./") != std::string::npos;
  if (!looks_like_file && !std::filesystem::exists(name_or_file)) return ready_policy(name_or_file);
  return read_policy(file_text(name_or_file), name_or_file);
}

std::string policy_text(const std::string& name_or_file) {
  for (const ReadyPolicy& ready : ready_policies()) {
    if (ready.name == name_or_file) return std::string(ready.text);
  }
  static_cast<void>(policy_argument(name_or_file));  // a word that is neither is refused there
  return file_text(name_or_file);
}

Policy kept_policy(const std::string& text, const std::string& where) {
  return text.empty() ? level_policy(Level::kRequestReproducible) : read_policy(text, where);
}

Date gate_day(const std::string& now) {
  const std::string text = now.empty() ? utc_now() : now;
  if (const auto day = parse_date(text)) return *day;
  throw Error(ErrorCode::usage, "--now: '" + text + "' is not a day such as 2026-01-31");
}

Policy policy_or_level(const std::string& name_or_file, int level, bool level_given) {
  if (!name_or_file.empty() && level_given)
    throw Error(ErrorCode::usage, "--policy and --level were both given",
                "a policy states its level; give one of the two");
  return name_or_file.empty() ? level_policy(level_argument(level)) : policy_argument(name_or_file);
}

}  // namespace isobit::app
