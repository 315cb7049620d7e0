// Template text to tokens, with jinja2's rules for whitespace.
//
// Most differences between two template engines are made here, in which newline and which blanks
// survive. The options are those of transformers: trim_blocks (a newline right after a block or
// comment goes), lstrip_blocks (blanks between the start of a line and a block or comment go), one
// trailing newline of the source goes, and the signs - and + beside a delimiter override them.
// jinja2 does it with regular expressions; this is the same behaviour by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isobit::jinja {

enum class TokenType {
  data,  // text between tags
  block_begin,
  block_end,
  variable_begin,
  variable_end,
  name,
  string,  // unescaped
  integer,
  real,
  sign,  // an operator or bracket; `text` is the operator
  end    // of the template
};

struct Token {
  TokenType type;
  std::string text;
  int line;  // 1-based
  int64_t integer = 0;
  double real = 0;
};

// Ends with one token of type `end`. Throws Fault("TemplateSyntaxError") with its line.
std::vector<Token> tokenize(std::string_view source);

}  // namespace isobit::jinja
