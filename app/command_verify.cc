// `isobit verify FILE [FILES...]`: signatures, and every digest inside a bundle, a statement or a
// bill of materials.
//
// Exit codes: 0 all holds; 1 a digest differs, a signature is wrong, or one was expected and there
// is none; 2 a signature is there and no key was given to check it with; 3 unreadable; 6 signed,
// but by another key than the one that must match.
#include <algorithm>

#include <fmt/format.h>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/verification.h"
#include "base/error.h"
#include "base/file.h"
#include "report/report.h"
#include "report/text_table.h"
#include "report/untrusted_text.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxKeyBytes = 64 << 10;

struct VerifyArguments {
  std::string file, key;
  std::vector<std::string> files;
  bool digests_only = false;
};

int verify_exit_code(const VerificationResult& r, const VerifyArguments& a) {
  if (r.signature == SignatureFinding::kUnknownKey) return kIncomparable;
  const bool bad_signature =
      r.signature == SignatureFinding::kWrong || r.signature == SignatureFinding::kExpected;
  if (bad_signature || !r.digests_hold()) return kDiverged;
  return r.signature == SignatureFinding::kNotChecked && !a.digests_only ? kUsage : kOk;
}

Json result_json(const VerificationResult& r, const std::string& file, int code) {
  Json digests = Json::array(), keys = Json::array();
  for (const DigestCheck& check : r.digests) {
    digests.push_back({{"what", json_text(check.what)},
                       {"finding", name(check.finding)},
                       {"expected", json_text(check.expected)},
                       {"found", json_text(check.found)}});
  }
  for (const std::string& key : r.key_ids) keys.push_back(json_text(key));
  return {{"file", json_text(file)},
          {"kind", r.kind},
          {"verified", code == kOk},
          {"signature", name(r.signature)},
          {"key_ids", std::move(keys)},
          {"predicate_type", json_text(r.predicate_type)},
          {"result", r.result.empty() ? Json() : Json(r.result)},
          {"digests", std::move(digests)}};
}

std::string keys_of(const VerificationResult& r) {
  std::string out;
  for (const std::string& key : r.key_ids)
    out += (out.empty() ? "" : ", ") + (key.empty() ? "unnamed" : printable(key).substr(0, 64));
  return out;
}

std::string signature_text(const VerificationResult& r) {
  switch (r.signature) {
    case SignatureFinding::kNone:
      return "a " + r.kind + " carries none";
    case SignatureFinding::kUnsigned:
      return "UNSIGNED: nobody vouches for it";
    case SignatureFinding::kNotChecked:
      return "NOT CHECKED: signed by " + keys_of(r);
    case SignatureFinding::kGood:
      return "good";
    case SignatureFinding::kWrong:
      return "WRONG: these bytes are not what the key signed";
    case SignatureFinding::kUnknownKey:
      return "ANOTHER KEY: signed by " + keys_of(r);
    case SignatureFinding::kExpected:
      return "MISSING: a key was given, and the statement is unsigned";
  }
  return "";
}

const char* finding_text(DigestFinding finding) {
  switch (finding) {
    case DigestFinding::kSame:
      return "same";
    case DigestFinding::kDiffers:
      return "DIFFERS";
    case DigestFinding::kMissing:
      return "MISSING";
    case DigestFinding::kNotNamed:
      return "NOT NAMED";
    case DigestFinding::kNotGiven:
      return "not given";
  }
  return "";
}

// What differs, with both sides.
std::string differences_text(const VerificationResult& r) {
  constexpr size_t kMaxShown = 200;
  const auto shown = [&](const std::string& text) {
    return text.empty() ? "nothing" : visible_text(text, kMaxShown);
  };
  std::string out;
  for (const DigestCheck& check : r.digests) {
    const bool says_both = !check.expected.empty() || !check.found.empty();
    if (check.finding != DigestFinding::kDiffers || !says_both) continue;
    out += fmt::format("\n{}:\n  expected {}\n  found    {}\n", printable(check.what),
                       shown(check.expected), shown(check.found));
  }
  return out;
}

std::string result_text(const VerificationResult& r, const std::string& file, int code) {
  std::string out =
      fmt::format("{}: {}\nsignature: {}\n", printable(file), r.kind, signature_text(r));
  if (!r.result.empty()) out += "result: " + r.result + "\n";
  if (r.result.empty() && !r.predicate_type.empty())
    out += "says: " + printable(r.predicate_type) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const DigestCheck& check : r.digests) {
    const std::string& shown = check.expected.empty() ? check.found : check.expected;
    rows.push_back(
        {finding_text(check.finding), is_sha256_hex(shown) ? shown.substr(0, 12) : "", check.what});
  }
  out +=
      "\n" +
      text_table({{"digest", Align::kLeft}, {"sha256", Align::kLeft}, {"of", Align::kLeft}}, rows);
  out += differences_text(r);
  if (code != kOk) return out + "\nNOT verified\n";
  const auto n_not_given =
      std::ranges::count(r.digests, DigestFinding::kNotGiven, &DigestCheck::finding);
  return out + (n_not_given == 0 ? "\nverified\n"
                                 : fmt::format("\nverified, but for {} that {} not given\n",
                                               n_not_given, n_not_given == 1 ? "was" : "were"));
}

int verify(const VerifyArguments& a, Session& session) {
  std::optional<PublicKey> key;
  if (!a.key.empty())
    key = PublicKey::from_pem(read_file(a.key, kMaxKeyBytes), "key '" + a.key + "'");
  const VerificationResult r = verify_file(a.file, a.files, key);
  const bool takes_key = r.kind == "envelope" || r.kind == "statement";
  if (key && !takes_key)
    throw Error(ErrorCode::usage, "--key: a " + r.kind + " carries no signature",
                "isobit gate --statement --subject " + a.file + " signs for it");
  const int code = verify_exit_code(r, a);
  session.console.result(session.flags.json ? json_line(result_json(r, a.file, code))
                                            : result_text(r, a.file, code));
  if (code == kUsage)
    session.console.warn("the signature was not checked: give --key PUBLIC.pem, or --digests-only");
  return code;
}

}  // namespace

std::function<int()> declare_verify(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<VerifyArguments>();
  app.add_option("FILE", arguments->file,
                 "A bundle (store export), a statement (gate --statement) or a BOM "
                 "(fingerprint --cyclonedx)")
      ->required();
  app.add_option("FILES", arguments->files,
                 "Files that a statement or BOM may name: which of them are what it names?");
  CLI::Option* key = app.add_option("--key", arguments->key,
                                    "Ed25519 public key, PEM file: who must have signed it")
                         ->check(not_empty);
  app.add_flag("--digests-only", arguments->digests_only, "Leave signatures unchecked")
      ->excludes(key);
  return [arguments, &session] { return verify(*arguments, session); };
}

}  // namespace isobit::app
