#include "bundle/run_bundle.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/digest.h"
#include "base/json_members.h"
#include "bundle/tar_archive.h"
#include "record/run_json.h"

namespace isobit {
namespace {

constexpr const char* kFormat = "isobit.bundle";
constexpr int64_t kFormatVersion = 1;
constexpr const char *kManifest = "manifest.json", *kPolicy = "policy.json";
constexpr const char* kHint = "the bundle was damaged or edited; export it again";
constexpr std::array kListSections = {"cells", "fingerprint", "forced", "requests", "samples"};

using Members = std::map<std::string, std::string>;  // name -> content, manifest apart

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& hint = kHint) {
  throw Error(ErrorCode::environment, where + ": " + what, hint);
}

std::string path_of(const std::string& run_id, const std::string& section) {
  return "runs/" + run_id + "/" + section + (section == "run" ? ".json" : ".jsonl");
}

bool is_folder_name(const std::string& id) {
  return !id.empty() && id.size() <= 64 && id.find_first_not_of('.') != id.npos &&
         std::ranges::all_of(id, [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '_' || c == '-' || c == '.';
         });
}

void add_run(Members& members, const RunRecord& run) {
  const Json sections = run_sections(run);
  members[path_of(run.id, "run")] = canonical_json(sections["run"]) + "\n";
  for (const char* section : kListSections) {
    std::string& lines = members[path_of(run.id, section)];
    for (const Json& element : sections[section]) lines += canonical_json(element) + "\n";
  }
}

Json manifest_of(const RunBundle& bundle, const Members& members) {
  Json runs = Json::array(), files = Json::array();
  for (const RunRecord& run : bundle.runs)
    runs.push_back({{"id", run.id}, {"created", run.created}, {"sha256", run_digest(run)}});
  for (const auto& [name, content] : members) {
    files.push_back({{"name", name}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
  }
  return {{"format", kFormat},
          {"format_version", kFormatVersion},
          {"runs", std::move(runs)},
          {"members", std::move(files)}};
}

void check_runs(const std::vector<RunRecord>& runs) {
  if (runs.empty()) throw Error(ErrorCode::usage, "a bundle of no run");
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!is_folder_name(runs[i].id))
      throw Error(ErrorCode::usage,
                  "run id '" + runs[i].id.substr(0, 80) + "' is no folder's name");
    for (size_t k = 0; k < i; ++k) {
      if (runs[k].id == runs[i].id)
        throw Error(ErrorCode::usage, "run " + runs[i].id + " is named twice");
    }
  }
}

Json parse(std::string_view text, const std::string& where) {
  try {
    return parse_json(text, where, {.max_depth = 8});
  } catch (const Error& e) {
    throw Error(ErrorCode::environment, e.message(), kHint);
  }
}

// The manifest, known to be of this format and version before anything else of the file is judged.
Json read_manifest(const std::vector<TarMember>& files, const std::string& where) {
  if (files.empty() || files.front().name != kManifest)
    refuse(where, "manifest.json is not its first member",
           "isobit store export writes a bundle; this is another tar archive");
  Json manifest = parse(files.front().content, where + ": manifest.json");
  const auto found = [&](const char* key) {
    return manifest.is_object() && manifest.contains(key) ? manifest[key].dump().substr(0, 40)
                                                          : "nothing";
  };
  if (found("format") != Json(kFormat).dump()) {
    refuse(where, "its format is " + found("format") + ", expected \"" + kFormat + "\"",
           "isobit store export writes a bundle");
  }
  if (found("format_version") != std::to_string(kFormatVersion)) {
    refuse(where,
           "its format_version is " + found("format_version") + ", this isobit reads " +
               std::to_string(kFormatVersion),
           "use the isobit that wrote it");
  }
  return manifest;
}

struct ManifestRun {
  std::string id, created, digest;
};

std::vector<ManifestRun> runs_of(const JsonMembers& manifest, const std::string& where) {
  std::vector<ManifestRun> out;
  for (const Json& json : manifest.array("runs")) {
    const JsonMembers m(json, where + ": manifest.json: runs", {"id", "created", "sha256"});
    out.push_back({m.text("id"), m.text("created"), m.text("sha256")});
    if (!is_folder_name(out.back().id)) m.refuse("id", "is no run's id");
  }
  if (out.empty()) manifest.refuse("runs", "is empty");
  return out;
}

constexpr std::array kManifestMembers = {"format", "format_version", "runs", "members"};

JsonMembers manifest_members(const Json& json, const std::string& where) {
  return {json, where + ": manifest.json", {kManifestMembers.begin(), kManifestMembers.end()}};
}

// A member as it is listed, and the size that it is said to have.
struct ListedMember {
  MemberCheck check;
  int64_t n_bytes = 0;
};

std::map<std::string, ListedMember> listed_members(const JsonMembers& manifest,
                                                   const std::string& where) {
  std::map<std::string, ListedMember> out;
  for (const Json& json : manifest.array("members")) {
    const JsonMembers m(json, where + ": manifest.json: members", {"name", "bytes", "sha256"});
    const std::string& name = m.text("name");
    const ListedMember listed{{name, m.text("sha256"), ""}, m.integer("bytes")};
    if (!out.insert({name, listed}).second)
      m.refuse("name", "'" + name.substr(0, 80) + "' is listed twice");
  }
  return out;
}

std::vector<MemberCheck> checks_of(const JsonMembers& manifest, const std::vector<TarMember>& files,
                                   const std::string& where) {
  std::map<std::string, ListedMember> listed = listed_members(manifest, where);
  for (size_t i = 1; i < files.size(); ++i) {
    auto& [check, n_bytes] = listed[files[i].name];
    check.name = files[i].name;
    check.found = sha256_hex(files[i].content);
    if (check.found == check.listed && n_bytes != static_cast<int64_t>(files[i].content.size()))
      refuse(where, "member '" + check.name.substr(0, 100) + "' has " +
                        std::to_string(files[i].content.size()) + " bytes, its manifest says " +
                        std::to_string(n_bytes));
  }
  std::vector<MemberCheck> out;
  for (auto& [name, member] : listed) out.push_back(std::move(member.check));
  return out;
}

// Each member that the archive has, and nothing else, with the digest that it has.
void require_members(const std::vector<MemberCheck>& checks, const std::string& where) {
  for (const MemberCheck& check : checks) {
    const std::string member = "member '" + check.name.substr(0, 100) + "'";
    if (check.listed.empty()) refuse(where, member + " is not in its manifest");
    if (check.found.empty()) refuse(where, member + " is missing");
    if (check.found == check.listed) continue;
    refuse(where, "the checksum of " + member + " is " + check.found.substr(0, 12) +
                      ", its manifest says " + check.listed.substr(0, 12));
  }
}

std::string_view take(std::map<std::string, std::string_view>& files, const std::string& name,
                      const std::string& where) {
  const auto at = files.find(name);
  if (at == files.end()) refuse(where, "member '" + name + "' is missing");
  const std::string_view content = at->second;
  files.erase(at);
  return content;
}

// There is a policy, or there is no such member.
std::string take_policy(std::map<std::string, std::string_view>& files, const std::string& where) {
  if (!files.contains(kPolicy)) return {};
  const std::string_view policy = take(files, kPolicy, where);
  if (policy.empty())
    refuse(where, "policy.json is empty; a bundle without a policy has no such member");
  if (policy.size() > kMaxPolicyBytes)
    refuse(where, "policy.json has " + std::to_string(policy.size()) + " bytes, at most " +
                      std::to_string(kMaxPolicyBytes) + " are expected");
  return std::string(policy);
}

Json parse_lines(std::string_view text, const std::string& where) {
  Json out = Json::array();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = where + ": line " + std::to_string(out.size() + 1);
    if (end == text.npos) refuse(line, "does not end");
    out.push_back(parse(text.substr(begin, end - begin), line));
    begin = end + 1;
  }
  return out;
}

RunRecord read_run(std::map<std::string, std::string_view>& files, const ManifestRun& listed,
                   const std::string& where) {
  Json sections = Json::object();
  const std::string name = path_of(listed.id, "run");
  sections["run"] = parse(take(files, name, where), where + ": " + name);
  for (const char* section : kListSections) {
    const std::string path = path_of(listed.id, section);
    sections[section] = parse_lines(take(files, path, where), where + ": " + path);
  }
  RunRecord run = run_from_sections(sections, where + ": runs/" + listed.id);
  if (run.id != listed.id || run.created != listed.created)
    refuse(where, "runs/" + listed.id + " holds another run than its manifest says");
  return run;
}

void require_digest(const RunRecord& run, const std::string& listed, const std::string& where) {
  const std::string digest = run_digest(run);
  if (digest == listed) return;
  refuse(where, "the digest of run " + run.id + " is " + digest.substr(0, 12) +
                    ", its manifest says " + listed.substr(0, 12));
}

}  // namespace

std::string run_digest(const RunRecord& run) {
  return sha256_hex(canonical_json(run_sections(run)));
}

std::string bundle_bytes(RunBundle bundle) {
  check_runs(bundle.runs);
  std::ranges::stable_sort(bundle.runs, {}, &RunRecord::created);
  Members members;
  for (const RunRecord& run : bundle.runs) add_run(members, run);
  if (bundle.policy.size() > kMaxPolicyBytes)
    throw Error(ErrorCode::usage, "the policy has " + std::to_string(bundle.policy.size()) +
                                      " bytes, a bundle holds at most " +
                                      std::to_string(kMaxPolicyBytes));
  if (!bundle.policy.empty()) members[kPolicy] = bundle.policy;
  const std::string manifest = canonical_json(manifest_of(bundle, members)) + "\n";
  std::vector<TarMember> files = {{kManifest, manifest}};
  for (const auto& [name, content] : members) files.push_back({name, content});
  return tar_bytes(files);
}

RunBundle read_bundle(std::string_view bytes, const std::string& where, RunDigests digests) {
  const std::vector<TarMember> files = read_tar(bytes, where);
  const Json json = read_manifest(files, where);
  const JsonMembers manifest = manifest_members(json, where);
  require_members(checks_of(manifest, files, where), where);
  std::map<std::string, std::string_view> left;
  for (size_t i = 1; i < files.size(); ++i) left[files[i].name] = files[i].content;
  RunBundle out;
  for (const ManifestRun& listed : runs_of(manifest, where)) {
    out.runs.push_back(read_run(left, listed, where));
    out.listed_digests.push_back(listed.digest);
    if (digests == RunDigests::kMustHold) require_digest(out.runs.back(), listed.digest, where);
    const size_t n = out.runs.size();
    if (n > 1 && out.runs[n - 1].created < out.runs[n - 2].created)
      refuse(where, "run " + listed.id + " is out of order");
  }
  out.policy = take_policy(left, where);
  if (!left.empty())
    refuse(where, "member '" + left.begin()->first + "' belongs to no run of its manifest");
  return out;
}

std::vector<MemberCheck> check_bundle(std::string_view bytes, const std::string& where) {
  const std::vector<TarMember> files = read_tar(bytes, where);
  const Json json = read_manifest(files, where);
  return checks_of(manifest_members(json, where), files, where);
}

bool begins_as_tar(std::string_view bytes) {
  constexpr size_t kMagicAt = 257;
  return bytes.size() > kMagicAt && bytes.substr(kMagicAt).starts_with("ustar");
}

}  // namespace isobit
