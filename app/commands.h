// The table of commands. Each has a file of its own and a function that declares its arguments and
// returns what to do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/console.h"

namespace isobit::app {

// For CLI::Option::check: a list that is given but empty is a slip, not the default.
inline std::string not_empty(const std::string& value) {
  return value.empty() ? "the value is empty" : "";
}

// Everything a command may use besides its own arguments.
struct Session {
  GlobalFlags flags;
  Console console;
};

// Declares the arguments of a command on `app`; the returned function runs it and gives the exit
// code. Its state lives as long as the function.
using Declare = std::function<int()> (*)(CLI::App& app, Session& session);

struct Command {
  const char* name;
  const char* summary;  // one line, also of `isobit help`
  const char* example;  // shown at the end of --help, and run by a test
  Declare declare;
};

const std::vector<Command>& commands();

std::function<int()> declare_baseline(CLI::App& app, Session& session);
std::function<int()> declare_bench(CLI::App& app, Session& session);
std::function<int()> declare_bisect(CLI::App& app, Session& session);
std::function<int()> declare_compare(CLI::App& app, Session& session);
std::function<int()> declare_completion(CLI::App& app, Session& session);
std::function<int()> declare_demo(CLI::App& app, Session& session);
std::function<int()> declare_doctor(CLI::App& app, Session& session);
std::function<int()> declare_explain(CLI::App& app, Session& session);
std::function<int()> declare_fingerprint(CLI::App& app, Session& session);
std::function<int()> declare_gate(CLI::App& app, Session& session);
std::function<int()> declare_help(CLI::App& app, Session& session);
std::function<int()> declare_inspect(CLI::App& app, Session& session);
std::function<int()> declare_plan(CLI::App& app, Session& session);
std::function<int()> declare_policy(CLI::App& app, Session& session);
std::function<int()> declare_reduce(CLI::App& app, Session& session);
std::function<int()> declare_replay(CLI::App& app, Session& session);
std::function<int()> declare_report(CLI::App& app, Session& session);
std::function<int()> declare_run(CLI::App& app, Session& session);
std::function<int()> declare_prompts(CLI::App& app, Session& session);
std::function<int()> declare_schema(CLI::App& app, Session& session);
std::function<int()> declare_selftest(CLI::App& app, Session& session);
std::function<int()> declare_store(CLI::App& app, Session& session);
std::function<int()> declare_tokens(CLI::App& app, Session& session);
std::function<int()> declare_verify(CLI::App& app, Session& session);

}  // namespace isobit::app
