// `isobit baseline verify`: the baseline's plan and prompts once more on this machine, recorded,
// and gated against the baseline with its policy.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "app/audit.h"

namespace isobit::app {

struct BaselineVerify {
  AuditArguments audit;
  bool fail_on_warn = false;
};

void declare_baseline_verify(CLI::App& app, BaselineVerify& arguments);

// Returns the gate's exit code. A model, tokenizer or template that may not differ and does is told
// before anything is computed (exit 6).
int verify_baseline(const std::string& name, BaselineVerify& arguments, Session& session);

}  // namespace isobit::app
