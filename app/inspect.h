// `isobit inspect ...`: one file per thing that can be inspected.
#pragma once

#include <functional>

#include "app/commands.h"

namespace isobit::app {

std::function<int()> declare_inspect_checkpoint(CLI::App& app, Session& session);
std::function<int()> declare_inspect_tokenizer(CLI::App& app, Session& session);
std::function<int()> declare_inspect_template(CLI::App& app, Session& session);

// A row of a listing: "  name            value", the value made printable.
std::string fact(std::string_view name, std::string_view value);

}  // namespace isobit::app
