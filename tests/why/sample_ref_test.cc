#include "why/sample_ref.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/compare/recorded_answers.h"

using namespace isobit;
using namespace isobit::testing;

namespace {

ErrorCode code_of(const RunRecord& run, const char* words, std::string* message = nullptr) {
  try {
    find_sample(run, words);
  } catch (const Error& e) {
    if (message) *message = e.message() + " | " + e.hint();
    return e.code();
  }
  return ErrorCode::internal;
}

RunRecord run_with(std::initializer_list<const char*> ids) {
  RunRecord run = clean_run(static_cast<int32_t>(ids.size()));
  size_t i = 0;
  for (const char* id : ids) run.requests[i++].id = id;
  return run;
}

}  // namespace

TEST_CASE("a sample is found by whole names, by indices and by unique beginnings") {
  const RunRecord run = run_with({"alpha", "beta", "beta-2"});
  for (const char* words : {"load.concurrency=8/beta", "1/1", "load.concurrency=8/1", "1/beta"}) {
    const SampleAddress found = find_sample(run, words);
    CHECK(found.cell_index == 1);
    CHECK(found.key.prompt_index == 1);
    CHECK(found.key.repeat == 0);
    CHECK(found.key.sample_index == 0);
  }
  CHECK(find_sample(run, "ref/al").key.prompt_index == 0);
  CHECK(find_sample(run, "load.concurrency=3/beta-").key.prompt_index == 2);
}

TEST_CASE("repeats and choices follow a # and are told apart from ids that hold one") {
  RunRecord run = clean_run(2, 3);
  CHECK(find_sample(run, "reference/p1#2").key.repeat == 2);
  for (SampleRecord& s : run.samples) s.trace.sample_index = s.repeat;
  for (SampleRecord& s : run.samples) s.repeat = 0;
  CHECK(find_sample(run, "reference/p1#0.2").key.sample_index == 2);
  const RunRecord odd = run_with({"a#1", "a/b#x"});
  CHECK(find_sample(odd, "reference/a#1").key.prompt_index == 0);
  CHECK(find_sample(odd, "reference/a/b#x").key.prompt_index == 1);
}

TEST_CASE("a whole id goes before an index, and an index before a beginning") {
  const RunRecord run = run_with({"2", "7", "20"});
  CHECK(find_sample(run, "0/2").key.prompt_index == 0);
  CHECK(find_sample(run, "0/1").key.prompt_index == 1);
  CHECK(find_sample(run, "0/20").key.prompt_index == 2);
}

TEST_CASE("a cell's name may hold a slash") {
  RunRecord run = clean_run(2);
  run.cells[2].name = "night/day";
  CHECK(find_sample(run, "night/day/p1").cell_index == 2);
}

TEST_CASE("a reference reads back as what it was written from") {
  const RunRecord run = clean_run(2, 3);
  for (const SampleRecord& s : run.samples) {
    const SampleAddress address{.cell_index = s.cell_index,
                                .key = {.prompt_index = s.prompt_index, .repeat = s.repeat}};
    const std::string text = sample_ref(run, address);
    REQUIRE(text.starts_with("run-a/"));
    const SampleAddress back = find_sample(run, text.substr(6));
    CHECK(back.cell_index == s.cell_index);
    CHECK(back.key == address.key);
  }
}

TEST_CASE("what names nothing is refused with the nearest name, what names several with all") {
  const RunRecord run = run_with({"alpha", "beta-1", "beta-2"});
  std::string message;
  CHECK(code_of(run, "load.concurency=8/alpha", &message) == ErrorCode::usage);
  CHECK(message.find("did you mean 'load.concurrency=8'") != std::string::npos);
  CHECK(code_of(run, "reference/alhpa", &message) == ErrorCode::usage);
  CHECK(message.find("did you mean 'alpha'") != std::string::npos);
  CHECK(code_of(run, "reference/beta", &message) == ErrorCode::usage);
  CHECK(message.find("names 2 prompts of run run-a: 'beta-1', 'beta-2'") != std::string::npos);
  CHECK(code_of(run, "load/alpha", &message) == ErrorCode::usage);
  CHECK(message.find("names 2 cells") != std::string::npos);
  for (const char* words : {"", "reference", "reference/", "/alpha", "9/alpha", "reference/9"})
    CHECK(code_of(run, words) == ErrorCode::usage);
  CHECK(code_of(run, "reference/alpha#7", &message) == ErrorCode::usage);
  CHECK(message.find("has no sample run-a/reference/alpha#7") != std::string::npos);
}

TEST_CASE(
    "a sample that an unfinished run has not recorded yet is incomplete, not a typing error") {
  RunRecord run = clean_run(2);
  run.status = "running";
  std::erase_if(run.samples, [](const SampleRecord& s) { return s.cell_index == 2; });
  std::string message;
  CHECK(code_of(run, "2/p1", &message) == ErrorCode::incomplete);
  CHECK(message.find("--resume --run-id run-a") != std::string::npos);
  CHECK(find_sample(run, "1/p1").cell_index == 1);
}
