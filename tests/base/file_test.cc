#include "base/file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

using namespace isobit;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "isobit-file-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  size_t n_entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), {}));
  }
};

}  // namespace

TEST_CASE("an atomic write follows links and never takes the place of what is no file") {
  const Folder folder;
  write_file_atomically(folder.path / "target", "old");
  std::filesystem::create_symlink("target", folder.path / "link");
  write_file_atomically(folder.path / "link", "new");
  CHECK(std::filesystem::is_symlink(folder.path / "link"));
  CHECK(read_file(folder.path / "target") == "new");
  const std::filesystem::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(write_file_atomically(pipe, "x"), Error);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK_THROWS_AS(write_file_atomically("/dev/null", "x"), Error);
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("an atomic write replaces the file and leaves nothing beside it") {
  const Folder folder;
  const fs::path file = folder.path / "a";
  write_file_atomically(file, "one");
  write_file_atomically(file, std::string(100000, 'x'));
  CHECK(read_file(file) == std::string(100000, 'x'));
  CHECK(folder.n_entries() == 1);
}

TEST_CASE("a write that fails leaves the old content and no temporary file") {
  const Folder folder;
  fs::create_directory(folder.path / "a");
  write_file_atomically(folder.path / "a" / "kept", "old");
  CHECK_THROWS_AS(write_file_atomically(folder.path / "a", "new"),
                  Error);  // a folder stands where the file should go
  CHECK(read_file(folder.path / "a" / "kept") == "old");
  CHECK(folder.n_entries() == 1);
  CHECK_THROWS_AS(write_file_atomically(folder.path / "none" / "f", "x"), Error);
}

TEST_CASE("what is no regular file is refused with the reason") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(read_file(folder.path), doctest::Contains("directory"), Error);
  CHECK_THROWS_WITH_AS(MappedFile(folder.path / "none"), doctest::Contains("No such file"), Error);
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH_AS(read_file(pipe), doctest::Contains("not a regular file"), Error);
  write_file_atomically(folder.path / "big", std::string(100, 'x'));
  CHECK_THROWS_WITH_AS(read_file(folder.path / "big", 99), doctest::Contains("at most 99"), Error);
}

TEST_CASE("a mapped file reads as its bytes, also after its pages were given back") {
  const Folder folder;
  const std::string content(70000, 'q');
  write_file_atomically(folder.path / "m", content);
  MappedFile map(folder.path / "m");
  REQUIRE(map.size_bytes() == content.size());
  map.release_pages(0, map.size_bytes());
  CHECK(std::string(reinterpret_cast<const char*>(map.data()), map.size_bytes()) == content);
  MappedFile moved(std::move(map));
  CHECK(moved.size_bytes() == content.size());
  write_file_atomically(folder.path / "empty", "");
  CHECK(MappedFile(folder.path / "empty").size_bytes() == 0);
}

TEST_CASE("an output takes the place of neither a store nor a key") {
  const Folder folder;
  for (const std::string begin : {"SQLite format 3", "-----BEGIN PRIVATE KEY-----"}) {
    std::ofstream(folder.path / "precious", std::ios::binary) << begin << " and more";
    CHECK_THROWS_AS(write_file_atomically(folder.path / "precious", "x"), Error);
    CHECK(read_file(folder.path / "precious") == begin + " and more");
  }
}
