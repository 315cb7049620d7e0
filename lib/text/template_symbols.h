// Decides, before a template is rendered, which variable each name means, as jinja2's compiler
// does.
//
// A frame is a piece with variables of its own: the template, a loop's body, a macro, {% with %}, a
// captured block. {% if %} is none. A frame that assigns a name has a variable of its own for it
// from its beginning on: empty, or a copy of the outer one. So a loop that reads a name which its
// template assigns only further down sees an empty variable, and not the one that was passed in;
// a name that is assigned in one branch of a condition falls back to the outer one in the other.
// Source: jinja2 3.1, idtracking.py and compiler.py.
#pragma once

#include "text/template_ast.h"

namespace isobit::jinja {

// Fills in frames, slots and context_names. Throws Fault with a line: TemplateAssertionError.
void resolve_names(ParsedTemplate& parsed);

}  // namespace isobit::jinja
