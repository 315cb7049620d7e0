#include "report/untrusted_text.h"

#include <doctest/doctest.h>

#include <string>

#include "report/report.h"

using namespace isobit;
using namespace std::string_literals;

TEST_CASE("printable text shows as itself, everything else as an escape") {
  CHECK(visible_text("caf\u00e9 \u4e2d \U0001F600") == "caf\u00e9 \u4e2d \U0001F600");
  CHECK(visible_text("a\n\r\tb\\") == "a\\n\\r\\tb\\\\");
  CHECK(visible_text("\x1b[31m\x07\x7f"s + "\0"s) == "\\x1b[31m\\x07\\x7f\\x00");
  CHECK(visible_text("\u202Eabc\u2066\u200B\uFEFF\u00AD\u009B") ==
        "\\u{202e}abc\\u{2066}\\u{200b}\\u{feff}\\u{ad}\\u{9b}");
  CHECK(visible_text("\U000E0041") == "\\u{e0041}");
}

TEST_CASE("bytes that are not UTF-8 are shown one by one") {
  CHECK(visible_text("a\xff"s + "b") == "a\\xffb");
  CHECK(visible_text("\xe4\xb8") == "\\xe4\\xb8");                    // cut short
  CHECK(visible_text("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(visible_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(visible_text("\xf5\x80\x80\x80") == "\\xf5\\x80\\x80\\x80");  // past U+10FFFF
}

TEST_CASE("JSON shows bytes that are not UTF-8 as they are shown elsewhere, and keeps valid text") {
  CHECK(json_text("a\xff"s + "\xe4\xb8" + "b") == "a\\xff\\xe4\\xb8b");
  CHECK(json_text("a\xff") != json_text("a\xfe"));
  for (const char* valid : {"caf\u00e9\n", "a\\xff", "\\", "\uFFFD", ""})
    CHECK(json_text(valid) == valid);
}

TEST_CASE(
    "of texts that are not UTF-8, no two read alike in JSON, whatever backslashes they hold") {
  CHECK(json_text("\xff\\xfe") == "\\xff\\\\xfe");
  CHECK(json_text("\\xff\xfe") == "\\\\xff\\xfe");
}

TEST_CASE("one line of JSON is valid, whoever wrote the texts and keys in it") {
  const Json value = {{"a\xff", "b\xfe"}, {"valid \\", "caf\u00e9 \\"}};
  CHECK(json_line(value) == R"({"a\\xff":"b\\xfe","valid \\":"caf\u00e9 \\"})");
}

TEST_CASE("text is cut between characters and the cut is visible") {
  CHECK(visible_text("\u4e2d\u6587\u5b57", 2).starts_with("\u4e2d\u6587...~"));
  CHECK(visible_text("abc", 3) == "abc");
  CHECK(visible_text("", 0) == "");
}

TEST_CASE("nothing in inline code is markup, a table border, a link or a mention") {
  CHECK(markdown_code("a|b") == "<code>a&#124;b</code>");
  CHECK(markdown_code("</code><script>") == "<code>&#60;/code&#62;&#60;script&#62;</code>");
  CHECK(markdown_code("`*_[x](y)") == "<code>&#96;&#42;&#95;&#91;x&#93;&#40;y&#41;</code>");
  CHECK(markdown_code("https://a.b") == "<code>https&#58;//a.b</code>");
  CHECK(markdown_code("www.a.b") == "<code>www&#46;a.b</code>");
  CHECK(markdown_code("@user #1 &lt;") == "<code>&#64;user &#35;1 &#38;lt;</code>");
  CHECK(markdown_code("a\n# b") == "<code>a&#92;n&#35; b</code>");
}

TEST_CASE("no CSV field is a formula, and quotes double") {
  CHECK(csv_text("plain") == "plain");
  CHECK(csv_text("=1+1") == "'=1+1");
  CHECK(csv_text("+1") == "'+1");
  CHECK(csv_text("-1") == "'-1");
  CHECK(csv_text("@SUM(A1)") == "'@SUM(A1)");
  CHECK(csv_text("  =1") == "\"'  =1\"");
  CHECK(csv_text("\uFF1D1") == "'\uFF1D1");
  CHECK(csv_text("\t=1") == "\\t=1");
  CHECK(csv_text("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(csv_text("=HYPERLINK(\"x\",\"y\")") == "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"");
  CHECK(csv_text("a\nb") == "a\\nb");
}

TEST_CASE("widths count what a terminal shows") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\u4e2d\u6587") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(prefix_fitting("\u4e2d\u6587", 3) == 3);  // one wide character
  CHECK(prefix_fitting("\u4e2d", 1) == 3);        // at least one
  CHECK(prefix_fitting("", 5) == 0);
}

TEST_CASE("what a build server would carry out is made visible, and C++ stays as it is") {
  CHECK(visible_text("::error file=a::z") == "\\x3a:error file=a::z");
  CHECK(visible_text("a::Warning::z") == "a\\x3a:Warning::z");
  CHECK(visible_text(":::debug::") == ":\\x3a:debug::");
  CHECK(visible_text("##[error]z") == "\\x23#[error]z");
  CHECK(visible_text("x ##vso[a]b ##TeamCity[c]") == "x \\x23#vso[a]b \\x23#TeamCity[c]");
  for (const char* harmless :
       {"std::error_code", "std::vector", "::", "a :: b", "## Heading", "#1", "::errors::"})
    CHECK(visible_text(harmless) == harmless);
}

TEST_CASE("XML text holds no markup, quote or control") {
  CHECK(xml_text("a<b>&\"'\x01") == "a&#60;b&#62;&#38;&#34;&#39;\\x01");
  CHECK(xml_text("]]>") == "]]&#62;");
}

TEST_CASE("a Prometheus label ends where it ends") {
  CHECK(prometheus_label("a\"b\\c\nd") == "a\\\"b\\\\\\\\c\\\\nd");
}

TEST_CASE("workflow commands: per cent and line ends in messages, colon and comma in properties") {
  CHECK(workflow_message("50 %: a, b") == "50 %25: a, b");
  CHECK(workflow_property("50 %: a, b") == "50 %25%3A a%2C b");
}

TEST_CASE("a file name becomes a URI reference") {
  CHECK(uri_path("a b/\u00e9:[x]#?.json") == "a%20b/%C3%A9%3A%5Bx%5D%23%3F.json");
}

TEST_CASE("long names are cut, and those that differ still do") {
  CHECK(bounded_name("abc", 3) == "abc");
  CHECK(bounded_name("\u4e2d\u6587", 2) == "\u4e2d\u6587");
  const std::string a = bounded_name("abcd" + std::string(100, 'x'), 4);
  const std::string b = bounded_name("abcd" + std::string(101, 'x'), 4);
  CHECK(a.starts_with("abcd...~"));
  CHECK(a.size() == b.size());
  CHECK(a != b);
  CHECK(bounded_name("\u4e2d\u6587\u4e2d", 2).starts_with("\u4e2d\u6587...~"));
}

TEST_CASE("texts that begin alike stay apart wherever they are cut") {
  const std::string a(300, 'x'), b(301, 'x');
  CHECK(visible_text(a, 100) != visible_text(b, 100));
  CHECK(markdown_code(a, 100) != markdown_code(b, 100));
  CHECK(visible_text(a, 100).size() == 100 + 4 + 12);
}

TEST_CASE("long names in a sentence are cut where they stand, and the figures after them stay") {
  const std::string cell(5000, 'c'), longer = cell + "d", request = "p1";
  const std::string sentence = "1 of " + longer + " and " + cell + " p1: 7 in tokens";
  const std::string out = bounded_sentence(sentence, {cell, longer, request}, 500);
  CHECK(out.size() < 500);
  CHECK(out.ends_with(" p1: 7 in tokens"));
  CHECK(out.find(bounded_name(longer, kNameInSentenceCharacters) + " and " +
                 bounded_name(cell, kNameInSentenceCharacters)) != std::string::npos);
  CHECK(bounded_sentence("as it is, p1", {request, ""}) == "as it is, p1");
  CHECK(bounded_sentence(std::string(900, 'y'), {}, 500) ==
        bounded_name(std::string(900, 'y'), 500));
}

TEST_CASE("no name in a sentence becomes a link in Markdown") {
  CHECK(markdown_prose("policy https://evil.example: fail at 1.5") ==
        "policy https&#58;//evil.example: fail at 1.5");
  CHECK(markdown_prose("WWW.evil.example") == "WWW&#46;evil.example");
}
