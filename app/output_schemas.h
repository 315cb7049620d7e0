// Which schema the --json output of each command keeps to, and the text of every schema: compiled
// in from schemas/, so that `isobit schema` works wherever the program is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobit::app {

struct OutputSchema {
  const char* command;     // "store list"; "--version", which is none
  const char* schema;      // "store": schemas/store.schema.json
  const char* definition;  // in its $defs; empty: the whole schema
};

struct PublishedSchema {
  const char* name;  // "store"
  const char* text;
};

const std::vector<OutputSchema>& output_schemas();
const std::vector<PublishedSchema>& published_schemas();  // by name

// More than one: the arguments decide which. None: the command has no output of its own.
std::vector<OutputSchema> schemas_of(std::string_view command);
// "why ($defs/explanation) or rule".
std::string schemas_text(std::string_view command);

}  // namespace isobit::app
