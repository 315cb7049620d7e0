// What a template may not do, each with the words that its author reads.
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

std::string message_of(const std::string& source, RenderOptions options = {}) {
  try {
    return "rendered: " + ChatTemplate::parse(source, "t").render(Json::object(), options);
  } catch (const Error& error) {
    return error.message();
  }
}

struct Refusal {
  std::string source;
  std::string message;
};

void check_all(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    CAPTURE(refusal.source.substr(0, 80));
    CHECK(message_of(refusal.source) == refusal.message);
  }
}

}  // namespace

TEST_CASE("a template that calls itself, or nests too deep, is refused in these words") {
  const std::string recursion =
      "t:1: chat template: RecursionError: maximum recursion depth exceeded";
  const std::string nesting =
      "t:1: chat template: TemplateSyntaxError: the template nests deeper than 300 levels";
  const std::string chain =
      "t:1: chat template: TemplateSyntaxError: an expression is deeper than 300 levels";
  check_all({
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", recursion},
      {"{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
       recursion},
      {"{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", recursion},
      {"{% macro m(x=m()) %}{% endmacro %}{{ m() }}", recursion},
      {"{% set n = namespace() %}{% set n.self = n %}{{ n }}", recursion},
      {"{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}", nesting},
      {"{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}", nesting},
      {repeated("{% if 1 %}", 5000) + repeated("{% endif %}", 5000), nesting},
      {repeated("{% for i in x %}", 5000) + repeated("{% endfor %}", 5000), nesting},
      {"{{ 1" + repeated(" + 1", 5000) + " }}", chain},
      {"{{ x" + repeated("|e", 5000) + " }}", chain},
      {"{% set n = namespace(v=[]) %}{% for i in range(1000) %}{% set n.v = [n.v] %}{% endfor %}",
       "t:1: chat template: RecursionError: values nest deeper than the limit allows"},
      {"{% set n = namespace(v=[1]) %}{% for i in range(1000) %}{% set n.v = n.v|map('abs') %}"
       "{% endfor %}",
       "t:1: chat template: RecursionError: values nest deeper than the limit allows"},
  });
}

TEST_CASE("steps, text and ranges are bounded in these words") {
  check_all({
      {"{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
       "t:1: chat template: LimitError: the template takes more steps, or builds more text, than "
       "the limit allows"},
      {"{% set n = namespace(s='x') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor "
       "%}",
       "t:1: chat template: LimitError: the template takes more steps, or builds more text, than "
       "the limit allows"},
      {"{{ range(100001) }}",
       "t:1: chat template: OverflowError: Range too big. The sandbox blocks ranges larger than "
       "MAX_RANGE (100000)."},
      {"{{ 9223372036854775807 + 1 }}",
       "t:1: chat template: OverflowError: an integer leaves the 64 bits that this interpreter "
       "keeps"},
  });
  CHECK(message_of("{{ ('x' * 3000000)|wordwrap(1)|length }}").find("LimitError") !=
        std::string::npos);
  RenderOptions small;
  small.max_output_bytes = 10;
  CHECK(message_of("{{ 'x' * 11 }}", small) ==
        "t:1: chat template: LimitError: the template writes more than 10 bytes");
}

TEST_CASE("no attribute reaches code, and nothing that is passed in can be changed") {
  check_all({
      {"{{ ''.__class__.__mro__ }}",
       "t:1: chat template: SecurityError: access to attribute '__class__' of 'str' object is "
       "unsafe."},
      {"{{ [].append(1) }}",
       "t:1: chat template: SecurityError: access to attribute 'append' of 'list' object is "
       "unsafe."},
      {"{{ {}.update({'a': 1}) }}",
       "t:1: chat template: SecurityError: access to attribute 'update' of 'dict' object is "
       "unsafe."},
      {"{% set n = namespace() %}{% set n.__init__ = 1 %}",
       "t:1: chat template: SecurityError: Chat templates cannot store underscore-prefixed "
       "attributes on a namespace, but got '__init__'. Please rename the attribute."},
      {"{% macro m() %}{% endmacro %}{{ m.__call__.__globals__ }}",
       "t:1: chat template: SecurityError: access to attribute '__call__' of 'Macro' object is "
       "unsafe."},
      {"{{ cycler.__init__.__globals__.os.system('x') }}",
       "t:1: chat template: SecurityError: access to attribute '__init__' of 'type' object is "
       "unsafe."},
      {"{{ '{0.__class__}'.format(1) }}|", "rendered: |"},
      {"{{ '{0.__class__.__mro__}'.format(1) }}",
       "t:1: chat template: SecurityError: access to attribute '__class__' of 'int' object is "
       "unsafe."},
      {"{{ ['']|map(attribute='__class__')|first }}|", "rendered: |"},
      {"{% include '/etc/passwd' %}",
       "t:1: the chat template uses the statement {% include %}, which isobit does not support"},
      {"{{ self }}",
       "t:1: the chat template uses the variable self, which stands for the template, which isobit "
       "does not support"},
  });
}

TEST_CASE("a template that asks the clock without one is refused in these words") {
  CHECK(message_of("{{ strftime_now('%Y') }}") ==
        "t:1: chat template: ClockError: the template reads the clock (strftime_now), and no time "
        "was given");
}

TEST_CASE("errors say the line") {
  check_all({
      {"a\n\n{{ raise_exception('no tools') }}", "t:3: chat template: TemplateError: no tools"},
      {"a\n{% if x %}\n",
       "t:2: chat template: TemplateSyntaxError: Unexpected end of template. "
       "Jinja was looking for the following tags: 'elif' or 'else' or 'endif'. "
       "The innermost block that needs to be closed is 'if'."},
      {"\n{{ x.y }}", "t:2: chat template: UndefinedError: 'x' is undefined"},
      {"\n\n{{ 1|nope }}", "t:3: chat template: TemplateAssertionError: No filter named 'nope'."},
  });
}

TEST_CASE("what a generator does for items that nobody asks for is never done") {
  CHECK(message_of("{{ [1, 'x', none]|map('round')|first }}") == "rendered: 1");
  CHECK(message_of("{{ 'ok' if [1]|map('nope') }}") == "rendered: ok");
  CHECK(message_of("{% set n = namespace(c=0) %}{% macro f(x) %}{% set n.c = n.c + 1 %}{{ x }}"
                   "{% endmacro %}{{ 2 in [1, 2, 3]|map('abs') }}") == "rendered: True");
  CHECK(message_of("{% set g = [1, 2, 3]|map('abs') %}{{ g|first }}{{ g|list }}{{ g|list }}") ==
        "rendered: 1[2, 3][]");
}

TEST_CASE("the variables that a template reads are those that it does not define") {
  const auto reads = [](const char* source) {
    return ChatTemplate::parse(source, "t").variables();
  };
  CHECK(reads("{{ a }}{% set b = c %}{{ b }}{{ range(3) }}{% for d in e %}{{ d }}{{ loop.index }}"
              "{% endfor %}{% macro m(f, g=h) %}{{ f }}{{ g }}{{ caller() }}{% endmacro %}") ==
        std::vector<std::string>{"a", "c", "e", "h"});
  CHECK(reads("{% if x is not defined %}{% set x = 1 %}{% endif %}{{ x }}") ==
        std::vector<std::string>{"x"});
  CHECK(reads("{% set y = 1 %}{{ y }}{{ raise_exception('q') }}").empty());
  CHECK(ChatTemplate::parse("{% if a %}{{ raise_exception('q') }}{% endif %}", "t")
            .reads("raise_exception"));
  CHECK_FALSE(ChatTemplate::parse("{{ 'raise_exception' }}", "t").reads("raise_exception"));
  CHECK_FALSE(
      ChatTemplate::parse("{% set strftime_now = 1 %}{{ strftime_now }}", "t").reads_clock());
}

}  // namespace isobit::test
