#include "app/verification.h"

#include <algorithm>
#include <filesystem>

#include "app/bundle_file.h"
#include "app/statement_file.h"
#include "app/stored_json.h"
#include "app/verdict_again.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "fingerprint/fingerprint_id.h"
#include "record/baseline_file.h"
#include "statement/envelope.h"
#include "statement/ml_bom.h"
#include "statement/test_result.h"
#include "statement/verdict_inside.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxStatementBytes = size_t{256} << 20;

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string sha256_of(const Resource& resource) {
  const auto at = resource.digests.find("sha256");
  return at == resource.digests.end() ? "" : at->second;
}

DigestCheck compared(std::string what, std::string expected, std::string found) {
  const bool same = expected == found;
  return {std::move(what), same ? DigestFinding::kSame : DigestFinding::kDiffers,
          std::move(expected), std::move(found)};
}

// A file that was given, and the runs in it where it is a bundle.
struct GivenFile {
  std::string path;
  Resource file;
  std::vector<GivenRun> runs;
};

std::vector<GivenFile> read_given(const std::vector<std::string>& paths) {
  std::vector<GivenFile> out;
  for (const std::string& path : paths) {
    GivenFile& given = out.emplace_back();
    given.path = path;
    given.file = file_resource(path);
    if (!is_bundle_file(path)) continue;
    for (RunRecord& run : load_bundle(path).runs) {
      std::string digest = run_digest(run);
      given.runs.push_back({.run = std::move(run), .digest = std::move(digest)});
    }
  }
  return out;
}

// The names that a statement's resources may have for what a given file holds, with digests.
std::vector<Resource> resources_in(const GivenFile& given) {
  std::vector<Resource> out = {given.file};
  for (const GivenRun& g : given.runs) {
    Resource& whole = out.emplace_back();
    whole.name = run_resource_name(g.run.id);
    whole.digests["sha256"] = g.digest;
    Resource& fingerprint = out.emplace_back();
    fingerprint.name = fingerprint_resource_name(g.run.id);
    fingerprint.digests["sha256"] = g.run.fingerprint.id;
  }
  return out;
}

// Holds what was given against what is named.
class NamedResources {
 public:
  explicit NamedResources(std::vector<Resource> named)
      : named_(std::move(named)), given_(named_.size()) {}

  void take(const GivenFile& given, std::vector<DigestCheck>& out) {
    bool known = false;
    for (const Resource& r : resources_in(given)) known |= take_resource(r, out);
    if (!known)
      out.push_back({"file " + given.path, DigestFinding::kNotNamed, "", sha256_of(given.file)});
  }

  void tell_of_the_rest(std::vector<DigestCheck>& out) const {
    for (size_t i = 0; i < named_.size(); ++i) {
      if (!given_[i])
        out.push_back({named_[i].name, DigestFinding::kNotGiven, sha256_of(named_[i]), ""});
    }
  }

 private:
  // A file may be renamed; a run has the name that it was recorded under.
  static DigestCheck under_another_name(const Resource& given, const Resource& named) {
    const std::string digest = sha256_of(given);
    if (named_run(given.name).id.empty())
      return {given.name + ", which is " + named.name, DigestFinding::kSame, digest, digest};
    return {"name of " + given.name, DigestFinding::kDiffers, named.name, given.name};
  }

  bool take_resource(const Resource& r, std::vector<DigestCheck>& out) {
    bool known = false;
    const std::string digest = sha256_of(r);
    for (size_t i = 0; i < named_.size(); ++i) {
      const bool is_run = r.name.find('/') != std::string::npos;
      const std::string name = is_run ? named_[i].name : base_name(named_[i].name);
      if (name != r.name) continue;
      known = given_[i] = true;
      out.push_back(compared(named_[i].name, sha256_of(named_[i]), digest));
    }
    for (size_t i = 0; i < named_.size() && !known; ++i) {
      if (sha256_of(named_[i]) != digest) continue;
      known = given_[i] = true;
      out.push_back(under_another_name(r, named_[i]));
    }
    return known;
  }

  std::vector<Resource> named_;
  std::vector<bool> given_;
};

void check_files(std::vector<Resource> named, const std::vector<GivenFile>& files,
                 std::vector<DigestCheck>& out) {
  NamedResources resources(std::move(named));
  for (const GivenFile& file : files) resources.take(file, out);
  resources.tell_of_the_rest(out);
}

void add_all(std::vector<Disagreement> found, const std::string& prefix,
             std::vector<DigestCheck>& out) {
  for (Disagreement& d : found) {
    const DigestFinding finding = d.found ? DigestFinding::kDiffers : DigestFinding::kMissing;
    out.push_back({prefix + d.what, finding, std::move(d.expected), d.found.value_or("")});
  }
}

void check_verdict(const InTotoStatement& statement, const std::vector<GivenFile>& files,
                   const std::string& where, std::vector<DigestCheck>& out) {
  std::vector<GivenRun> runs;
  for (const GivenFile& file : files) runs.insert(runs.end(), file.runs.begin(), file.runs.end());
  VerdictFinding again = verdict_again(statement, runs, where);
  const std::string what = "verdict.json, computed again from " + again.runs;
  if (again.state == VerdictAgain::kDiffers)
    add_all(std::move(again.differences), what + ": ", out);
  else
    out.push_back({what, again.state == VerdictAgain::kSame ? DigestFinding::kSame
                                                            : DigestFinding::kNotGiven});
}

// What another program states may follow from anything: nothing here could hold it.
void require_test_result(const InTotoStatement& statement, const std::string& where) {
  if (statement.predicate_type == kTestResultType) return;
  throw Error(ErrorCode::environment,
              where + ": its predicate is '" + statement.predicate_type.substr(0, 80) +
                  "', expected '" + kTestResultType + "'",
              "isobit gate --statement writes one that can be verified");
}

// What is inside is looked at only where its bytes are those which were stated.
void verify_statement(const InTotoStatement& statement, const std::string& where,
                      const std::vector<std::string>& paths, VerificationResult& out) {
  require_test_result(statement, where);
  out.predicate_type = statement.predicate_type;
  out.result = result_of(statement, where);
  const std::vector<GivenFile> files = read_given(paths);
  std::vector<Resource> named = statement.subjects;
  for (const Resource& resource : configuration_of(statement, where)) named.push_back(resource);
  std::erase_if(named, [&](const Resource& resource) {
    if (!resource.content) return false;
    out.digests.push_back(
        compared(resource.name + " inside", sha256_of(resource), sha256_hex(*resource.content)));
    return true;
  });
  if (out.digests_hold()) add_all(disagreements_inside(statement, where), "", out.digests);
  if (out.digests_hold()) check_verdict(statement, files, where, out.digests);
  check_files(std::move(named), files, out.digests);
}

VerificationResult verify_envelope(const Json& root, const std::string& path,
                                   const std::vector<std::string>& files,
                                   const std::optional<PublicKey>& key) {
  const Envelope envelope = read_envelope(root, path);
  VerificationResult out{.kind = "envelope", .signature = SignatureFinding::kNotChecked};
  for (const EnvelopeSignature& signature : envelope.signatures)
    out.key_ids.push_back(signature.key_id);
  if (key) {
    const SignatureState state = check_signatures(envelope, *key);
    out.signature = state == SignatureState::kGood    ? SignatureFinding::kGood
                    : state == SignatureState::kWrong ? SignatureFinding::kWrong
                                                      : SignatureFinding::kUnknownKey;
  }
  if (envelope.payload_type != kInTotoPayloadType) {
    throw Error(ErrorCode::environment,
                path + ": its payload is '" + envelope.payload_type.substr(0, 80) +
                    "', expected '" + kInTotoPayloadType + "'",
                "isobit gate --statement writes one that can be verified");
  }
  verify_statement(parse_statement(envelope.payload, path + ": payload"), path, files, out);
  return out;
}

VerificationResult verify_bom(const Json& root, const std::string& path,
                              const std::vector<std::string>& files) {
  const Fingerprint fingerprint = fingerprint_of_bom(root, path);
  VerificationResult out{.kind = "bom"};
  out.digests.push_back(
      compared("fingerprint inside", fingerprint.id, fingerprint_id(fingerprint.items)));
  for (const std::string& part : parts_unlike_fingerprint(root, fingerprint))
    out.digests.push_back({part + " inside, by the fingerprint", DigestFinding::kDiffers, "", ""});
  check_files(model_files(fingerprint), read_given(files), out.digests);
  return out;
}

VerificationResult verify_bundle(const std::string& path) {
  VerificationResult out{.kind = "bundle"};
  const std::string bytes = read_file(path, kMaxBundleBytes);
  for (const MemberCheck& member : check_bundle(bytes, path)) {
    out.digests.push_back(compared("member " + member.name, member.listed, member.found));
    if (member.found.empty()) out.digests.back().finding = DigestFinding::kMissing;
    if (member.listed.empty()) out.digests.back().finding = DigestFinding::kNotNamed;
  }
  if (!out.digests_hold()) return out;
  const std::string where = "bundle '" + path + "'";
  const RunBundle bundle = read_bundle(bytes, where, RunDigests::kLeftToCaller);
  for (size_t i = 0; i < bundle.runs.size(); ++i)
    out.digests.push_back(compared(run_resource_name(bundle.runs[i].id), bundle.listed_digests[i],
                                   run_digest(bundle.runs[i])));
  if (!out.digests_hold()) return out;
  require_sound_bundle(bundle, where);
  return out;
}

// What else isobit writes and verifies by another command.
[[noreturn]] void refuse_kind(const std::string& text, const std::string& path) {
  if (begins_as_baseline_file(text))
    throw Error(ErrorCode::environment, path + ": is a baseline file, whose run has no signature",
                "whatever reads it checks its digests: isobit baseline import " + shell_word(path) +
                    "; isobit baseline verify NAME then asks the model again");
  throw Error(ErrorCode::environment,
              path + ": is no bundle, statement, envelope or bill of materials",
              "isobit gate --statement, store export and fingerprint --cyclonedx write them");
}

}  // namespace

const char* name(SignatureFinding finding) {
  static constexpr const char* kNames[] = {"none",  "unsigned",    "not_checked", "good",
                                           "wrong", "unknown_key", "expected"};
  return kNames[static_cast<int>(finding)];
}

const char* name(DigestFinding finding) {
  static constexpr const char* kNames[] = {"same", "differs", "missing", "not_named", "not_given"};
  return kNames[static_cast<int>(finding)];
}

bool VerificationResult::digests_hold() const {
  return std::ranges::all_of(digests, [](const DigestCheck& check) {
    return check.finding == DigestFinding::kSame || check.finding == DigestFinding::kNotGiven;
  });
}

VerificationResult verify_file(const std::string& path, const std::vector<std::string>& files,
                               const std::optional<PublicKey>& key) {
  if (is_bundle_file(path)) {
    if (!files.empty())
      throw Error(ErrorCode::usage, "FILES go with a statement or a BOM; '" + path +
                                        "' is a bundle, which holds all that it names");
    return verify_bundle(path);
  }
  const std::string text = read_file(path, kMaxStatementBytes);
  const Json root = parse_stored_json(text, path);
  if (looks_like_envelope(root)) return verify_envelope(root, path, files, key);
  if (looks_like_bom(root)) return verify_bom(root, path, files);
  if (looks_like_statement(root)) {
    VerificationResult out{
        .kind = "statement",
        .signature = key ? SignatureFinding::kExpected : SignatureFinding::kUnsigned};
    verify_statement(read_statement(root, path), path, files, out);
    return out;
  }
  refuse_kind(text, path);
}

}  // namespace isobit::app
