// The table of filters, and what its two halves (text, sequences) share.
#pragma once

#include <string>

#include "text/template_arguments.h"
#include "text/template_interpreter.h"

namespace isobit::jinja {

using FilterBody = Value (*)(Interpreter&, const Value&, const Arguments&);

struct Filter {
  const char* name;
  FilterBody body;  // null: jinja2 has it, this interpreter does not
};

const Filter* find_text_filter(const std::string& name);
const Filter* find_sequence_filter(const std::string& name);

}  // namespace isobit::jinja
