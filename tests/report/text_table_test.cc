#include "report/text_table.h"

#include <doctest/doctest.h>

#include <sstream>

#include "base/error.h"
#include "report/untrusted_text.h"

using namespace isobit;

namespace {

size_t widest_line(const std::string& text) {
  size_t widest = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) widest = std::max(widest, display_width(line));
  return widest;
}

std::string without_breaks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

}  // namespace

TEST_CASE("columns line up, numbers to the right") {
  CHECK(text_table({{"cell"}, {"n", Align::kRight}}, {{"a", "1"}, {"long name", "1000"}}) ==
        "cell          n\n"
        "---------  ----\n"
        "a             1\n"
        "long name  1000\n");
}

TEST_CASE("a long cell name goes on in the next line, broken after a comma, and loses nothing") {
  const std::string name =
      "load.concurrency=32,engine.chunked_prefill=16,load.position=middle,load.neighbours=longer";
  const std::string table = text_table({{"cell"}, {"samples", Align::kRight}, {"state"}},
                                       {{name, "64", "not exercised"}});
  CHECK(widest_line(table) <= 80);
  CHECK(table.find("load.concurrency=32,engine.chunked_prefill=16,") != std::string::npos);
  CHECK(without_breaks(table).find("load.position=middle,") != std::string::npos);
  CHECK(without_breaks(table).find("load.neighbours=longer") != std::string::npos);
}

TEST_CASE("a name without commas is broken after another sign rather than within a word") {
  const std::string value(40, 'x');
  const std::string table =
      text_table({{"cell"}}, {{"engine.kernel_set=" + value + "-adaptive" + value}});
  CHECK(table.find("engine.kernel_set=" + value + "-\nadaptive" + value + "\n") !=
        std::string::npos);
}

TEST_CASE("no table is wider than asked, whatever is in it") {
  const std::vector<TableColumn> columns(16, {"a rather long title", Align::kRight});
  const std::vector<std::string> row(16, "\u4e2d\u6587\u5b57\u4e2d\u6587\u5b57 and \x1b[31m words");
  CHECK(widest_line(text_table(columns, {row, row})) <= 80);
  CHECK(widest_line(text_table(columns, {row}, 120)) <= 120);
}

TEST_CASE("numbers and dates are not cut while another column can give way") {
  const std::string prose =
      "words that may go on in the next line as often as is needed, and again";
  const std::string table =
      text_table({{"tier"}, {"95 %"}, {"tok/s/request", Align::kRight}, {"since"}, {"what"}},
                 {{"gold", "96.1-100.0 %", "1.23e+03 -> 1.24e+03", "2026-12-01T04:11:41Z", prose}});
  CHECK(widest_line(table) <= 80);
  for (const char* whole : {"96.1-100.0 %", "1.23e+03", "2026-12-01T04:11:41Z"})
    CHECK(table.find(whole) != std::string::npos);
}

TEST_CASE("control characters and escapes never reach the terminal") {
  const std::string table = text_table({{"cell"}}, {{"\x1b]0;title\x07\r\nspoof\xff\u202E"}});
  for (const char c : table) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  CHECK(table.find("\\x1b]0;title\\x07\\r\\nspoof\\xff\\u{202e}") != std::string::npos);
}

TEST_CASE("short and long rows are fitted to the columns") {
  CHECK(text_table({{"a"}, {"b"}}, {{"1"}, {"1", "2", "3"}}) == "a    b\n---  ---\n1\n1    2\n");
  CHECK_THROWS_AS(text_table({}, {}), Error);
}
