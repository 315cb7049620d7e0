#include "text/regex_dialect.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "text/regex.h"

using namespace isobit;

namespace {

bool matches(const std::string& pattern, const std::string& text) {
  RegexScratch scratch;
  const auto match =
      Regex(pcre2_pattern_from_oniguruma(pattern, "test"), "test").find(text, 0, scratch);
  return match && match->begin == 0 && match->end == text.size();
}

std::string refusal(const std::string& pattern) {
  try {
    (void)Regex(pcre2_pattern_from_oniguruma(pattern, "test"), "test");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::environment);
    return error.message();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("classes mean what they mean in Oniguruma") {
  CHECK(matches("\\s", "\u0085"));
  CHECK_FALSE(matches("\\s", "\u180E"));  // PCRE2's own \s would match
  CHECK(matches("\\S", "\u180E"));
  CHECK(matches("[\\s]", "\u3000"));
  CHECK_FALSE(matches("[^\\s]", "\u3000"));
  CHECK(matches("[^\\S\\n]", "\t"));
  CHECK_FALSE(matches("[^\\S\\n]", "\n"));
  CHECK_FALSE(matches("[^\\S\\n]", "\u180E"));
  CHECK(matches("\\w", "\u0301"));        // a mark: PCRE2's \w of 10.42 leaves it out
  CHECK_FALSE(matches("\\w", "\u00BD"));  // a number that is no digit: PCRE2's \w has it
  CHECK(matches("\\W", "\u00BD"));
  CHECK(matches("\\p{Han}", "\u6F22"));
  CHECK_FALSE(matches("\\p{Han}", "\u3001"));  // shared by scripts: PCRE2's \p{Han} has it
  CHECK(matches("\\P{Han}", "a"));
  CHECK(matches("\\p{^Lu}", "a"));
  CHECK(matches("\\u0041\\x42", "AB"));
  CHECK(matches("(?i:'S)", "'\u017F"));
  CHECK_FALSE(matches(".", "\n"));
  CHECK(matches(".", "\r"));
}

TEST_CASE("constructs that mean something else are refused by name") {
  for (const char* pattern : {"\\h", "\\K", "\\R", "\\X", "\\bx", "\\G", "\\1", "\\k<n>", "\\Q"}) {
    CHECK_MESSAGE(refusal(pattern) != "accepted", pattern);
  }
  CHECK(refusal("[a[b]]").find("class inside a class") != std::string::npos);
  CHECK(refusal("[[:alpha:]]").find("POSIX") != std::string::npos);
  CHECK(refusal("[a-z&&[^b]]").find("'&&'") != std::string::npos);
  CHECK(refusal("a{1,2}+").find("'+' after a counted repeat") != std::string::npos);
  CHECK(refusal("a{,2}").find("'{'") != std::string::npos);
  CHECK(refusal("a(?m:b)").find("(?m:") != std::string::npos);
  CHECK(refusal("a(?i)b").find("(?i)") != std::string::npos);
  CHECK(refusal("[\\W]").find("\\W") != std::string::npos);
  CHECK(refusal("(?<name>a)").find("(?<n") != std::string::npos);
  CHECK(refusal("\\p{Klingon}") != "accepted");
  CHECK(refusal("\\p{L").find("property") != std::string::npos);
  CHECK(refusal("[abc").find("unclosed") != std::string::npos);
  CHECK(refusal("(abc") != "accepted");
  CHECK(refusal("a\\") != "accepted");
  CHECK(refusal("*") != "accepted");
  CHECK(refusal(std::string(500, '(') + std::string(500, ')')) != "accepted");
}

TEST_CASE("a pattern that backtracks without end gives up with an error") {
  RegexScratch scratch;
  const Regex regex(pcre2_pattern_from_oniguruma("(?:a+)+b", "test"), "test");
  CHECK_THROWS_WITH_AS(regex.find(std::string(60, 'a') + "cb", 0, scratch),
                       doctest::Contains("gave up"), Error);
  REQUIRE(regex.find("xaab", 0, scratch));
  CHECK(regex.find("xaab", 0, scratch)->begin == 1);  // and the scratch is still good
}

TEST_CASE("patterns cut anywhere and with any byte changed never crash") {
  const std::string pattern =
      "(?i:'s|'t)|[^\\r\\n\\p{L}\\u00e9]?\\p{Han}+|\\p{N}{1,3}| "
      "?[^\\s\\w]++[\\r\\n]*|\\s+(?!\\S)|(?<=a)\\x41";
  const auto attempt = [](const std::string& text) {
    try {
      RegexScratch scratch;
      (void)Regex(pcre2_pattern_from_oniguruma(text, "test"), "test")
          .find("It's 123 \u6F22 aA  \n", 0, scratch);
    } catch (const Error&) {
    }
  };
  for (size_t n = 0; n < pattern.size(); ++n) attempt(pattern.substr(0, n));
  for (size_t at = 0; at < pattern.size(); ++at) {
    for (int byte = 1; byte < 256; byte += 3) {
      std::string changed = pattern;
      changed[at] = static_cast<char>(byte);
      attempt(changed);
    }
  }
}
