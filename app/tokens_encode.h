// `isobit tokens encode` and `decode`: text to token ids and back, token by token.
#pragma once

#include <functional>

#include "app/commands.h"

namespace isobit::app {

std::function<int()> declare_tokens_encode(CLI::App& app, Session& session);
std::function<int()> declare_tokens_decode(CLI::App& app, Session& session);

}  // namespace isobit::app
