#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "store/packed_numbers.h"
#include "store/position_columns.h"
#include "store/rows.h"

namespace isobit {
namespace {

constexpr const char* kInsert =
    "INSERT INTO sample (run_key, cell_index, prompt_index, repeat, sample_index, request_id, "
    "seed, finish_reason, text,"
    " error, non_finite, n_positions, tokens, logprobs, evidence, margins, logits_hashes, "
    "top_counts, top_ids,"
    " top_logprobs, max_batch_requests, min_batch_requests, max_batch_tokens, first_row, "
    "prefill_chunks, n_steps,"
    " n_mixed_steps, n_cached_tokens, n_preemptions, ttft_ms, total_ms, embedding)"
    " VALUES "
    "(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?"
    "26,?27,?28,"
    "?29,?30,?31,?32)"
    " ON CONFLICT (run_key, cell_index, prompt_index, repeat, sample_index) DO NOTHING";

constexpr const char* kStored =
    "SELECT finish_reason, non_finite, tokens, logprobs, evidence, logits_hashes FROM sample WHERE "
    "run_key = ?1 AND"
    " cell_index = ?2 AND prompt_index = ?3 AND repeat = ?4 AND sample_index = ?5";

// Checks one row while it is taken apart.
class SampleReader {
 public:
  SampleReader(const Database& database, const Statement& row, const RunRecord& run)
      : database_(database), row_(row), run_(run) {}

  SampleRecord read() {
    SampleRecord sample;
    row_name_ = "sample " + std::to_string(row_.integer(kKey));
    sample.cell_index = index(kCell, run_.cells.size(), "cell");
    sample.prompt_index = index(kPrompt, run_.requests.size(), "prompt");
    sample.repeat = count(kRepeat, "repeat");
    read_trace(sample.trace);
    return sample;
  }

  // In the order of kColumns.
  enum Column {
    kKey,
    kCell,
    kPrompt,
    kRepeat,
    kSampleIndex,
    kRequestId,
    kSeed,
    kFinish,
    kText,
    kErrorText,
    kNonFinite,
    kPositions,
    kMaxRequests = kPositions + kPositionColumnCount,
    kMinRequests,
    kMaxTokens,
    kFirstRow,
    kChunks,
    kSteps,
    kMixedSteps,
    kCached,
    kPreemptions,
    kTtft,
    kTotal,
    kEmbedding
  };
  static constexpr const char* kColumns =
      "sample_key, cell_index, prompt_index, repeat, sample_index, request_id, seed, "
      "finish_reason, text, error,"
      " non_finite, n_positions, tokens, logprobs, evidence, margins, logits_hashes, top_counts, "
      "top_ids, top_logprobs,"
      " max_batch_requests, min_batch_requests, max_batch_tokens, first_row, prefill_chunks, "
      "n_steps, n_mixed_steps,"
      " n_cached_tokens, n_preemptions, ttft_ms, total_ms, embedding";

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_row(database_, row_name_, what);
  }

  int32_t count(Column column, const char* what) const {
    const int64_t value = row_.integer(column);
    if (value < 0 || value > std::numeric_limits<int32_t>::max())
      refuse(std::string(what) + " is " + std::to_string(value));
    return static_cast<int32_t>(value);
  }

  int32_t index(Column column, size_t size, const char* what) const {
    const int32_t value = count(column, what);
    if (static_cast<size_t>(value) >= size) {
      refuse("refers to " + std::string(what) + " " + std::to_string(value) + ", the run has " +
             std::to_string(size));
    }
    return value;
  }

  double milliseconds(Column column, const char* what) const {
    const double value = row_.real(column);
    if (!std::isfinite(value)) refuse(std::string(what) + " is not finite");
    return value;
  }

  void read_trace(Trace& trace) {
    trace.request_id = row_.text(kRequestId);
    trace.sample_index = count(kSampleIndex, "sample_index");
    trace.seed = static_cast<uint64_t>(row_.integer(kSeed));
    const std::string finish = row_.text(kFinish);
    const auto reason = finish_reason_from_name(finish);
    if (!reason) refuse("finish reason '" + finish.substr(0, 40) + "' is unknown");
    trace.finish_reason = *reason;
    trace.text = row_.text(kText);
    trace.error = row_.text(kErrorText);
    trace.non_finite = row_.integer(kNonFinite) != 0;
    trace.positions = read_positions(database_, row_, kPositions, row_name_);
    read_scheduling(trace.scheduling);
    trace.ttft_ms = milliseconds(kTtft, "ttft_ms");
    trace.total_ms = milliseconds(kTotal, "total_ms");
    read_embedding(trace.embedding);
  }

  // A mean over rows: (dim) values, absent where it was not recorded.
  void read_embedding(std::vector<float>& embedding) {
    if (row_.is_null(kEmbedding)) return;
    const std::string_view bytes = row_.blob(kEmbedding);
    if (bytes.size() % 4 != 0) refuse("embedding has " + std::to_string(bytes.size()) + " bytes");
    embedding = unpack<float>(bytes);
  }

  void read_scheduling(SchedulingFacts& facts) {
    facts.max_batch_requests = count(kMaxRequests, "max_batch_requests");
    facts.min_batch_requests = count(kMinRequests, "min_batch_requests");
    facts.max_batch_tokens = count(kMaxTokens, "max_batch_tokens");
    facts.first_row = count(kFirstRow, "first_row");
    const std::string_view chunks = row_.blob(kChunks);
    if (chunks.size() % 4 != 0)
      refuse("prefill_chunks has " + std::to_string(chunks.size()) + " bytes");
    facts.prefill_chunks_tokens = unpack<int32_t>(chunks);
    facts.n_steps = count(kSteps, "n_steps");
    facts.n_mixed_steps = count(kMixedSteps, "n_mixed_steps");
    facts.n_cached_tokens = count(kCached, "n_cached_tokens");
    facts.n_preemptions = count(kPreemptions, "n_preemptions");
  }

  const Database& database_;
  const Statement& row_;
  const RunRecord& run_;
  std::string row_name_;
};

}  // namespace

SampleWriter::SampleWriter(Database& database, int64_t run_key)
    : database_(database),
      run_key_(run_key),
      insert_(database, kInsert),
      stored_(database, kStored) {}

Landing SampleWriter::write(const SampleRecord& sample) {
  const Trace& t = sample.trace;
  const SchedulingFacts& f = t.scheduling;
  ISOBIT_REQUIRE(std::isfinite(t.ttft_ms) && std::isfinite(t.total_ms));
  const PackedPositions packed(t.positions);
  insert_.reset();  // an earlier sample may have failed between its bindings and the end
  insert_.add(run_key_).add(int64_t{sample.cell_index}).add(int64_t{sample.prompt_index});
  insert_.add(int64_t{sample.repeat}).add(int64_t{t.sample_index}).add(t.request_id);
  insert_.add(static_cast<int64_t>(t.seed)).add(std::string_view(name(t.finish_reason)));
  insert_.add(t.text).add(t.error).add(int64_t{t.non_finite});
  add_positions(insert_, packed);
  insert_.add(int64_t{f.max_batch_requests}).add(int64_t{f.min_batch_requests});
  insert_.add(int64_t{f.max_batch_tokens}).add(int64_t{f.first_row});
  insert_.add_blob(pack(f.prefill_chunks_tokens)).add(int64_t{f.n_steps});
  insert_.add(int64_t{f.n_mixed_steps}).add(int64_t{f.n_cached_tokens});
  insert_.add(int64_t{f.n_preemptions}).add(t.ttft_ms).add(t.total_ms);
  t.embedding.empty() ? insert_.add_null() : insert_.add_blob(pack(t.embedding));
  insert_.run();  // alone, so a transaction of its own
  if (sqlite3_changes(database_.get()) == 1) return Landing::kStored;
  return same_as_stored(sample) ? Landing::kAlreadySame : Landing::kAlreadyDifferent;
}

bool SampleWriter::same_as_stored(const SampleRecord& sample) {
  const Trace& t = sample.trace;
  const PackedPositions packed(t.positions);
  stored_.reset();
  stored_.add(run_key_).add(int64_t{sample.cell_index}).add(int64_t{sample.prompt_index});
  stored_.add(int64_t{sample.repeat}).add(int64_t{t.sample_index});
  if (!stored_.step()) return false;
  const bool same = stored_.text(0) == name(t.finish_reason) &&
                    (stored_.integer(1) != 0) == t.non_finite && stored_.blob(2) == packed.tokens &&
                    stored_.blob(3) == packed.logprobs && stored_.blob(4) == packed.evidence &&
                    stored_.is_null(5) == !packed.any_hash &&
                    (!packed.any_hash || stored_.blob(5) == packed.hashes);
  stored_.reset();
  return same;
}

void read_samples(Database& database, int64_t run_key, RunRecord& record) {
  Statement rows(database, std::string("SELECT ") + SampleReader::kColumns +
                               " FROM sample WHERE run_key = ?1 ORDER BY cell_index, prompt_index, "
                               "repeat, sample_index");
  rows.add(run_key);
  SampleReader reader(database, rows, record);
  while (rows.step()) record.samples.push_back(reader.read());
}

}  // namespace isobit
