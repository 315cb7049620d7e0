// A bundle gives back what went in, to the bit, and notices what happened to it on the way.
#include "bundle/run_bundle.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "bundle/tar_archive.h"
#include "record/run_json.h"
#include "tests/record/recorded_run.h"

using namespace isobit;
using isobit::testing::recorded_run;

namespace {

using Files = std::map<std::string, std::string>;

RunRecord run_named(const std::string& id, const std::string& created) {
  RunRecord run = recorded_run();
  run.id = id;
  run.created = created;
  return run;
}

RunBundle two_runs() {
  return {.runs = {run_named("a-late", "2026-01-03T00:00:00Z"),
                   run_named("b-early", "2026-01-02T00:00:00Z")},
          .policy = "{\n  // why\n  \"level\": 1\n}\n"};
}

Files files_of(const std::string& bytes) {
  Files out;
  for (const TarMember& member : read_tar(bytes, "x.tar")) out[member.name] = member.content;
  return out;
}

std::string tar_of(const Files& files) {
  std::vector<TarMember> members;
  for (const auto& [name, content] : files) members.push_back({name, content});
  return tar_bytes(members);
}

// What an edit gives that also makes the manifest's sizes and checksums right again.
std::string vouched(Files files) {
  Json manifest = parse_json(files["manifest.json"], "m");
  manifest["members"] = Json::array();
  for (const auto& [name, content] : files) {
    if (name == "manifest.json") continue;
    manifest["members"].push_back(
        {{"name", name}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
  }
  files["manifest.json"] = canonical_json(manifest) + "\n";
  return tar_of(files);
}

std::string refusal(const std::string& bytes) {
  try {
    read_bundle(bytes, "x.tar");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::environment);
    CHECK(e.message().starts_with("x.tar"));
    return e.message() + " | " + e.hint();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("runs come back with their bits, the oldest first, whatever order they went in") {
  RunBundle in = two_runs();
  const std::string bytes = bundle_bytes(in);
  std::swap(in.runs[0], in.runs[1]);
  CHECK(bundle_bytes(in) == bytes);
  const RunBundle out = read_bundle(bytes, "x.tar");
  REQUIRE(out.runs.size() == 2);
  CHECK(out.runs[0].id == "b-early");
  CHECK(out.runs[1].id == "a-late");
  CHECK(out.policy == in.policy);
  for (const RunRecord& run : out.runs) {
    const RunRecord& was = in.runs[in.runs[0].id == run.id ? 0 : 1];
    CHECK(canonical_json(run_sections(run)) == canonical_json(run_sections(was)));
    CHECK(run_digest(run) == run_digest(was));
  }
  CHECK(bundle_bytes(out) == bytes);
}

TEST_CASE("a bundle is files that other programs can read") {
  const Files files = files_of(bundle_bytes(two_runs()));
  CHECK(files.size() == 2 + 2 * 6);
  CHECK(files.begin()->first == "manifest.json");
  CHECK(files.at("policy.json") == two_runs().policy);
  const std::string& samples = files.at("runs/a-late/samples.jsonl");
  CHECK(std::count(samples.begin(), samples.end(), '\n') == 4);
}

TEST_CASE("a bundle without a policy has no such member") {
  const std::string bytes = bundle_bytes({.runs = {recorded_run()}, .policy = ""});
  CHECK(!files_of(bytes).contains("policy.json"));
  CHECK(read_bundle(bytes, "x.tar").policy.empty());
}

TEST_CASE("a policy that is empty or larger than a policy file may be is refused") {
  const Files files = files_of(bundle_bytes(two_runs()));
  Files edited = files;
  edited["policy.json"] = "";
  CHECK(has(refusal(vouched(edited)), "policy.json is empty"));
  edited["policy.json"] = std::string(kMaxPolicyBytes, ' ');
  CHECK(refusal(vouched(edited)).empty());
  edited["policy.json"] += ' ';
  CHECK(has(refusal(vouched(edited)), "policy.json has 4194305 bytes, at most 4194304"));
  CHECK_THROWS_AS(bundle_bytes({.runs = {recorded_run()}, .policy = edited["policy.json"]}), Error);
}

TEST_CASE("runs that cannot be in a bundle are the caller's error") {
  const auto code = [](RunBundle bundle) {
    try {
      bundle_bytes(std::move(bundle));
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::internal;
  };
  CHECK(code({}) == ErrorCode::usage);
  CHECK(code({.runs = {recorded_run(), recorded_run()}, .policy = ""}) == ErrorCode::usage);
  for (const char* id : {"..", ".", "a/b", ""})
    CHECK(code({.runs = {run_named(id, "2026-01-02T00:00:00Z")}, .policy = ""}) ==
          ErrorCode::usage);
}

TEST_CASE("a bundle cut at any byte is refused") {
  const std::string bytes = bundle_bytes({.runs = {recorded_run()}, .policy = "{}"});
  for (size_t n = 0; n < bytes.size(); ++n) {
    CAPTURE(n);
    CHECK(!refusal(bytes.substr(0, n)).empty());
  }
}

TEST_CASE("a flipped byte is refused or changes nothing that is read") {
  const std::string bytes = bundle_bytes({.runs = {recorded_run()}, .policy = "{}"});
  size_t n_refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    CAPTURE(at);
    if (refusal(changed).empty())
      CHECK(bundle_bytes(read_bundle(changed, "x.tar")) == bytes);
    else
      ++n_refused;
  }
  CHECK(n_refused > bytes.size() * 9 / 10);
}

TEST_CASE("members that are missing, not listed or changed are named") {
  const Files files = files_of(bundle_bytes(two_runs()));
  Files edited = files;
  edited.erase("runs/a-late/forced.jsonl");
  CHECK(has(refusal(tar_of(edited)), "'runs/a-late/forced.jsonl' is missing"));
  CHECK(has(refusal(vouched(edited)), "'runs/a-late/forced.jsonl' is missing"));
  edited = files;
  edited["runs/a-late/notes.txt"] = "hello";
  CHECK(has(refusal(tar_of(edited)), "'runs/a-late/notes.txt' is not in its manifest"));
  CHECK(has(refusal(vouched(edited)), "'runs/a-late/notes.txt' belongs to no run"));
  edited = files;
  replace(edited["runs/a-late/samples.jsonl"], "\"ttft_ms\":0.25", "\"ttft_ms\":0.75");
  CHECK(has(refusal(tar_of(edited)), "the checksum of member 'runs/a-late/samples.jsonl'"));
  CHECK(has(refusal(vouched(edited)), "the digest of run a-late"));
  edited = files;
  edited["policy.json"] += " ";
  CHECK(has(refusal(tar_of(edited)), "the checksum of member 'policy.json'"));
  edited = files;
  edited.erase("manifest.json");
  CHECK(has(refusal(tar_of(edited)), "manifest.json is not its first member"));
}

TEST_CASE("every member is held against its manifest, one by one") {
  Files files = files_of(bundle_bytes(two_runs()));
  files["policy.json"] += " ";
  files["runs/a-late/notes.txt"] = "hello";
  files.erase("runs/b-early/cells.jsonl");
  size_t n_same = 0;
  for (const MemberCheck& check : check_bundle(tar_of(files), "x.tar")) {
    CAPTURE(check.name);
    n_same += check.listed == check.found;
    if (check.name == "policy.json") CHECK((check.listed != check.found && !check.found.empty()));
    if (check.name == "runs/a-late/notes.txt") CHECK(check.listed.empty());
    if (check.name == "runs/b-early/cells.jsonl") CHECK(check.found.empty());
  }
  CHECK(n_same == 1 + 2 * 6 - 2);
}

TEST_CASE("a newer format is told from a damaged file") {
  Files files = files_of(bundle_bytes(two_runs()));
  replace(files["manifest.json"], "\"format_version\":1", "\"format_version\":2");
  files["manifest.json"].insert(1, "\"added_later\":{},");
  const std::string text = refusal(tar_of(files));
  CHECK(has(text, "its format_version is 2, this isobit reads 1"));
  CHECK(has(text, "use the isobit that wrote it"));
  replace(files["manifest.json"], "isobit.bundle", "isobit.other");
  CHECK(has(refusal(tar_of(files)), "its format is \"isobit.other\""));
}

TEST_CASE("a manifest that is not one is refused") {
  const Files files = files_of(bundle_bytes(two_runs()));
  for (const char* text : {"", "[]", "{}", "null", "{\"format\":\"isobit.bundle\"}", "{\xff"}) {
    Files edited = files;
    edited["manifest.json"] = text;
    CAPTURE(text);
    CHECK(!refusal(tar_of(edited)).empty());
  }
  const auto edit = [&](const std::string& from, const std::string& to) {
    Files edited = files;
    replace(edited["manifest.json"], from, to);
    return refusal(tar_of(edited));
  };
  CHECK(has(edit("\"id\":\"a-late\"", "\"id\":\"../x\""), "is no run's id"));
  CHECK(has(edit("2026-01-03", "2026-01-04"), "holds another run"));
  CHECK(!edit("\"bytes\":", "\"bytes\":9223372036854775807,\"bytez\":").empty());
  CHECK(!edit("\"bytes\":", "\"bytes\":-1,\"x\":").empty());
}

TEST_CASE("a line that does not end, and one that is empty, are refused") {
  Files files = files_of(bundle_bytes(two_runs()));
  Files edited = files;
  edited["runs/a-late/cells.jsonl"].pop_back();
  CHECK(has(refusal(vouched(edited)), "line 2: does not end"));
  edited = files;
  edited["runs/a-late/cells.jsonl"] += "\n";
  CHECK(!refusal(vouched(edited)).empty());
}

TEST_CASE("a tar archive is told by its first bytes") {
  CHECK(begins_as_tar(bundle_bytes(two_runs())));
  CHECK(!begins_as_tar(""));
  CHECK(!begins_as_tar("ustar"));
  CHECK(!begins_as_tar(std::string(300, 'x')));
}

TEST_CASE("a run's digest and a member's size are held against the manifest") {
  Files files = files_of(bundle_bytes({.runs = {recorded_run()}, .policy = ""}));
  const std::string digest = run_digest(recorded_run()), other(64, '0');
  replace(files["manifest.json"], digest, other);
  CHECK(has(refusal(tar_of(files)), "the digest of run run-1"));
  const RunBundle left = read_bundle(tar_of(files), "x.tar", RunDigests::kLeftToCaller);
  REQUIRE(left.listed_digests.size() == 1);
  CHECK(left.listed_digests[0] == other);
  CHECK(run_digest(left.runs[0]) == digest);
  files = files_of(bundle_bytes({.runs = {recorded_run()}, .policy = ""}));
  const std::string n_bytes = std::to_string(files["runs/run-1/cells.jsonl"].size());
  replace(files["manifest.json"], "\"bytes\":" + n_bytes, "\"bytes\":9" + n_bytes);
  CHECK(has(refusal(tar_of(files)), "bytes, its manifest says 9" + n_bytes));
}
