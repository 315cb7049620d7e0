// The statement half of the parser.
#include "text/template_parser.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "text/template_parse_state.h"
#include "text/template_symbols.h"
#include "text/template_unicode.h"

namespace isobit::jinja {
namespace {

// Keeps a value for the duration of a block of statements, and puts the old one back.
template <typename T>
class Restored {
 public:
  Restored(T& variable, T value)
      : variable_(variable), saved_(std::exchange(variable, std::move(value))) {}
  ~Restored() { variable_ = std::move(saved_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  T& variable_;
  T saved_;
};

class Parser : ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  ParsedTemplate run() {
    ParsedTemplate parsed;
    parsed.body = parse_body({});
    if (!unknown_names_.empty()) throw unknown_names_.front();
    parsed.marks_generation = marks_generation_;
    resolve_names(parsed);
    return parsed;
  }

 private:
  using Ends = std::vector<std::string_view>;

  static void add(Body& body, int line, auto what) {
    body.push_back(std::make_unique<Statement>(Statement{line, std::move(what)}));
  }

  // Statements up to a block tag whose name is in `ends`; stops at that name.
  Body parse_body(const Ends& ends) {
    const Nesting nesting(*this);
    Body body;
    while (current().type != TokenType::end) {
      const int line = current().line;
      if (current().type == TokenType::data) {
        add(body, line, TextStatement{next().text});
      } else if (current().type == TokenType::variable_begin) {
        next();
        PrintStatement print;
        print.values.push_back(parse_tuple());
        expect(TokenType::variable_end);
        add(body, line, std::move(print));
      } else {
        expect(TokenType::block_begin);
        if (current().type != TokenType::name) fail("tag name expected", current().line);
        if (std::find(ends.begin(), ends.end(), current().text) != ends.end()) return body;
        parse_statement(body, ends);
        expect(TokenType::block_end);
      }
    }
    if (!ends.empty()) fail_unfinished(ends);
    return body;
  }

  // The rest of an opening tag, the statements, and the name of the closing tag, which is returned.
  std::pair<Body, std::string> parse_block(const Ends& ends) {
    skip_sign(":");
    expect(TokenType::block_end);
    Body body = parse_body(ends);
    return {std::move(body), next().text};
  }

  Body parse_scoped_block(std::string_view end) {
    const Restored<bool> strict(lenient_names_, false);
    return parse_block({end}).first;
  }

  static std::string quoted_list(const Ends& ends) {
    std::string out;
    for (const std::string_view end : ends)
      out += (out.empty() ? "'" : " or '") + std::string(end) + "'";
    return out;
  }

  [[noreturn]] void fail_unfinished(const Ends& ends) const {
    std::string message = "Unexpected end of template. Jinja was looking for the following tags: " +
                          quoted_list(ends) + ".";
    if (!open_tags_.empty())
      message += " The innermost block that needs to be closed is '" + open_tags_.back() + "'.";
    fail(message, current().line);
  }

  [[noreturn]] void fail_unknown(const std::string& name, const Ends& ends, int line) const {
    std::string message = "Encountered unknown tag '" + name + "'.";
    if (!ends.empty())
      message += " Jinja was looking for the following tags: " + quoted_list(ends) + ".";
    if (!open_tags_.empty())
      message += " The innermost block that needs to be closed is '" + open_tags_.back() + "'.";
    fail(message, line);
  }

  void parse_statement(Body& body, const Ends& ends) {
    struct Known {
      std::string_view name;
      void (Parser::*parse)(Body&, int);
    };
    static constexpr Known kKnown[] = {
        {"if", &Parser::parse_if},         {"for", &Parser::parse_for},
        {"set", &Parser::parse_set},       {"with", &Parser::parse_with},
        {"macro", &Parser::parse_macro},   {"call", &Parser::parse_call_block},
        {"filter", &Parser::parse_filter}, {"generation", &Parser::parse_generation},
        {"break", &Parser::parse_break},   {"continue", &Parser::parse_continue},
        {"print", &Parser::parse_print},
    };
    static constexpr std::string_view kRefused[] = {"block",  "extends", "include",
                                                    "import", "from",    "autoescape"};
    const int line = current().line;
    const std::string name = current().text;
    const auto* known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                     [&](const Known& k) { return k.name == name; });
    if (std::find(std::begin(kRefused), std::end(kRefused), name) != std::end(kRefused)) {
      throw Fault(kNotSupported, "the statement {% " + name + " %}", line);
    }
    if (known == std::end(kKnown)) fail_unknown(name, ends, line);
    next();
    open_tags_.push_back(name);
    (this->*known->parse)(body, line);
    open_tags_.pop_back();
  }

  Target parse_target(bool with_attributes) {
    const int line = current().line;
    Target tuple{.line = line, .name = {}, .attribute = {}, .tuple = {}, .is_tuple = false};
    for (;;) {
      if (!tuple.tuple.empty()) {
        if (!skip_sign(",")) break;
        tuple.is_tuple = true;
        if (current().type == TokenType::block_end || is_sign(")")) break;
      }
      tuple.tuple.push_back(parse_single_target(with_attributes));
    }
    if (tuple.is_tuple) return tuple;
    return std::move(tuple.tuple[0]);
  }

  Target parse_single_target(bool with_attributes) {
    const Nesting nesting(*this);
    const int line = current().line;
    if (skip_sign("(")) {
      Target inner = parse_target(with_attributes);
      expect_sign(")");
      return inner;
    }
    if (current().type != TokenType::name)
      fail("can't assign to '" + describe(current()) + "'", line);
    Target target{
        .line = line, .name = next().text, .attribute = {}, .tuple = {}, .is_tuple = false};
    static constexpr std::string_view kConstants[] = {"true", "false", "none",
                                                      "True", "False", "None"};
    if (std::find(std::begin(kConstants), std::end(kConstants), target.name) !=
        std::end(kConstants)) {
      fail("can't assign to 'const'", line);
    }
    if (with_attributes && skip_sign(".")) target.attribute = expect_name().text;
    return target;
  }

  void parse_if(Body& body, int line) {
    const Restored<bool> lenient(lenient_names_, true);
    IfStatement made;
    for (std::string end = "elif"; end == "elif";) {
      ExpressionPtr test = parse_tuple(TupleForm::bare, Conditional::excluded);
      auto [branch, closing] = parse_block({"elif", "else", "endif"});
      made.branches.push_back({std::move(test), std::move(branch)});
      end = closing;
      if (end == "else") made.otherwise = parse_block({"endif"}).first;
    }
    add(body, line, std::move(made));
  }

  void parse_for(Body& body, int line) {
    ForStatement made;
    made.target = parse_target(false);
    expect_name("in");
    made.iterable = parse_tuple(TupleForm::bare, Conditional::excluded);
    const Restored<bool> strict(lenient_names_, false);
    if (skip_name("if")) made.filter = parse_expression();
    made.recursive = skip_name("recursive");
    std::string end;
    {
      const Restored<int> inside(loop_depth_, loop_depth_ + 1);
      std::tie(made.body, end) = parse_block({"endfor", "else"});
    }
    if (end == "else") {
      made.has_else = true;
      made.otherwise = parse_block({"endfor"}).first;
    }
    add(body, line, std::move(made));
  }

  void parse_set(Body& body, int line) {
    Target target = parse_target(true);
    if (skip_sign("=")) return add(body, line, SetStatement{std::move(target), parse_tuple()});
    ExpressionPtr filter = is_sign("|") ? parse_filters(nullptr, false) : nullptr;
    add(body, line,
        SetBlockStatement{std::move(target), std::move(filter), parse_scoped_block("endset"), {}});
  }

  void parse_with(Body& body, int line) {
    WithStatement made;
    while (current().type != TokenType::block_end) {
      if (!made.assignments.empty()) expect_sign(",");
      Target target = parse_target(false);
      expect_sign("=");
      made.assignments.emplace_back(std::move(target), parse_expression());
    }
    made.body = parse_scoped_block("endwith");
    add(body, line, std::move(made));
  }

  void parse_macro_body(MacroBody& macro, int line, std::string_view end) {
    macro.line = line;
    const Restored<int> outside_loops(loop_depth_, 0);
    macro.body = parse_scoped_block(end);
  }

  void parse_signature(MacroBody& macro) {
    expect_sign("(");
    while (!is_sign(")")) {
      if (!macro.parameters.empty()) expect_sign(",");
      Parameter parameter{expect_name().text, nullptr};
      if (skip_sign("=")) {
        parameter.fallback = parse_expression();
      } else if (!macro.parameters.empty() && macro.parameters.back().fallback) {
        fail("non-default argument follows default argument", current().line);
      }
      macro.parameters.push_back(std::move(parameter));
    }
    expect_sign(")");
  }

  void parse_macro(Body& body, int line) {
    MacroStatement made;
    made.macro.name = expect_name().text;
    parse_signature(made.macro);
    parse_macro_body(made.macro, line, "endmacro");
    add(body, line, std::move(made));
  }

  void parse_call_block(Body& body, int line) {
    CallStatement made;
    if (is_sign("(")) parse_signature(made.caller);
    made.call = parse_expression();
    if (made.call->type != ExpressionType::call) fail("expected call", made.call->line);
    parse_macro_body(made.caller, line, "endcall");
    add(body, line, std::move(made));
  }

  void parse_filter(Body& body, int line) {
    ExpressionPtr filter = parse_filters(nullptr, true);
    add(body, line, FilterStatement{std::move(filter), parse_scoped_block("endfilter"), {}});
  }

  void parse_generation(Body& body, int line) {
    marks_generation_ = true;
    GenerationStatement made;
    parse_macro_body(made.written, line, "endgeneration");
    add(body, line, std::move(made));
  }

  void parse_break(Body& body, int line) {
    if (loop_depth_ == 0) fail("'break' outside loop", line);
    add(body, line, BreakStatement{});
  }

  void parse_continue(Body& body, int line) {
    if (loop_depth_ == 0) fail("'continue' not properly in loop", line);
    add(body, line, ContinueStatement{});
  }

  void parse_print(Body& body, int line) {
    PrintStatement made;
    while (current().type != TokenType::block_end) {
      if (!made.values.empty()) expect_sign(",");
      made.values.push_back(parse_expression());
    }
    add(body, line, std::move(made));
  }

  std::vector<std::string> open_tags_;
  int loop_depth_ = 0;
  bool marks_generation_ = false;
};

}  // namespace

ParsedTemplate parse_template(std::string_view source) {
  if (const size_t bad = first_invalid_utf8(source); bad != std::string_view::npos) {
    const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<long>(bad), '\n');
    throw Fault("TemplateSyntaxError",
                "the template is not valid UTF-8 at byte " + std::to_string(bad),
                static_cast<int>(line));
  }
  return Parser(tokenize(source)).run();
}

}  // namespace isobit::jinja
