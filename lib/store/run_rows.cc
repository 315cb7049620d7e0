#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "store/packed_numbers.h"
#include "store/rows.h"

namespace isobit {
namespace {

const char* seed_source_name(SeedSource source) {
  return source == SeedSource::kRequest ? "request" : "request_id";
}

std::string string_array(const std::vector<std::string>& values) {
  return Json(values).dump();
}

void insert_fingerprint(Database& database, int64_t run_key, const Fingerprint& fingerprint) {
  Statement insert(database,
                   "INSERT INTO fingerprint_item (run_key, class, name, value, source, reason)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  for (const FingerprintItem& item : fingerprint.items) {
    insert.add(run_key).add(std::string_view(name(item.item_class))).add(item.name).add(item.value);
    insert.add(std::string_view(name(item.source))).add(item.reason);
    insert.run();
  }
}

void insert_requests(Database& database, int64_t run_key, const RunRecord& run) {
  Statement insert(database,
                   "INSERT INTO request (run_key, prompt_index, request_id, prompt_text, "
                   "n_prompt_tokens, prompt_tokens, max_tokens,"
                   " n_top, temperature, top_k, top_p, min_p, repetition_penalty, "
                   "frequency_penalty, presence_penalty, logit_bias_ids,"
                   " logit_bias_values, seed, seed_source, n, stop_strings, stop_tokens, "
                   "ignore_eos, forced_tokens, tags) VALUES"
                   " (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?"
                   "22,?23,?24,?25)");
  for (size_t i = 0; i < run.requests.size(); ++i) {
    const Request& r = run.requests[i];
    std::string bias_ids, bias_values;
    for (const auto& [id, value] : r.sampling.logit_bias) {
      append_packed(bias_ids, id);
      append_packed(bias_values, value);
    }
    insert.add(run_key).add(static_cast<int64_t>(i)).add(r.id);
    insert.add(run.prompt_texts.empty() ? std::string() : run.prompt_texts[i]);
    insert.add(static_cast<int64_t>(r.prompt_token_ids.size())).add_blob(pack(r.prompt_token_ids));
    insert.add(int64_t{r.max_tokens}).add(int64_t{r.n_top});
    insert.add(r.sampling.temperature).add(int64_t{r.sampling.top_k}).add(r.sampling.top_p);
    insert.add(r.sampling.min_p).add(r.sampling.repetition_penalty);
    insert.add(r.sampling.frequency_penalty).add(r.sampling.presence_penalty);
    insert.add_blob(bias_ids).add_blob(bias_values);
    insert.add(static_cast<int64_t>(r.sampling.seed));
    insert.add(std::string_view(seed_source_name(r.sampling.seed_source)))
        .add(int64_t{r.sampling.n});
    insert.add(string_array(r.stop.strings)).add_blob(pack(r.stop.token_ids));
    insert.add(int64_t{r.stop.ignore_eos}).add_blob(pack(r.forced_token_ids));
    insert.add(string_array(r.tags));
    insert.run();
  }
}

void insert_cells(Database& database, int64_t run_key, const RunRecord& run) {
  Statement cell(
      database,
      "INSERT INTO cell (run_key, cell_index, name, reference_index, complete, exercised,"
      " not_exercised_reason, wall_ms, generated_tokens_per_s) VALUES (?1, ?2, ?3, ?4, 0, 0, '', "
      "0, 0)");
  Statement value(
      database,
      "INSERT INTO cell_value (run_key, cell_index, axis, value) VALUES (?1, ?2, ?3, ?4)");
  for (const CellRecord& c : run.cells) {
    cell.add(run_key).add(int64_t{c.index}).add(c.name).add(int64_t{c.reference_index});
    cell.run();
    for (const auto& [axis, text] : c.values) {
      value.add(run_key).add(int64_t{c.index}).add(axis).add(text);
      value.run();
    }
  }
}

// Reads the tables of one run, each row checked.
class RunReader {
 public:
  RunReader(Database& database, int64_t run_key) : database_(database), run_key_(run_key) {}

  RunRecord read() {
    read_header();
    read_fingerprint();
    read_requests();
    read_cells();
    read_cell_values();
    check_references();
    read_samples(database_, run_key_, run_);
    read_forced(database_, run_key_, run_);
    return std::move(run_);
  }

 private:
  [[noreturn]] void refuse(const std::string& row, const std::string& what) const {
    refuse_row(database_, "run " + run_.id + ", " + row, what);
  }

  int32_t int32(const std::string& row, const char* what, int64_t value, int64_t min) const {
    if (value < min || value > std::numeric_limits<int32_t>::max()) {
      refuse(row, std::string(what) + " is " + std::to_string(value));
    }
    return static_cast<int32_t>(value);
  }

  template <typename Number>
  std::vector<Number> numbers(const std::string& row, const char* what,
                              std::string_view bytes) const {
    if (bytes.size() % sizeof(Number) != 0)
      refuse(row, std::string(what) + " has " + std::to_string(bytes.size()) + " bytes");
    return unpack<Number>(bytes);
  }

  std::vector<std::string> strings(const std::string& row, const char* what,
                                   const std::string& text) const {
    try {
      return parse_json(text, what, {.max_depth = 2}).get<std::vector<std::string>>();
    } catch (const std::exception&) {
      refuse(row, std::string(what) + " is not a JSON array of strings");
    }
  }

  void read_header() {
    Statement row(database_,
                  "SELECT id, created, target, label, plan_json, prompts_digest, status, "
                  "fingerprint_id, redacted, stop_reason FROM run"
                  " WHERE run_key = ?1");
    row.add(run_key_);
    if (!row.step()) refuse_row(database_, "run " + std::to_string(run_key_), "is gone");
    run_.id = row.text(0);
    run_.created = row.text(1);
    run_.target = row.text(2);
    run_.label = row.text(3);
    run_.plan_json = row.text(4);
    run_.prompts_digest = row.text(5);
    run_.status = row.text(6);
    run_.fingerprint.id = row.text(7);
    run_.redacted = row.integer(8) != 0;
    run_.stop_reason = row.text(9);
    if (run_.status != "running" && run_.status != "complete")
      refuse("header", "status '" + run_.status + "' is unknown");
  }

  void read_fingerprint() {
    Statement row(
        database_,
        "SELECT class, name, value, source, reason FROM fingerprint_item WHERE run_key = ?1");
    row.add(run_key_);
    while (row.step()) {
      FingerprintItem item;
      item.name = row.text(1);
      item.item_class =
          word<FingerprintClass>("fingerprint class", row.text(0), FingerprintClass::kEnvironment);
      item.value = row.text(2);
      item.source =
          word<FingerprintSource>("fingerprint source", row.text(3), FingerprintSource::kUnknown);
      item.reason = row.text(4);
      run_.fingerprint.items.push_back(std::move(item));
    }
    std::ranges::sort(run_.fingerprint.items, {},
                      [](const FingerprintItem& i) { return std::pair(i.item_class, i.name); });
  }

  // The enumerator up to `last` whose name is `text`.
  template <typename Enum>
  Enum word(const char* what, const std::string& text, Enum last) const {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      if (text == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
    }
    refuse(what, "'" + text.substr(0, 40) + "' is unknown");
  }

  void read_requests() {
    Statement row(database_,
                  "SELECT prompt_index, request_id, prompt_text, prompt_tokens, max_tokens, n_top, "
                  "temperature, top_k, top_p, min_p,"
                  " repetition_penalty, frequency_penalty, presence_penalty, logit_bias_ids, "
                  "logit_bias_values, seed, seed_source, n,"
                  " stop_strings, stop_tokens, ignore_eos, forced_tokens, tags FROM request WHERE "
                  "run_key = ?1 ORDER BY prompt_index");
    row.add(run_key_);
    while (row.step()) {
      const std::string at = "prompt " + std::to_string(run_.requests.size());
      if (row.integer(0) != static_cast<int64_t>(run_.requests.size())) refuse(at, "is missing");
      Request& r = run_.requests.emplace_back();
      r.id = row.text(1);
      run_.prompt_texts.push_back(row.text(2));
      r.prompt_token_ids = numbers<int32_t>(at, "prompt_tokens", row.blob(3));
      r.max_tokens = int32(at, "max_tokens", row.integer(4), 0);
      r.n_top = int32(at, "n_top", row.integer(5), 0);
      read_sampling(row, at, r.sampling);
      r.stop.strings = strings(at, "stop_strings", row.text(18));
      r.stop.token_ids = numbers<int32_t>(at, "stop_tokens", row.blob(19));
      r.stop.ignore_eos = row.integer(20) != 0;
      r.forced_token_ids = numbers<int32_t>(at, "forced_tokens", row.blob(21));
      r.tags = strings(at, "tags", row.text(22));
    }
  }

  void read_sampling(const Statement& row, const std::string& at, Sampling& s) const {
    const auto finite = [&](int column, const char* what) {
      if (!std::isfinite(row.real(column))) refuse(at, std::string(what) + " is not finite");
      return row.real(column);
    };
    s.temperature = finite(6, "temperature");
    s.top_k = int32(at, "top_k", row.integer(7), std::numeric_limits<int32_t>::min());
    s.top_p = finite(8, "top_p");
    s.min_p = finite(9, "min_p");
    s.repetition_penalty = finite(10, "repetition_penalty");
    s.frequency_penalty = finite(11, "frequency_penalty");
    s.presence_penalty = finite(12, "presence_penalty");
    const auto ids = numbers<int32_t>(at, "logit_bias_ids", row.blob(13));
    const auto values = numbers<double>(at, "logit_bias_values", row.blob(14));
    if (ids.size() != values.size()) refuse(at, "logit_bias has not as many values as token ids");
    for (size_t i = 0; i < ids.size(); ++i) s.logit_bias.emplace_back(ids[i], values[i]);
    s.seed = static_cast<uint64_t>(row.integer(15));
    const std::string source = row.text(16);
    if (source != "request" && source != "request_id")
      refuse(at, "seed source '" + source.substr(0, 40) + "' is unknown");
    s.seed_source = source == "request" ? SeedSource::kRequest : SeedSource::kRequestId;
    s.n = int32(at, "n", row.integer(17), 1);
  }

  void read_cells() {
    Statement row(database_,
                  "SELECT cell_index, name, reference_index, complete, exercised, "
                  "not_exercised_reason, wall_ms,"
                  " generated_tokens_per_s FROM cell WHERE run_key = ?1 ORDER BY cell_index");
    row.add(run_key_);
    while (row.step()) {
      const std::string at = "cell " + std::to_string(run_.cells.size());
      if (row.integer(0) != static_cast<int64_t>(run_.cells.size())) refuse(at, "is missing");
      CellRecord& c = run_.cells.emplace_back();
      c.index = static_cast<int32_t>(run_.cells.size()) - 1;
      c.name = row.text(1);
      c.reference_index = int32(at, "reference_index", row.integer(2), 0);
      c.complete = row.integer(3) != 0;
      c.exercised = row.integer(4) != 0;
      c.not_exercised_reason = row.text(5);
      c.wall_ms = row.real(6);
      c.generated_tokens_per_s = row.real(7);
    }
  }

  void read_cell_values() {
    Statement row(database_, "SELECT cell_index, axis, value FROM cell_value WHERE run_key = ?1");
    row.add(run_key_);
    while (row.step()) {
      const int64_t index = row.integer(0);
      if (index < 0 || index >= static_cast<int64_t>(run_.cells.size())) {
        refuse("a cell value", "belongs to cell " + std::to_string(index) + " of " +
                                   std::to_string(run_.cells.size()));
      }
      run_.cells[static_cast<size_t>(index)].values[row.text(1)] = row.text(2);
    }
  }

  void check_references() const {
    for (const CellRecord& c : run_.cells) {
      const auto reference = static_cast<size_t>(c.reference_index);
      if (reference >= run_.cells.size() || !run_.cells[reference].is_reference()) {
        refuse("cell " + std::to_string(c.index), "is compared with cell " +
                                                      std::to_string(c.reference_index) +
                                                      ", which is not a reference cell");
      }
    }
  }

  Database& database_;
  int64_t run_key_;
  RunRecord run_;
};

void check_run_id(const std::string& id) {
  const bool good = !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-' || c == '.';
  });
  if (!good)
    throw Error(ErrorCode::usage,
                "run id '" + id.substr(0, 80) + "' is not 1 to 64 of [0-9A-Za-z_.-]");
}

}  // namespace

void refuse_row(const Database& database, const std::string& row, const std::string& what) {
  throw Error(ErrorCode::environment,
              "store '" + database.path().string() + "', " + row + ": " + what,
              "the file was changed by something else than isobit; see isobit store check");
}

void check_run_header(const RunRecord& header) {
  check_run_id(header.id);
  ISOBIT_REQUIRE(header.prompt_texts.empty() ||
                 header.prompt_texts.size() == header.requests.size());
  for (size_t i = 0; i < header.cells.size(); ++i) {
    ISOBIT_REQUIRE(header.cells[i].index == static_cast<int32_t>(i));
    const auto reference = static_cast<size_t>(header.cells[i].reference_index);
    ISOBIT_REQUIRE(reference < header.cells.size() && header.cells[reference].is_reference());
  }
}

void insert_run(Database& database, const RunRecord& header) {
  Statement insert(database,
                   "INSERT INTO run (id, created, target, label, plan_json, prompts_digest, "
                   "fingerprint_id, status, redacted)"
                   " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running', ?8)");
  insert.add(header.id).add(header.created).add(header.target).add(header.label);
  insert.add(header.plan_json).add(header.prompts_digest).add(header.fingerprint.id);
  insert.add(int64_t{header.redacted});
  insert.run();
  const int64_t run_key = sqlite3_last_insert_rowid(database.get());
  insert_fingerprint(database, run_key, header.fingerprint);
  insert_requests(database, run_key, header);
  insert_cells(database, run_key, header);
}

void update_cell(Database& database, int64_t run_key, const CellRecord& cell) {
  Statement update(
      database,
      "UPDATE cell SET complete = ?3, exercised = ?4, not_exercised_reason = ?5, wall_ms = ?6,"
      " generated_tokens_per_s = ?7 WHERE run_key = ?1 AND cell_index = ?2");
  update.add(run_key)
      .add(int64_t{cell.index})
      .add(int64_t{cell.complete})
      .add(int64_t{cell.exercised});
  update.add(cell.not_exercised_reason).add(cell.wall_ms).add(cell.generated_tokens_per_s);
  update.run();
}

void set_run_complete(Database& database, int64_t run_key) {
  Statement update(database,
                   "UPDATE run SET status = 'complete', stop_reason = '' WHERE run_key = ?1");
  update.add(run_key).run();
}

void set_stop_reason(Database& database, int64_t run_key, const std::string& reason) {
  Statement update(database, "UPDATE run SET stop_reason = ?2 WHERE run_key = ?1");
  update.add(run_key).add(reason).run();
}

RunRecord read_run(Database& database, int64_t run_key) {
  return RunReader(database, run_key).read();
}

}  // namespace isobit
