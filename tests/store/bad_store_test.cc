// Files that are no stores, stores that cannot be used, and stores that someone has edited: each is
// refused in words, and nothing is left half written.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/database.h"
#include "store/store.h"
#include "tests/store/sample_runs.h"

using namespace isobit;
using namespace isobit::testing;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& path, std::string_view content) {
  fs::remove(path);  // no output takes the place of a store
  write_file_atomically(path, content);
}

// A small finished store.
void make_store(const fs::path& path, int32_t n_positions = 3) {
  const RunRecord header = sample_header("run-1");
  Store store = Store::open(path, StoreMode::kRecord);
  store.create_run(header);
  record_all(store, header, sample_answers(header, n_positions));
  store.finish_run("run-1");
  store.close();
}

void require_refused(const fs::path& path, StoreMode mode, const std::string& word) {
  const Error e = error_of([&] {
    static_cast<void>(Store::open(path, mode, {.busy_timeout_ms = 10, .max_size_bytes = {}}));
  });
  CAPTURE(e.message());
  CHECK(e.code() == ErrorCode::environment);
  CHECK(e.message().find(word) != std::string::npos);
  CHECK(e.message().find(path.string()) != std::string::npos);
}

void require_refused(const fs::path& path, const std::string& word) {
  require_refused(path, StoreMode::kRead, word);
  require_refused(path, StoreMode::kRecord, word);
}

// Runs SQL that isobit would not, on a copy of a store.
void edit(const fs::path& path, const std::string& sql) {
  Database database(path, DatabaseAccess::kWrite, 1000);
  sqlite3_db_config(database.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  database.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; " + sql);
}

}  // namespace

TEST_CASE("each kind of file that is no store has a message of its own") {
  const ScratchFolder folder;
  require_refused(folder / "absent.db", StoreMode::kRead, "does not exist");
  CHECK_FALSE(fs::exists(folder / "absent.db"));
  require_refused(folder / "no-folder/s.db", StoreMode::kRecord, "there is no folder");
  fs::create_directory(folder / "folder.db");
  require_refused(folder / "folder.db", "is a folder");
  REQUIRE(::mkfifo((folder / "pipe.db").c_str(), 0600) == 0);
  require_refused(folder / "pipe.db", "not a regular file");
  write(folder / "empty.db", "");
  require_refused(folder / "empty.db", StoreMode::kRead, "is empty");
  write(folder / "text.db", std::string(5000, 'x'));
  require_refused(folder / "text.db", "not an SQLite database");
  write(folder / "short.db", "SQLite");
  require_refused(folder / "short.db", "not an SQLite database");
  write(folder / "header.db", std::string("SQLite format 3\0abc", 19));
  require_refused(folder / "header.db", "truncated");
  make_store(folder / "s.db");
  fs::create_symlink(folder / "s.db", folder / "link.db");
  require_refused(folder / "link.db", "symbolic link");
  fs::create_symlink(folder / "nowhere.db", folder / "dangling.db");
  require_refused(folder / "dangling.db", "symbolic link");
  CHECK_FALSE(fs::exists(folder / "nowhere.db"));
}

TEST_CASE("an empty file becomes a store, as an absent one does") {
  const ScratchFolder folder;
  write(folder / "s.db", "");
  make_store(folder / "s.db");
  CHECK(Store::open(folder / "s.db", StoreMode::kRead).check().empty());
}

TEST_CASE("names that SQLite would read as something else are file names") {
  const ScratchFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (const char* name : {":memory:", "file:x?mode=memory", "a b%20c"}) {
    make_store(name);
    CHECK(fs::exists(fs::path(name)));
    CHECK(Store::open(name, StoreMode::kRead).list_runs().size() == 1);
  }
  fs::current_path(before);
}

TEST_CASE("another program's database and a newer schema are refused unchanged") {
  const ScratchFolder folder;
  {
    Database other(folder / "other.db", DatabaseAccess::kCreate, 0);
    other.execute("CREATE TABLE notes (x); INSERT INTO notes VALUES (1)");
  }
  const std::string before = read_file(folder / "other.db");
  require_refused(folder / "other.db", "another program");
  CHECK(read_file(folder / "other.db") == before);
  make_store(folder / "newer.db");
  edit(folder / "newer.db", "PRAGMA user_version = 1000");
  const std::string newer = read_file(folder / "newer.db");
  require_refused(folder / "newer.db", "schema version 1000");
  CHECK(read_file(folder / "newer.db") == newer);
}

TEST_CASE("a locked store names who holds it") {
  const ScratchFolder folder;
  make_store(folder / "s.db");
  int ready[2], done[2];
  REQUIRE(::pipe(ready) == 0);
  REQUIRE(::pipe(done) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  char byte = 0;
  if (child == 0) {
    Database holder(folder / "s.db", DatabaseAccess::kWrite, 0);
    holder.execute("BEGIN EXCLUSIVE");
    if (::write(ready[1], &byte, 1) != 1 || ::read(done[0], &byte, 1) != 1) ::_exit(1);
    ::_exit(0);
  }
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  require_refused(folder / "s.db", "locked by process " + std::to_string(child));
  REQUIRE(::write(done[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(Store::open(folder / "s.db", StoreMode::kRead).list_runs().size() == 1);
}

TEST_CASE("a folder without write permission is named, and reading there still works") {
  if (::geteuid() == 0) {
    // Root may write anywhere, so another user tries.
    const ScratchFolder folder;
    make_store(folder / "s.db");
    fs::permissions(folder.path(), fs::perms(0555));
    fs::permissions(folder / "s.db", fs::perms(0644));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      if (::setuid(65534) != 0) ::_exit(9);
      try {
        static_cast<void>(Store::open(folder / "s.db", StoreMode::kRecord));
        ::_exit(2);
      } catch (const Error& e) {
        if (e.message().find("is not writable") == std::string::npos) ::_exit(3);
      }
      ::_exit(Store::open(folder / "s.db", StoreMode::kRead).check().empty() ? 0 : 4);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    return;
  }
  const ScratchFolder folder;
  make_store(folder / "s.db");
  fs::permissions(folder.path(), fs::perms(0555));
  require_refused(folder / "s.db", StoreMode::kRecord, "is not writable");
  require_refused(folder / "new.db", StoreMode::kRecord, "is not writable");
  CHECK(Store::open(folder / "s.db", StoreMode::kRead).check().empty());
  fs::permissions(folder.path(), fs::perms(0755));
}

TEST_CASE("a full disk keeps what was acknowledged and stores nothing half") {
  const ScratchFolder folder;
  const RunRecord header = sample_header("run-1");
  int32_t n_stored = 0;
  {
    Store store = Store::open(folder / "s.db", StoreMode::kRecord,
                              {.busy_timeout_ms = 1000, .max_size_bytes = 400'000});
    store.create_run(header);
    const auto recorder = store.recorder("run-1");
    SampleRecord sample = sample_answers(header, 64)[0];
    const Error e = error_of([&] {
      for (sample.repeat = 0; sample.repeat < 10000; ++sample.repeat) {
        recorder->sample(sample);
        n_stored++;
      }
    });
    CHECK(e.code() == ErrorCode::environment);
    CHECK(e.message().find("no space left") != std::string::npos);
  }
  CHECK(n_stored > 10);
  Store store = Store::open(folder / "s.db", StoreMode::kRecord);  // space was made
  CHECK(store.info().n_samples == n_stored);
  CHECK(store.load_run("run-1").samples.back().trace.positions.size() == 64);
  CHECK(store.check().empty());
}

TEST_CASE("a disk that is full from the start leaves no file behind") {
  const ScratchFolder folder;
  const Error e = error_of([&] {
    static_cast<void>(Store::open(folder / "s.db", StoreMode::kRecord,
                                  {.busy_timeout_ms = 0, .max_size_bytes = 4096}));
  });
  CHECK(e.message().find("no space left") != std::string::npos);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a truncated store is refused wherever it is cut") {
  const ScratchFolder folder;
  make_store(folder / "s.db");
  const std::string whole = read_file(folder / "s.db");
  for (size_t n = 1; n < whole.size(); n += n < 200 ? 1 : 997) {
    CAPTURE(n);
    write(folder / "cut.db", std::string_view(whole).substr(0, n));
    const Error e =
        error_of([&] { static_cast<void>(Store::open(folder / "cut.db", StoreMode::kRead)); });
    REQUIRE(e.code() == ErrorCode::environment);
    REQUIRE(e.message().find(n < 16 ? "not an SQLite" : "truncated") != std::string::npos);
  }
}

TEST_CASE("a store with a flipped byte loads as it was, or is refused; it never crashes") {
  const ScratchFolder folder;
  make_store(folder / "s.db", 1);
  const std::string whole = read_file(folder / "s.db");
  size_t n_refused = 0, n_loaded = 0;
  for (size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 211) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
    write(folder / "f.db", flipped);
    CAPTURE(at);
    try {
      Store store = Store::open(folder / "f.db", StoreMode::kRead);
      static_cast<void>(store.check());
      static_cast<void>(store.load_run(store.resolve_ref("latest")));
      n_loaded++;
    } catch (const Error& e) {
      REQUIRE(e.code() != ErrorCode::internal);
      n_refused++;
    }
  }
  CHECK(n_refused > 0);
  CHECK(n_loaded > 0);
}

TEST_CASE("edited rows are found by check and refused by load") {
  const ScratchFolder folder;
  make_store(folder / "good.db");
  struct Edit {
    const char* sql;
    const char* word;    // in what check says
    bool loads = false;  // a load alone need not notice
  };
  for (const Edit& e : std::vector<Edit>{
           {"UPDATE sample SET tokens = x'00' WHERE sample_key = 2",
            "tokens has 1 bytes, expected 12"},
           {"UPDATE sample SET logprobs = zeroblob(400) WHERE sample_key = 2",
            "logprobs has 400 bytes"},
           {"UPDATE sample SET n_positions = 2000000000 WHERE sample_key = 2",
            "tokens has 12 bytes"},
           {"UPDATE sample SET n_positions = -1 WHERE sample_key = 2", "n_positions is -1"},
           {"UPDATE sample SET logits_hashes = x'' WHERE sample_key = 2",
            "logits_hashes has 0 bytes"},
           {"UPDATE sample SET logits_hashes = NULL WHERE sample_key = 2",
            "claims evidence that is not stored"},
           {"UPDATE sample SET margins = zeroblob(11) WHERE sample_key = 2",
            "margins has 11 bytes"},
           {"UPDATE sample SET evidence = x'ffffff' WHERE sample_key = 2",
            "evidence of position 0"},
           {"UPDATE sample SET top_counts = x'ffffff7f0000000000000000' WHERE sample_key = 2",
            "more alternatives than there are"},
           {"UPDATE sample SET top_counts = x'ffffffff0000000000000000' WHERE sample_key = 2",
            "more alternatives than there are"},
           {"UPDATE sample SET top_counts = NULL WHERE sample_key = 2",
            "more alternatives than top_counts"},
           {"UPDATE sample SET top_logprobs = x'' WHERE sample_key = 2",
            "top_logprobs has 0 bytes"},
           {"UPDATE sample SET prefill_chunks = x'000000' WHERE sample_key = 2",
            "prefill_chunks has 3 bytes"},
           {"UPDATE sample SET finish_reason = 'tired' WHERE sample_key = 2", "'tired' is unknown"},
           {"UPDATE sample SET cell_index = 77 WHERE sample_key = 2", "cell 77"},
           {"UPDATE sample SET prompt_index = -1 WHERE sample_key = 2", "prompt is -1"},
           {"UPDATE sample SET total_ms = 9e999 WHERE sample_key = 2", "total_ms is not finite"},
           {"UPDATE sample SET first_row = 1 << 40 WHERE sample_key = 2", "first_row is"},
           {"DELETE FROM sample WHERE sample_key = 2", "samples, expected 4", true},
           {"DELETE FROM sample WHERE cell_index = 1", "has 0 samples, expected 4", true},
           {"UPDATE sample SET repeat = 1000000000 WHERE sample_key = 2", "repeat is 1000000000",
            true},
           {"UPDATE sample SET tokens = x'fbffffff0100000002000000' WHERE sample_key = 2",
            "tokens[0] is -5, expected 0 or more", true},
           {"UPDATE sample SET margins = x'caf249f10000000000000000' WHERE sample_key = 2",
            "margins[0] is -1e+30", true},
           {"UPDATE request SET n = 2000000000", "n is 2000000000, expected 1 to 1024", true},
           {"UPDATE run SET redacted = 1", "the run says that it is redacted", true},
           {"UPDATE sample SET sample_index = 9 WHERE sample_key = 2", "choice 9 of", true},
           {"DELETE FROM cell WHERE cell_index = 1", "cell 1: is missing"},
           {"UPDATE cell SET reference_index = 2 WHERE cell_index = 1", "not a reference cell"},
           {"UPDATE cell SET reference_index = 99 WHERE cell_index = 0", "not a reference cell"},
           {"UPDATE cell SET complete = 0 WHERE cell_index = 0", "cell 'reference' is not", true},
           {"UPDATE cell_value SET cell_index = 5 WHERE cell_index = 2", "belongs to cell 5"},
           {"DELETE FROM request WHERE prompt_index = 0", "prompt 0: is missing"},
           {"UPDATE request SET prompt_tokens = x'01'", "prompt_tokens has 1 bytes"},
           {"UPDATE request SET stop_strings = '[1]'", "stop_strings is not"},
           {"UPDATE request SET tags = '[[[[[[[[[['", "tags is not"},
           {"UPDATE request SET logit_bias_ids = x''", "logit_bias"},
           {"UPDATE request SET seed_source = 'dice'", "'dice' is unknown"},
           {"UPDATE request SET n = 0", "n is 0"},
           {"UPDATE request SET temperature = 9e999", "temperature is not finite"},
           {"UPDATE run SET status = 'odd'", "'odd' is unknown"},
           {"UPDATE fingerprint_item SET class = 'x'", "'x' is unknown"},
           {"UPDATE fingerprint_item SET source = 'x'", "'x' is unknown"},
           {"DROP VIEW v_axis", "view v_axis is missing", true},
           {"CREATE TABLE extra (x)", "table extra does not belong", true},
           {"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END",
            "trigger t does not belong", true},
           {"DROP TABLE sample", "sample"}}) {
    CAPTURE(e.sql);
    fs::copy_file(folder / "good.db", folder / "edited.db", fs::copy_options::overwrite_existing);
    edit(folder / "edited.db", e.sql);
    Store store = Store::open(folder / "edited.db", StoreMode::kRead);
    std::string said;
    for (const std::string& problem : store.check()) said += problem + "\n";
    CAPTURE(said);
    CHECK(said.find(e.word) != std::string::npos);
    if (e.loads) {
      CHECK_NOTHROW(static_cast<void>(store.load_run("run-1")));
    } else {
      CHECK(error_of([&] { static_cast<void>(store.load_run("run-1")); }).code() ==
            ErrorCode::environment);
    }
  }
}
