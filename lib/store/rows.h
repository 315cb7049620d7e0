// Records to rows and back. Reading checks everything that the rest of the program relies on.
#pragma once

#include <string>

#include "record/run_record.h"
#include "record/run_sink.h"
#include "store/database.h"

namespace isobit {

// Throws Error(usage) for an id that is not 1 to 64 of [0-9A-Za-z_.-].
void check_run_header(const RunRecord& header);

// Inserts the run, its fingerprint, requests and cells; the caller holds the transaction.
void insert_run(Database& database, const RunRecord& header);

// What is known of a cell once it has ended.
void update_cell(Database& database, int64_t run_key, const CellRecord& cell);

void set_run_complete(Database& database, int64_t run_key);
void set_stop_reason(Database& database, int64_t run_key, const std::string& reason);

// All of it, samples included. Throws Error(environment) naming the row that does not fit.
RunRecord read_run(Database& database, int64_t run_key);

// Inserts samples of one run, each in a transaction of its own.
class SampleWriter {
 public:
  SampleWriter(Database& database, int64_t run_key);
  Landing write(const SampleRecord& sample);

 private:
  bool same_as_stored(const SampleRecord& sample);

  Database& database_;
  int64_t run_key_;
  Statement insert_;
  Statement stored_;
};

// Inserts teacher-forced positions of samples that are there.
class ForcedWriter {
 public:
  ForcedWriter(Database& database, int64_t run_key);
  void write(const ForcedRecord& forced);

 private:
  int64_t run_key_;
  Statement insert_;
};

// Appends the forced records of a run to record.forced, in their order.
void read_forced(Database& database, int64_t run_key, RunRecord& record);

// Appends the samples of a run to record.samples, in the order (cell, prompt, repeat, sample
// index).
void read_samples(Database& database, int64_t run_key, RunRecord& record);

// Throws Error(environment): "store 'path', <row>: <what>".
[[noreturn]] void refuse_row(const Database& database, const std::string& row,
                             const std::string& what);

}  // namespace isobit
