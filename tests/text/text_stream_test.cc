#include "text/text_stream.h"

#include <doctest/doctest.h>

#include "text/unicode.h"

using namespace isobit;

TEST_CASE("characters come out whole however the bytes are cut") {
  const std::string text = "a\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x99\x82z";
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); ++second) {
      Utf8Stream stream;
      std::string out;
      for (const auto& part :
           {text.substr(0, first), text.substr(first, second - first), text.substr(second)}) {
        const std::string piece = stream.push(part);
        CHECK_FALSE(find_invalid_utf8(piece));
        out += piece;
      }
      CHECK(out + stream.finish() == text);
    }
  }
}

TEST_CASE("bytes are held back only while they can still become a character") {
  Utf8Stream stream;
  CHECK(stream.push("\xF0\x9F\x99") == "");
  CHECK(stream.n_held_bytes() == 3);
  CHECK(stream.push("\x82!") == "\xF0\x9F\x99\x82!");
  CHECK(stream.n_held_bytes() == 0);
  CHECK(stream.push("\xFF") == "\xEF\xBF\xBD");
  CHECK(stream.push("\xE0") == "");
  CHECK(stream.push("x") == "\xEF\xBF\xBDx");
  CHECK(stream.finish() == "");
  CHECK(stream.push("\xC3") == "");
  CHECK(stream.finish() == "\xEF\xBF\xBD");
  CHECK(stream.finish() == "");
}

// Each maximal part of a broken character is one U+FFFD: the examples of the Unicode standard,
// section 3.9, table 3-8 and what Python's bytes.decode("utf-8", "replace") gives.
TEST_CASE("broken bytes become replacement characters as in other programs") {
  const std::string r = "\xEF\xBF\xBD";
  CHECK(to_valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64") ==
        "a" + r + r + r + "b" + r + "c" + r + r + "d");
  CHECK(to_valid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") ==
        r + r + r + r + r + r + r + r + "A");
  CHECK(to_valid_utf8("\xED\xA0\x80\xED\xBF\xBF") == r + r + r + r + r + r);
  CHECK(to_valid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") ==
        r + r + r + r + r + "A" + r + r + "B");
  CHECK(to_valid_utf8("").empty());
}
