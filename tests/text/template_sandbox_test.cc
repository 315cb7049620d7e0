// Hostile templates: whatever they do, they end in an Error, in bounded time, memory and stack.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "text/chat_template.h"

namespace isobit::test {
namespace {

std::string repeated(const std::string& what, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += what;
  return out;
}

// The message of the Error, or the text behind "rendered: ".
std::string outcome(const std::string& source, const Json& variables = Json::object()) {
  RenderOptions options;
  options.max_steps = 300'000;
  options.max_output_bytes = 1 << 20;
  try {
    return "rendered: " + ChatTemplate::parse(source, "t").render(variables, options);
  } catch (const Error& error) {
    return error.message();
  }
}

bool ends_in(const std::string& result, const std::string& what) {
  return result.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("deep nesting in the source is refused before it can exhaust the stack") {
  const int n = 5000;
  for (const std::string& source : {
           "{{ " + repeated("(", n) + "1" + repeated(")", n) + " }}",
           "{{ " + repeated("[", n) + repeated("]", n) + " }}",
           "{{ " + repeated("{1:", n) + "1" + repeated("}", n) + " }}",
           "{{ " + repeated("x[", n) + "1" + repeated("]", n) + " }}",
           "{{ " + repeated("f(", n) + "1" + repeated(")", n) + " }}",
           "{{ " + repeated("-", n) + "1 }}",
           "{{ " + repeated("not ", n) + "1 }}",
           "{{ 1" + repeated(" if 1 else 1", n) + " }}",
           "{{ 1" + repeated(" if 1", n) + " }}",
           "{{ 1" + repeated(" + 1", n) + " }}",
           "{{ 1" + repeated(" ** 1", n) + " }}",
           "{{ x" + repeated(".a", n) + " }}",
           "{{ x" + repeated("|e", n) + " }}",
           "{{ x" + repeated("()", n) + " }}",
           "{{ 1 is sameas " + repeated("(", n) + "1" + repeated(")", n) + " }}",
           "{% set " + repeated("(", n) + "a" + repeated(")", n) + " = 1 %}",
           "{% set x | " + repeated("e | ", n) + "e %}{% endset %}",
           repeated("{% if 1 %}", n) + repeated("{% endif %}", n),
           repeated("{% for i in x %}", n) + repeated("{% endfor %}", n),
           repeated("{% set x %}", n) + repeated("{% endset %}", n),
           repeated("{% macro m() %}", n) + repeated("{% endmacro %}", n),
       }) {
    CAPTURE(source.substr(0, 40));
    CHECK_MESSAGE(ends_in(outcome(source), "deeper than"), outcome(source).substr(0, 200));
  }
}

TEST_CASE("long flat sources are not deep") {
  const int n = 5000;
  CHECK(outcome("{{ 1" + repeated(" or 1", n) + " }}") == "rendered: 1");
  CHECK(outcome("{{ 'a'" + repeated(" ~ 'b'", 100) + " }}") == "rendered: a" + repeated("b", 100));
  CHECK(outcome("{{ 1" + repeated(" < 2", 1) + repeated(" == 2", n) + " }}") == "rendered: True");
  CHECK(outcome("{% if 0 %}" + repeated("{% elif 0 %}", n) + "{% else %}e{% endif %}") ==
        "rendered: e");
  CHECK(outcome(repeated("{{ 1 }}", n)) == "rendered: " + repeated("1", n));
}

TEST_CASE("endless recursion is an error") {
  CHECK(ends_in(outcome("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), "RecursionError"));
  CHECK(ends_in(outcome("{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{% if 1 %}{{ a() | "
                        "upper }}{% endif %}{% endmacro %}{{ a() }}"),
                "RecursionError"));
  CHECK(ends_in(outcome("{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
                "RecursionError"));
  CHECK(ends_in(outcome("{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}{{ m(caller=m) "
                        "}}{% endcall %}"),
                "Error"));
  CHECK(ends_in(outcome("{% macro m(x=m()) %}{% endmacro %}{{ m() }}"), "RecursionError"));
  CHECK(ends_in(outcome("{% set n = namespace() %}{% set n.self = n %}{{ n }}"), "RecursionError"));
}

TEST_CASE("values that nest without end are refused, and shared ones do not explode") {
  CHECK(ends_in(outcome("{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = "
                        "[n.x] %}{% endfor %}"),
                "RecursionError"));
  CHECK(ends_in(outcome("{% set n = namespace(x={}) %}{% for i in range(100000) %}{% set n.x = "
                        "{'a': n.x} %}{% endfor %}"),
                "RecursionError"));
  CHECK(ends_in(outcome("{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = "
                        "[n.x.count] %}{% endfor %}"),
                "RecursionError"));
  const std::string doubling =
      "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor "
      "%}";
  CHECK(ends_in(outcome(doubling + "{{ n.x }}"), "LimitError"));
  CHECK(ends_in(outcome(doubling + "{{ n.x | tojson }}"), "LimitError"));
  CHECK(ends_in(outcome(doubling + "{{ n.x == (n.x | list) }}|{{ [n.x] == [n.x | list] }}"),
                "rendered: True|True"));
  CHECK(ends_in(outcome("{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set n.x = "
                        "[n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}"),
                "LimitError"));
}

TEST_CASE("time, memory and output are bounded") {
  CHECK(ends_in(
      outcome("{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"),
      "LimitError"));
  CHECK(ends_in(outcome("{% set n = namespace(s='x') %}{% for i in range(100) %}{% set n.s = n.s ~ "
                        "n.s %}{% endfor %}"),
                "LimitError"));
  CHECK(ends_in(outcome("{% set n = namespace(s=[1]) %}{% for i in range(100) %}{% set n.s = n.s + "
                        "n.s %}{% endfor %}"),
                "LimitError"));
  CHECK(ends_in(outcome("{{ 'x' * 9223372036854775807 }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ [1] * 9223372036854775807 }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ [1, 2] * 4611686018427387905 }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ 'x' | center(9000000000000000000) }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ 'x'.ljust(9000000000000000000, 'é') }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ '%999999s%999999s%999999s%999999s%999999s%999999s' % (1,2,3,4,5,6) }}"),
                "LimitError"));
  CHECK(ends_in(outcome("{{ '%9999999999s' % 1 }}"), "ValueError"));
  CHECK(ends_in(outcome("{{ '{:9999999999}'.format(1) }}"), "ValueError"));
  CHECK(ends_in(outcome("{{ [1]|batch(9000000000000000000, 1)|list }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ [1]|slice(9000000000000000000)|list }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ 'a\tb'.expandtabs(9000000000000000000) }}"), "LimitError"));
  CHECK(ends_in(outcome("{% for i in range(2000) %}{{ 'x' * 1000 }}{% endfor %}"), "LimitError"));
  CHECK(ends_in(outcome("{{ 'aaaa' | replace('', 'x' * 1000000) }}"), "LimitError"));
  CHECK(ends_in(outcome("{{ ('a' * 10000) | replace('a', 'x' * 1000) }}"), "LimitError"));
}

TEST_CASE("ranges and integers stay inside their limits") {
  CHECK(outcome("{{ range(100000) | length }}") == "rendered: 100000");
  CHECK(ends_in(outcome("{{ range(100001) }}"), "OverflowError: Range too big"));
  CHECK(ends_in(outcome("{{ range(-9223372036854775807, 9223372036854775807) }}"),
                "OverflowError: Range too big"));
  CHECK(outcome("{{ range(-9223372036854775807, 9223372036854775807, 9223372036854775807) | list | "
                "length }}") == "rendered: 2");
  CHECK(ends_in(outcome("{{ 9223372036854775807 + 1 }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ (-9223372036854775807 - 1) // -1 }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ -(-9223372036854775807 - 1) }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ (-9223372036854775807 - 1) | abs }}"), "OverflowError"));
  CHECK(outcome("{{ (-9223372036854775807 - 1) % -1 }}") == "rendered: 0");
  CHECK(ends_in(outcome("{{ 10 ** 19 }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ 2 ** 9223372036854775807 }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ 99999999999999999999 }}"), "64 bits"));
  CHECK(ends_in(outcome("{{ '99999999999999999999' | int }}"), "OverflowError"));
  CHECK(ends_in(outcome("{{ 1e300 | int }}"), "OverflowError"));
  CHECK(
      ends_in(outcome("{{ x }}", Json::parse(R"({"x": 18446744073709551615})")), "OverflowError"));
  CHECK(outcome("{{ 'abc'[-9223372036854775807:9223372036854775807:9223372036854775807] }}") ==
        "rendered: a");
  CHECK(outcome("{{ 'abc'[::-9223372036854775807 - 1] }}") == "rendered: c");
  CHECK(outcome("{{ 'abc'.find('c', -9223372036854775807, 9223372036854775807) }}") ==
        "rendered: 2");
}

TEST_CASE("what would change a value, or reach behind it, is not there") {
  for (const char* method :
       {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"}) {
    CHECK(ends_in(outcome(std::string("{{ [1].") + method + "() }}"),
                  "SecurityError: access to attribute '" + std::string(method) +
                      "' of 'list' object is unsafe."));
  }
  for (const char* method : {"clear", "pop", "popitem", "setdefault", "update"}) {
    CHECK(ends_in(outcome(std::string("{{ {}['") + method + "']() }}"), "SecurityError"));
  }
  CHECK(ends_in(outcome("{{ ''.__class__.__mro__ }}"), "SecurityError"));
  CHECK(ends_in(outcome("{{ namespace.__init__() }}"), "SecurityError"));
  CHECK(ends_in(outcome("{{ '{0.__class__.__mro__}'.format(1) }}"), "SecurityError"));
  CHECK(ends_in(outcome("{{ [{}]|map(attribute='__class__.__mro__')|list }}"), "SecurityError"));
  CHECK(outcome("{{ ''.__class__ }}|{{ [].append }}") == "rendered: |");
}

}  // namespace isobit::test
