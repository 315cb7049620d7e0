// What is recorded comes back, bit for bit, and a store says no in words when it must.
#include "store/store.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "store/database.h"
#include "store/migrations.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;
namespace fs = std::filesystem;

namespace {

void require_same_trace(const Trace& a, const Trace& b) {
  REQUIRE(a.request_id == b.request_id);
  REQUIRE(a.sample_index == b.sample_index);
  REQUIRE(a.seed == b.seed);
  REQUIRE(a.finish_reason == b.finish_reason);
  REQUIRE(a.text == b.text);
  REQUIRE(a.error == b.error);
  REQUIRE(a.non_finite == b.non_finite);
  REQUIRE(a.ttft_ms == b.ttft_ms);
  REQUIRE(a.total_ms == b.total_ms);
  REQUIRE(a.scheduling.prefill_chunks_tokens == b.scheduling.prefill_chunks_tokens);
  REQUIRE(a.scheduling.max_batch_requests == b.scheduling.max_batch_requests);
  REQUIRE(a.scheduling.min_batch_requests == b.scheduling.min_batch_requests);
  REQUIRE(a.scheduling.max_batch_tokens == b.scheduling.max_batch_tokens);
  REQUIRE(a.scheduling.first_row == b.scheduling.first_row);
  REQUIRE(a.scheduling.n_steps == b.scheduling.n_steps);
  REQUIRE(a.scheduling.n_mixed_steps == b.scheduling.n_mixed_steps);
  REQUIRE(a.scheduling.n_cached_tokens == b.scheduling.n_cached_tokens);
  REQUIRE(a.scheduling.n_preemptions == b.scheduling.n_preemptions);
  REQUIRE(a.embedding == b.embedding);
  REQUIRE(a.positions.size() == b.positions.size());
  for (size_t i = 0; i < a.positions.size(); ++i) {
    const TracePosition &x = a.positions[i], &y = b.positions[i];
    CAPTURE(i);
    REQUIRE(x.token_id == y.token_id);
    REQUIRE(bits(x.logprob) == bits(y.logprob));
    REQUIRE(x.margin.has_value() == y.margin.has_value());
    if (x.margin) REQUIRE(bits(*x.margin) == bits(*y.margin));
    REQUIRE(x.logits_hash == y.logits_hash);
    REQUIRE(x.top.size() == y.top.size());
    for (size_t k = 0; k < x.top.size(); ++k) {
      REQUIRE(x.top[k].token_id == y.top[k].token_id);
      REQUIRE(bits(x.top[k].logprob) == bits(y.top[k].logprob));
    }
  }
}

}  // namespace

TEST_CASE(
    "teacher-forced positions come back with their sample; a second delivery changes nothing") {
  const ScratchFolder folder;
  RunRecord header = sample_header("run-1");
  header.redacted = true;
  const std::vector<SampleRecord> samples = sample_answers(header, 4);
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(header);
  record_all(store, header, samples);
  ForcedRecord forced;
  forced.cell_index = 2;
  forced.prompt_index = forced.repeat = forced.sample_index = 1;
  forced.positions = sample_trace(header.requests[1], 1, 6).positions;
  forced.positions[2].logits_hash.reset();
  ForcedRecord over_another = forced;
  over_another.over_run = "run-0";
  over_another.positions.resize(3);
  {
    const auto recorder = store.recorder("run-1");
    recorder->forced(over_another);
    recorder->forced(forced);
    forced.positions[0].token_id = 77;
    recorder->forced(forced);
  }
  store.note_stop("run-1", "--max-seconds 3");
  const RunRecord run = store.load_run("run-1");
  CHECK(run.redacted);
  CHECK(run.stop_reason == "--max-seconds 3");
  REQUIRE(run.forced.size() == 2);
  CHECK(run.forced[0].over_run.empty());
  CHECK(run.forced[1].over_run == "run-0");
  CHECK(run.forced[1].positions.size() == 3);
  CHECK(run.forced[0].cell_index == 2);
  CHECK(run.forced[0].prompt_index == 1);
  CHECK(run.forced[0].repeat == 1);
  CHECK(run.forced[0].sample_index == 1);
  Trace expected, found;
  expected.positions = sample_trace(header.requests[1], 1, 6).positions;
  expected.positions[2].logits_hash.reset();
  found.positions = run.forced[0].positions;
  require_same_trace(expected, found);
  store.finish_run("run-1");
  CHECK(store.load_run("run-1").stop_reason.empty());
}

TEST_CASE(
    "a store of an older schema is read as it is, unchanged, and brought up to date by recording") {
  const ScratchFolder folder;
  {
    Database old(folder / "old.db", DatabaseAccess::kCreate, 0);
    migrate(old, migrations().first(1));
    old.execute(
        "INSERT INTO run VALUES (1, 'run-1', '2026-01-02T03:04:05Z', 'fake', '', '{}', '00', 'f1', "
        "'complete')");
  }
  const std::string before = read_file(folder / "old.db");
  {
    Store store = Store::open(folder / "old.db", StoreMode::kRead);
    const RunRecord run = store.load_run("run-1");
    CHECK(run.status == "complete");
    CHECK_FALSE(run.redacted);
    CHECK(store.check().empty());
  }
  CHECK(read_file(folder / "old.db") == before);
  Store::open(folder / "old.db", StoreMode::kRecord).create_run(sample_header("run-2"));
  Store store = Store::open(folder / "old.db", StoreMode::kRead);
  CHECK(store.info().schema_version == current_schema_version());
  CHECK(store.list_runs().size() == 2);
}

TEST_CASE("a run comes back as it was recorded, odd values included") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("run-1");
  std::vector<SampleRecord> samples = sample_answers(header, 8);
  Trace& odd = samples[0].trace;
  odd.text = std::string("a\0b\xff", 4);  // a NUL, and a byte that begins no UTF-8 sequence
  odd.seed = std::numeric_limits<uint64_t>::max();
  odd.positions[0].logprob = std::bit_cast<float>(0x7fc00123u);  // a NaN with a payload
  odd.positions[1].logprob = -0.0f;
  odd.positions[2].logprob = -std::numeric_limits<float>::infinity();
  odd.positions[3].margin.reset();
  odd.positions[3].logits_hash.reset();
  odd.positions[4].top.clear();
  odd.non_finite = true;
  odd.embedding = {1.5f, -0.0f, 3e-39f};
  samples[1].trace.positions.clear();
  samples[1].trace.finish_reason = FinishReason::kError;
  samples[1].trace.error = "the server said no";
  {
    Store store = Store::open(folder / "s.db", StoreMode::kRecord);
    store.create_run(header);
    record_all(store, header, samples);
    store.finish_run("run-1");
  }
  Store store = Store::open(folder / "s.db", StoreMode::kRead);
  const RunRecord back = store.load_run("run-1");
  CHECK(back.status == "complete");
  CHECK(back.created == header.created);
  CHECK(back.target == header.target);
  CHECK(back.label == header.label);
  CHECK(back.plan_json == header.plan_json);
  CHECK(back.prompts_digest == header.prompts_digest);
  CHECK(back.prompt_texts == header.prompt_texts);
  CHECK(back.fingerprint.id == header.fingerprint.id);
  REQUIRE(back.fingerprint.items.size() == header.fingerprint.items.size());
  for (size_t i = 0; i < back.fingerprint.items.size(); ++i) {
    CHECK(back.fingerprint.items[i].name == header.fingerprint.items[i].name);
    CHECK(back.fingerprint.items[i].item_class == header.fingerprint.items[i].item_class);
    CHECK(back.fingerprint.items[i].value == header.fingerprint.items[i].value);
    CHECK(back.fingerprint.items[i].source == header.fingerprint.items[i].source);
    CHECK(back.fingerprint.items[i].reason == header.fingerprint.items[i].reason);
  }
  REQUIRE(back.requests.size() == header.requests.size());
  for (size_t i = 0; i < back.requests.size(); ++i) {
    const Request &a = back.requests[i], &b = header.requests[i];
    CHECK(a.id == b.id);
    CHECK(a.prompt_token_ids == b.prompt_token_ids);
    CHECK(a.forced_token_ids == b.forced_token_ids);
    CHECK(a.max_tokens == b.max_tokens);
    CHECK(a.n_top == b.n_top);
    CHECK(a.tags == b.tags);
    CHECK(a.stop.strings == b.stop.strings);
    CHECK(a.stop.token_ids == b.stop.token_ids);
    CHECK(a.stop.ignore_eos == b.stop.ignore_eos);
    CHECK(a.sampling.logit_bias == b.sampling.logit_bias);
    CHECK(a.sampling.seed == b.sampling.seed);
    CHECK(a.sampling.seed_source == b.sampling.seed_source);
    CHECK(a.sampling.temperature == b.sampling.temperature);
    CHECK(a.sampling.top_k == b.sampling.top_k);
    CHECK(a.sampling.top_p == b.sampling.top_p);
    CHECK(a.sampling.min_p == b.sampling.min_p);
    CHECK(a.sampling.repetition_penalty == b.sampling.repetition_penalty);
    CHECK(a.sampling.frequency_penalty == b.sampling.frequency_penalty);
    CHECK(a.sampling.presence_penalty == b.sampling.presence_penalty);
    CHECK(a.sampling.n == b.sampling.n);
  }
  REQUIRE(back.cells.size() == header.cells.size());
  for (size_t i = 0; i < back.cells.size(); ++i) {
    CHECK(back.cells[i].name == header.cells[i].name);
    CHECK(back.cells[i].values == header.cells[i].values);
    CHECK(back.cells[i].reference_index == header.cells[i].reference_index);
    CHECK(back.cells[i].complete);
    CHECK(back.cells[i].exercised == (i != 2));
    CHECK(back.cells[i].not_exercised_reason == (i == 2 ? "planted" : ""));
    CHECK(back.cells[i].wall_ms == 12.5);
  }
  REQUIRE(back.samples.size() == samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    CAPTURE(i);
    REQUIRE(back.samples[i].cell_index == samples[i].cell_index);
    REQUIRE(back.samples[i].prompt_index == samples[i].prompt_index);
    REQUIRE(back.samples[i].repeat == samples[i].repeat);
    require_same_trace(back.samples[i].trace, samples[i].trace);
  }
  CHECK(store.check().empty());
}

TEST_CASE("after a clean close the store is one file without a journal") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("run-1");
  {
    Store store = Store::open(folder / "s.db", StoreMode::kRecord);
    store.create_run(header);
    CHECK(fs::exists(folder / "s.db-wal"));
    record_all(store, header, sample_answers(header, 4));
    store.close();
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename());
  CHECK(names == std::vector<std::string>{"s.db"});
  CHECK(read_file(folder / "s.db").substr(18, 2) == std::string("\1\1", 2));  // header: no WAL
}

TEST_CASE(
    "a sample that arrives twice is stored once, and the second says whether it was the same") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("run-1");
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(header);
  const auto recorder = store.recorder("run-1");
  SampleRecord sample = sample_answers(header, 4)[0];
  CHECK(recorder->sample(sample) == Landing::kStored);
  sample.trace.total_ms = 99;  // time is no part of the answer
  CHECK(recorder->sample(sample) == Landing::kAlreadySame);
  SampleRecord other = sample;
  other.trace.positions[2].logprob = std::nextafter(other.trace.positions[2].logprob, 0.0f);
  CHECK(recorder->sample(other) == Landing::kAlreadyDifferent);
  other = sample;
  other.trace.positions[1].logits_hash.reset();
  CHECK(recorder->sample(other) == Landing::kAlreadyDifferent);
  other = sample;
  other.trace.positions.pop_back();
  CHECK(recorder->sample(other) == Landing::kAlreadyDifferent);
  const RunRecord back = store.load_run("run-1");
  REQUIRE(back.samples.size() == 1);
  CHECK(back.samples[0].trace.total_ms == sample_answers(header, 4)[0].trace.total_ms);
}

TEST_CASE("a run is named by latest, latest~N, its id or a unique beginning") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  CHECK(error_of([&] { store.resolve_ref("latest"); }).code() == ErrorCode::usage);
  for (const char* id : {"aa11", "aa22", "aa2", "bb33"}) store.create_run(sample_header(id));
  CHECK(store.resolve_ref("latest") == "bb33");
  CHECK(store.resolve_ref("latest~0") == "bb33");
  CHECK(store.resolve_ref("latest~3") == "aa11");
  CHECK(store.resolve_ref("b") == "bb33");
  CHECK(store.resolve_ref("aa2") == "aa2");  // an exact id, though it begins another
  CHECK(error_of([&] { store.resolve_ref("latest~4"); }).message().find("4 runs") !=
        std::string::npos);
  CHECK(error_of([&] { store.resolve_ref("aa"); }).message().find("aa11, aa22, aa2") !=
        std::string::npos);
  CHECK(error_of([&] { store.resolve_ref("bb34"); }).message().find("did you mean 'bb33'") !=
        std::string::npos);
  CHECK(error_of([&] { store.resolve_ref("@baseline"); }).code() == ErrorCode::usage);
  for (const char* bad :
       {"", "latest~", "latest~-1", "latest~x", "latest~99999999999999999999", "zz"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { store.resolve_ref(bad); }).code() == ErrorCode::usage);
  }
}

TEST_CASE("a run id is taken once and has a plain spelling") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(sample_header("run-1"));
  CHECK(error_of([&] { store.create_run(sample_header("run-1")); }).message().find("already") !=
        std::string::npos);
  for (const std::string& bad : {std::string(), std::string("a b"), std::string(65, 'a'),
                                 std::string("../x"), std::string("a\n")}) {
    CHECK(error_of([&] { store.create_run(sample_header(bad)); }).code() == ErrorCode::usage);
  }
  CHECK(store.list_runs().size() == 1);
  CHECK(error_of([&] { store.load_run("run-2"); }).message().find("did you mean 'run-1'") !=
        std::string::npos);
}

TEST_CASE("lists and totals count what is there") {
  const ScratchFolder folder;
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  const RunRecord header = sample_header("run-1");
  store.create_run(header);
  record_all(store, header, sample_answers(header, 4));
  store.save_comparison({"run-1", "run-1", "2026-01-02T03:04:05Z", 2, "pass", "{}"});
  const RunSummary run = store.list_runs().at(0);
  CHECK(run.n_prompts == 3);
  CHECK(run.n_cells == 3);
  CHECK(run.n_complete_cells == 3);
  CHECK(run.n_samples == 20);  // 4 choices in each of 3 cells, twice in two of them
  const StoreSummary info = store.info();
  CHECK(info.schema_version == current_schema_version());
  CHECK(info.n_runs == 1);
  CHECK(info.n_samples == run.n_samples);
  CHECK(info.n_tokens == run.n_samples * 4);
  CHECK(info.n_comparisons == 1);
  const SavedComparison saved = store.list_comparisons().at(0);
  CHECK(saved.base_run == "run-1");
  CHECK(saved.level == 2);
  CHECK(saved.verdict == "pass");
  CHECK(saved.document_json == "{}");
}

TEST_CASE("ten thousand samples of 64 positions are recorded in seconds") {
  const ScratchFolder folder;
  RunRecord header = sample_header("run-1");
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);
  store.create_run(header);
  const auto recorder = store.recorder("run-1");
  SampleRecord sample = sample_answers(header, 64)[0];
  const auto begin = std::chrono::steady_clock::now();
  for (int32_t repeat = 0; repeat < 10000; ++repeat) {
    sample.repeat = repeat;
    REQUIRE(recorder->sample(sample) == Landing::kStored);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  MESSAGE("10,000 samples in " << seconds.count() << " s");
  CHECK(seconds.count() <
        60);  // a few seconds on an idle machine; a sync per sample would take minutes
  CHECK(store.info().n_samples == 10000);
}
