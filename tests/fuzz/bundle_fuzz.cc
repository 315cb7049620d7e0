// A bundle, as `gate FILE` and `store import` read it. Its manifest would keep every change from
// the readers behind it, so each input is read as it is and once more with its manifest made right.
#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "bundle/run_bundle.h"
#include "bundle/tar_archive.h"
#include "record/answer_counts.h"
#include "record/fact_bounds.h"
#include "tests/fuzz/fuzz_target.h"

namespace isobit::test {

const size_t kAllowanceBytes = 16 * kMiB;

namespace {

std::string with_right_manifest(std::string_view input) {
  std::vector<TarMember> files = read_tar(input, "f");
  if (files.empty()) return std::string(input);
  Json manifest = parse_json(files[0].content, "f");
  if (!manifest.is_object()) return std::string(input);
  manifest["members"] = Json::array();
  for (size_t i = 1; i < files.size(); ++i) {
    manifest["members"].push_back({{"name", files[i].name},
                                   {"bytes", files[i].content.size()},
                                   {"sha256", sha256_hex(files[i].content)}});
  }
  const std::string text = manifest.dump();
  files[0].content = text;
  return tar_bytes(files);
}

void read_and_write(std::string_view input) {
  const RunBundle bundle = read_bundle(input, "f");
  for (const RunRecord& run : bundle.runs) {
    static_cast<void>(facts_out_of_bounds(run));
    static_cast<void>(wrong_answer_counts(run));
  }
  const std::string bytes = bundle_bytes(bundle);
  expect(begins_as_tar(bytes), "a bundle that is not known for one");
  expect(bundle_bytes(read_bundle(bytes, "again")) == bytes,
         "a bundle that does not come back as it was written");
}

}  // namespace

void read_hostile(std::string_view input) {
  try {
    static_cast<void>(check_bundle(input, "f"));
    read_and_write(input);
  } catch (const Error& e) {
    expect(e.code() == ErrorCode::environment, "a damaged file is the environment's fault");
  }
  read_and_write(with_right_manifest(input));
}

}  // namespace isobit::test
