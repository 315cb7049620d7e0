// The variables of a template: a JSON object, rendered by the templates of tests/text/fixtures and
// by one that puts it through every filter and test that takes any value.
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/fuzz/fuzz_target.h"
#include "text/chat_template.h"

namespace isobit::test {

namespace {

constexpr size_t kMaxSteps = 20'000;
constexpr size_t kBytesOfAStep = 512;  // an element made, with the value in it

// One template for each filter: the first that refuses a value must not hide the rest.
constexpr const char* kExpressions[] = {
    "x",
    "x | tojson",
    "x | tojson(indent=2)",
    "x | string | length",
    "x | list",
    "x | length",
    "x | items | list",
    "x | first",
    "x | last",
    "x | join(',')",
    "x | sort",
    "x | unique | list",
    "x | reverse | list",
    "x | map('upper') | list",
    "x | map(attribute='k') | list",
    "x | selectattr('k') | list",
    "x | selectattr('k', 'equalto', 1) | list",
    "x | rejectattr('k', 'defined') | list",
    "x | groupby('k')",
    "x | dictsort",
    "x | batch(2) | list",
    "x | sum",
    "x | min",
    "x | max",
    "x | int",
    "x | float",
    "x | round(1)",
    "x | abs",
    "x | trim",
    "x | title",
    "x | capitalize",
    "x | indent(2)",
    "x | replace('a', 'b')",
    "x | escape",
    "x | default('d', true)",
    "x.split('a')",
    "x.strip()",
    "x.k.k",
    "x[0]",
    "x[1:]",
    "x[::-1]",
    "x + x",
    "x ~ x",
    "x * 2",
    "x / 3",
    "x // 3",
    "x % 3",
    "x ** 2",
    "-x",
    "x < y",
    "x == y",
    "x in y",
    "'%s %d' % (x, 1)",
    "'{:>5}'.format(x)",
    "x is mapping",
    "x is iterable",
    "x is divisibleby(3)",
};

std::vector<ChatTemplate> parse_templates() {
  std::vector<ChatTemplate> out;
  const std::string folder = std::string(ISOBIT_SOURCE_DIR) + "/tests/text/fixtures/templates/";
  for (const char* name :
       {"chatml.jinja", "headers_and_tools.jinja", "tools_in_tags.jinja", "typed_schema.jinja"})
    out.push_back(ChatTemplate::parse(read_file(folder + name), name));
  for (const char* expression : kExpressions)
    out.push_back(ChatTemplate::parse("{{ " + std::string(expression) + " }}", expression));
  return out;
}

void render(const ChatTemplate& chat_template, const Json& variables) {
  RenderOptions options;
  options.max_steps = kMaxSteps;
  options.max_output_bytes = kMiB;
  options.now = parse_clock("2026-01-31");
  try {
    (void)chat_template.render(variables, options);
  } catch (const Error& e) {
    expect(e.code() == ErrorCode::usage, e.what());
  }
}

const std::vector<ChatTemplate>& parsed_templates() {
  static const std::vector<ChatTemplate> templates = parse_templates();
  return templates;
}

}  // namespace

const size_t kAllowanceBytes = 4 * kMiB + kMaxSteps * kBytesOfAStep;

void read_hostile(std::string_view input) {
  const std::vector<ChatTemplate>& templates = parsed_templates();
  const Json variables = parse_json(input, "f");
  for (const ChatTemplate& chat_template : templates) render(chat_template, variables);
}

}  // namespace isobit::test
