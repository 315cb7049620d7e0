// The tables of filters, each in a file of its own.
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
const Filter* find_number_filter(const std::string& name);
const Filter* find_sequence_filter(const std::string& name);
const Filter* find_lazy_filter(const std::string& name);
const Filter* find_layout_filter(const std::string& name);

// Of any table; null when there is none of that name.
const Filter* find_filter(const std::string& name);

}  // namespace isobit::jinja
