#include "base/protected_files.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/appended_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/locked_page.h"

using namespace isobit;
namespace fs = std::filesystem;

namespace {

// A folder in which what is read and written is watched, as in the program.
struct WatchedFolder {
  fs::path path;
  WatchedFolder() {
    std::string name = (fs::temp_directory_path() / "isobit-watched-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
    watch_file_uses();
  }
  ~WatchedFolder() {
    stop_watching_file_uses();
    fs::remove_all(path);
  }
  fs::path put(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number of a process that was and is no more.
pid_t ended_process() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  REQUIRE(::waitpid(pid, nullptr, 0) == pid);
  return pid;
}

}  // namespace

TEST_CASE("an output takes the place of nothing that the same command read, by whatever name") {
  const WatchedFolder folder;
  const fs::path read = folder.put("read.json", "kept"), mapped = folder.put("mapped", "kept");
  fs::create_symlink("read.json", folder.path / "link");
  fs::create_hard_link(mapped, folder.path / "other name");
  read_file(read);
  const MappedFile map(mapped);
  for (const char* target : {"read.json", "link", "mapped", "other name"}) {
    CHECK_THROWS_WITH_AS(write_file_atomically(folder.path / target, "new"),
                         doctest::Contains("is read by this command"), Error);
    CHECK_THROWS_AS(AppendedFile(folder.path / target), Error);
    CHECK(content_of(folder.path / target) == "kept");
  }
}

TEST_CASE("two outputs of one command do not take each other's place") {
  const WatchedFolder folder;
  write_file_atomically(folder.path / "a", "first");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder.path / "a", "second"),
                       doctest::Contains("was just written by this command"), Error);
  CHECK(content_of(folder.path / "a") == "first");
}

TEST_CASE("what is an output is not read before it is written, and may be afterwards") {
  const WatchedFolder folder;
  const fs::path output = folder.put("output", "old");
  fs::create_symlink("output", folder.path / "link");
  note_output(output);
  CHECK_THROWS_WITH_AS(read_file(folder.path / "link"),
                       doctest::Contains("an output would replace it"), Error);
  CHECK_THROWS_AS(MappedFile{output}, Error);
  write_file_atomically(output, "new");
  CHECK(read_file(output) == "new");
}

TEST_CASE("an output is no part of a checkpoint, whether the part is there or not") {
  const WatchedFolder folder;
  folder.put("plain.json", "a report");
  for (const char* free : {"config.json", "tokenizer.json", "new.safetensors"})
    CHECK_NOTHROW(require_replaceable(folder.path / free));  // no weights here
  const fs::path blob = folder.put("blob", "linked");
  fs::create_symlink("blob", folder.path / "config.json");
  folder.put("model.gguf", "GGUF and more");
  folder.put("model.safetensors", "weights");
  for (const char* part : {"config.json", "tokenizer.json", "tokenizer_config.json", "new.jinja",
                           "model.safetensors", "model.gguf", "model.safetensors.index.json"}) {
    CAPTURE(part);
    CHECK_THROWS_WITH_AS(write_file_atomically(folder.path / part, "x"),
                         doctest::Contains("is a part of a checkpoint"), Error);
    CHECK_THROWS_AS(AppendedFile(folder.path / part), Error);
  }
  CHECK(content_of(blob) == "linked");
  CHECK_NOTHROW(require_replaceable(folder.path / "plain.json"));
}

TEST_CASE("a page is added to on a line of its own, and one that got nothing goes again") {
  const WatchedFolder folder;
  const fs::path page = folder.put("page", "one");
  {
    LockedPage locked(page);
    CHECK(locked.size_with(4) == 8);
    locked.append("two\n");
  }
  CHECK(content_of(page) == "one\ntwo\n");
  const fs::path whole = folder.put("whole", "one\n");
  LockedPage(whole).append("two\n");
  CHECK(content_of(whole) == "one\ntwo\n");
  CHECK_THROWS_AS(LockedPage{whole}, Error);  // one command adds to a page once
  { const LockedPage left(folder.path / "new"); }
  CHECK_FALSE(fs::exists(folder.path / "new"));
  CHECK_THROWS_AS(LockedPage(folder.path), Error);
  CHECK_THROWS_AS(LockedPage(folder.path / "no" / "page"), Error);
}

TEST_CASE("a log grows neither an input, nor an output, nor a store or what belongs to one") {
  const WatchedFolder folder;
  AppendedFile log(folder.path / "log");
  log.append("one\n");
  log.append("two\n");
  CHECK(content_of(folder.path / "log") == "one\ntwo\n");
  CHECK_THROWS_WITH_AS(read_file(folder.path / "log"), doctest::Contains("its log"), Error);
  log.append("what is an input grows no further\n");
  CHECK(content_of(folder.path / "log") == "one\ntwo\n");
  CHECK_THROWS_AS(write_file_atomically(folder.path / "log", "x"), Error);
  folder.put("s.db", "SQLite format 3 and more");
  folder.put("k.pem", "-----BEGIN PRIVATE KEY-----");
  for (const char* name : {"s.db", "s.db-wal", "s.db-shm", "s.db-journal", "k.pem"})
    CHECK_THROWS_AS(AppendedFile(folder.path / name), Error);
  CHECK_FALSE(fs::exists(folder.path / "s.db-journal"));
  CHECK(content_of(folder.path / "s.db") == "SQLite format 3 and more");
}

TEST_CASE("where nobody watches, a file may be read and rewritten") {
  const WatchedFolder folder;
  stop_watching_file_uses();
  write_file_atomically(folder.path / "a", "one");
  write_file_atomically(folder.path / "a", read_file(folder.path / "a") + " two");
  CHECK(content_of(folder.path / "a") == "one two");
}

TEST_CASE("what a killed write left is removed by the next one, and nothing else is") {
  const WatchedFolder folder;
  const std::string ended = std::to_string(ended_process());
  const std::string alive = std::to_string(::getppid());
  folder.put("a.tmp" + ended, "half");
  for (const std::string& name : {"a.tmp" + alive, "a.tmp" + ended + "x", "b.tmp" + ended,
                                  std::string("a.tmp"), std::string("a.tmp-1")})
    folder.put(name, "kept");
  fs::create_directory(folder.path / ("a.tmp" + std::to_string(ended_process())));
  write_file_atomically(folder.path / "a", "whole");
  CHECK(content_of(folder.path / "a") == "whole");
  CHECK_FALSE(fs::exists(folder.path / ("a.tmp" + ended)));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 7);
}

TEST_CASE("a temporary file is new: a link that lies in its place is not written through") {
  const WatchedFolder folder;
  const fs::path victim = folder.put("victim", "kept");
  fs::create_symlink(victim, folder.path / ("a.tmp" + std::to_string(::getpid())));
  CHECK_THROWS_AS(write_file_atomically(folder.path / "a", "new"), Error);
  CHECK(content_of(victim) == "kept");
}
