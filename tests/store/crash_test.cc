// kill -9 while recording: whatever was acknowledged is there afterwards, nothing is there twice,
// and a resumed run ends like one that was never interrupted.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "store/store.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

// Records `samples` in a child process that reports each landing through a pipe, and kills it after
// `n_before_kill` landings. Returns how many landings were reported in all.
size_t record_and_kill(const std::filesystem::path& path, const RunRecord& header,
                       const std::vector<SampleRecord>& samples, size_t n_before_kill,
                       bool first_time) {
  int acknowledged[2];
  REQUIRE(::pipe(acknowledged) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::close(acknowledged[0]);
    try {
      Store store = Store::open(path, StoreMode::kRecord);
      if (first_time) store.create_run(header);
      const auto recorder = store.recorder(header.id);
      for (const SampleRecord& s : samples) {
        recorder->sample(s);
        const char byte = 1;
        if (::write(acknowledged[1], &byte, 1) != 1) ::_exit(3);
      }
      for (;;) ::pause();  // so that the kill always comes before the clean close
    } catch (...) {
      ::_exit(2);
    }
  }
  ::close(acknowledged[1]);
  size_t n = 0;
  char byte;
  while (n < n_before_kill && ::read(acknowledged[0], &byte, 1) == 1) ++n;
  ::kill(child, SIGKILL);
  while (::read(acknowledged[0], &byte, 1) == 1) ++n;  // landed between the decision and the kill
  ::close(acknowledged[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  return n;
}

}  // namespace

TEST_CASE("a killed recorder loses no acknowledged sample and doubles none") {
  const uint32_t seed = 20260102;
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    const ScratchFolder folder;
    RunRecord header = sample_header("run-1");
    std::vector<SampleRecord> samples;
    for (int32_t repeat = 0; repeat < 20; ++repeat) {
      for (SampleRecord s : sample_answers(header, 16)) {
        if (s.repeat != 0) continue;
        s.repeat = repeat;
        samples.push_back(std::move(s));
      }
    }
    size_t n_acknowledged = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const size_t kill_after = 1 + random() % (samples.size() - 1);
      n_acknowledged = std::max(n_acknowledged, record_and_kill(folder / "s.db", header, samples,
                                                                kill_after, attempt == 0));
      Store store = Store::open(
          folder / "s.db", StoreMode::kRead);  // with the journal of the dead process beside it
      const RunRecord back = store.load_run("run-1");
      CHECK(back.status == "running");
      CHECK(back.samples.size() >= n_acknowledged);
      CHECK(back.samples.size() <= n_acknowledged + 1);  // one may be stored and not yet reported
      CHECK(store.check().empty());
      n_acknowledged = back.samples.size();
    }
    Store store = Store::open(folder / "s.db", StoreMode::kRecord);
    const auto recorder = store.recorder("run-1");
    size_t n_new = 0;
    for (const SampleRecord& s : samples) {
      const Landing landing = recorder->sample(s);
      REQUIRE(landing != Landing::kAlreadyDifferent);
      n_new += landing == Landing::kStored;
    }
    CHECK(n_new == samples.size() - n_acknowledged);
    CHECK(store.info().n_samples == static_cast<int64_t>(samples.size()));
    store.close();
    CHECK_FALSE(std::filesystem::exists(folder / "s.db-wal"));
    CHECK(Store::open(folder / "s.db", StoreMode::kRead).load_run("run-1").samples.size() ==
          samples.size());
  }
}
