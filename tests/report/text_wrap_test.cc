#include "report/text_wrap.h"

#include <doctest/doctest.h>

using namespace isobit;

TEST_CASE("words go on in the next line, under the first") {
  CHECK(wrapped_text("one two three four", 4, 12) == "one two\n    three\n    four\n");
  CHECK(wrapped_text("") == "\n");
}

TEST_CASE("a word that fits no line is broken, or stays whole where it is there to be copied") {
  CHECK(wrapped_text("see abcdefghijkl", 2, 10) == "see\n  abcdefgh\n  ijkl\n");
  const std::string digest(90, 'f');
  CHECK(wrapped_words("sha256 " + digest, 4) == "sha256\n    " + digest + "\n");
}

TEST_CASE("only lines that are too wide are folded, and nothing but spaces changes") {
  const std::string narrow = "  a   b\n\nc\n";
  CHECK(folded_lines(narrow) == narrow);
  const std::string wide = "  " + std::string(50, 'x') + " " + std::string(40, 'y');
  CHECK(folded_lines(wide + "\nend\n") ==
        "  " + std::string(50, 'x') + "\n    " + std::string(40, 'y') + "\nend\n");
}
