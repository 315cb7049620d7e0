// The published digests: what the program holds is whole, and a changed file is refused or found.
#include "selftest/published_digests.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"

namespace isobit {
namespace {

std::string published_text() {
  return read_file(ISOBIT_SOURCE_DIR "/docs/elementary-digests.txt");
}

TEST_CASE("the program holds the file of the repository, and writes the same one") {
  CHECK(digests_text(published_digests()) == published_text());
}

TEST_CASE("a total is SHA-256 over its slices' digests") {
  for (const Elementary function : kElementaryFunctions) {
    std::string bytes;
    for (const Sha256Digest& slice : digests_of(published_digests(), function).slices)
      bytes.append(slice.begin(), slice.end());
    REQUIRE(bytes.size() == 256 * 32);
    CHECK(hex(sha256(bytes)) == hex(total_digest(digests_of(published_digests(), function))));
  }
}

TEST_CASE("a file cut anywhere between or inside lines is refused") {
  const std::string text = published_text();
  for (size_t n = 0; n + 1 < text.size(); n += n + 200 < text.size() ? 97 : 1) {
    CAPTURE(n);
    CHECK_THROWS_AS(digests_from_text(text.substr(0, n), "cut"), Error);
  }
  CHECK_NOTHROW(digests_from_text(text.substr(0, text.size() - 1), "without the last newline"));
}

TEST_CASE("one changed digit of a slice, a total or a word is refused, and so is one line more") {
  const std::string text = published_text();
  for (const char* line : {"\nexp 00 ", "\nexp total ", "\nerf ff ", "\nlog 80 ", "\ntanh 3f "}) {
    const size_t at = text.find(line);
    REQUIRE(at != std::string::npos);
    for (const size_t offset : {size_t{1}, std::string_view(line).size() + 5}) {
      std::string changed = text;
      changed[at + offset] = changed[at + offset] == '0' ? '1' : '0';
      CAPTURE(line);
      CHECK_THROWS_AS(digests_from_text(changed, "changed"), Error);
    }
  }
  CHECK_THROWS_AS(digests_from_text(text + "exp 00 0000\n", "longer"), Error);
  std::string upper = text;
  upper[upper.find_first_of("abcdef", upper.find("\nexp 00 ") + 8)] -= 32;
  CHECK_THROWS_AS(digests_from_text(upper, "upper case"), Error);
}

}  // namespace
}  // namespace isobit
