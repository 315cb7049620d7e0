#include "app/statement_file.h"

#include <cstdlib>
#include <filesystem>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "bundle/run_bundle.h"
#include "report/untrusted_text.h"
#include "statement/envelope.h"
#include "statement/test_result.h"

namespace isobit::app {
namespace {

constexpr size_t kMaxKeyBytes = 64 << 10;

// The commonest slip in CI: the secret itself where its name belongs. It must not reach the log.
void refuse_key_itself(const std::string& option, const std::string& value) {
  if (value.find("-----BEGIN") == value.npos && value.find('\n') == value.npos) return;
  throw Error(ErrorCode::usage, option + " was given the key itself",
              "--sign-key takes the path of a file, --sign-key-env the name of a variable");
}

std::optional<SigningKey> read_key(const StatementArguments& a) {
  refuse_key_itself("--sign-key", a.key_file);
  refuse_key_itself("--sign-key-env", a.key_variable);
  if (!a.key_file.empty())
    return SigningKey::from_pem(read_file(a.key_file, kMaxKeyBytes), "key '" + a.key_file + "'");
  if (a.key_variable.empty()) return std::nullopt;
  const char* pem = std::getenv(a.key_variable.c_str());
  if (!pem || !*pem)
    throw Error(ErrorCode::usage, "--sign-key-env: the variable '" + a.key_variable + "' is empty",
                "it holds the key itself, as PEM text");
  return SigningKey::from_pem(pem, "the key in the variable '" + a.key_variable + "'");
}

std::vector<Resource> subject_files(const std::vector<std::string>& paths) {
  std::vector<Resource> out;
  for (const std::string& path : paths) out.push_back(file_resource(path));
  return out;
}

}  // namespace

void declare_statement_options(CLI::App& app, StatementArguments& a) {
  CLI::Option* file =
      app.add_option("--statement", a.file,
                     "Also write the verdict as an in-toto statement (test-result v0.1)")
          ->check(not_empty);
  CLI::Option* key =
      app.add_option("--sign-key", a.key_file, "Sign it: an Ed25519 private key, PEM file")
          ->check(not_empty)
          ->needs(file);
  app.add_option("--sign-key-env", a.key_variable,
                 "Sign it: the environment variable that holds the PEM text")
      ->check(not_empty)
      ->needs(file)
      ->excludes(key);
  app.add_option("--subject", a.subjects,
                 "A file that the statement vouches for as well; may be given several times")
      ->allow_extra_args(false)
      ->needs(file);
}

StatementWriter::StatementWriter(const StatementArguments& arguments)
    : arguments_(arguments), key_(read_key(arguments)) {}

void StatementWriter::write(const RunRecord* base, const RunRecord& candidate,
                            const Verdict& verdict, Session& session,
                            const RecordedDigests& digests) const {
  if (arguments_.file.empty()) return;
  const auto digest_of = [](const RunRecord& run, const std::string& recorded) {
    return recorded.empty() ? run_digest(run) : recorded;
  };
  const InTotoStatement statement =
      test_result_statement({.verdict = verdict,
                             .candidate = candidate,
                             .candidate_digest = digest_of(candidate, digests.candidate),
                             .base = base,
                             .base_digest = base ? digest_of(*base, digests.base) : "",
                             .files = subject_files(arguments_.subjects),
                             .now = session.flags.now});
  const std::string payload = statement_text(statement);
  write_file_atomically(
      arguments_.file,
      key_ ? envelope_text(signed_envelope(kInTotoPayloadType, payload, *key_)) : payload + "\n");
  session.console.say(arguments_.file + ": " + statement.predicate.at("result").get<std::string>() +
                      (key_ ? ", signed by key " + key_->id().substr(0, 12)
                            : ", UNSIGNED: nobody vouches for it (--sign-key signs)"));
}

Resource file_resource(const std::string& path) {
  const MappedFile file(path);
  Sha256 sha;
  sha.update(file.data(), file.size_bytes());
  Resource out;
  out.name = json_text(std::filesystem::path(path).filename().string());
  out.digests["sha256"] = hex(sha.finish());
  return out;
}

}  // namespace isobit::app
