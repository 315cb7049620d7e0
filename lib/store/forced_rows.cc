#include "base/error.h"
#include "store/position_columns.h"
#include "store/rows.h"

namespace isobit {
namespace {

constexpr const char* kForcedRows =
    "SELECT s.cell_index, s.prompt_index, s.repeat, s.sample_index, f.over_run, f.n_positions, "
    "f.tokens, f.logprobs, f.evidence, f.margins, f.logits_hashes, f.top_counts, f.top_ids, "
    "f.top_logprobs FROM forced f JOIN sample s USING (sample_key) WHERE s.run_key = ?1"
    " ORDER BY s.cell_index, s.prompt_index, s.repeat, s.sample_index, f.over_run";

// The first one stays, as with samples.
std::string insert_sql() {
  return std::string("INSERT INTO forced (sample_key, over_run, ") + kPositionColumns +
         ") SELECT sample_key, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM sample WHERE run_key = "
         "?11 AND cell_index = ?12 AND prompt_index = ?13 AND repeat = ?14 AND sample_index = ?15"
         " ON CONFLICT (sample_key, over_run) DO NOTHING";
}

std::string row_name(const ForcedRecord& forced) {
  return "forced positions of cell " + std::to_string(forced.cell_index) + ", prompt " +
         std::to_string(forced.prompt_index);
}

}  // namespace

ForcedWriter::ForcedWriter(Database& database, int64_t run_key)
    : run_key_(run_key), insert_(database, insert_sql()) {}

void ForcedWriter::write(const ForcedRecord& forced) {
  insert_.reset();
  insert_.add(forced.over_run);
  const PackedPositions packed(forced.positions);
  add_positions(insert_, packed);
  insert_.add(run_key_).add(int64_t{forced.cell_index}).add(int64_t{forced.prompt_index});
  insert_.add(int64_t{forced.repeat}).add(int64_t{forced.sample_index});
  insert_.run();
}

void read_forced(Database& database, int64_t run_key, RunRecord& record) {
  Statement rows(database, kForcedRows);
  rows.add(run_key);
  constexpr int kFirstPositionColumn = 5;
  while (rows.step()) {
    ForcedRecord forced;
    // The samples were read and checked before.
    forced.cell_index = static_cast<int32_t>(rows.integer(0));
    forced.prompt_index = static_cast<int32_t>(rows.integer(1));
    forced.repeat = static_cast<int32_t>(rows.integer(2));
    forced.sample_index = static_cast<int32_t>(rows.integer(3));
    forced.over_run = rows.text(4);
    forced.positions = read_positions(database, rows, kFirstPositionColumn, row_name(forced));
    record.forced.push_back(std::move(forced));
  }
}

}  // namespace isobit
