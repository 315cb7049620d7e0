// From a set-up to recorded answers: new runs, runs that are continued, and the questions of a
// recorded run asked again.
#pragma once

#include <string>

#include "app/audit.h"

namespace isobit::app {

// The plan and the prompts of a recorded run, with the model that it names, or that `arguments`
// name, as it is here. A redacted run has no prompts to ask: `arguments` must give them again, and
// they are checked against its digest. Throws Error(usage) where they are missing or others.
AuditSetup set_up_again(const RunRecord& run, const AuditArguments& arguments);

// Records a new run and returns its id. Throws Error(interrupted or terminated) when a signal came;
// what is recorded stays. A run that a limit ended is left incomplete, with the reason in it.
std::string record_run(AuditSetup& setup, const AuditArguments& arguments, Session& session);

// Continues an incomplete run: `ref`, or the latest incomplete one when empty.
std::string resume_run(const std::string& ref, const AuditArguments& arguments, Session& session);

}  // namespace isobit::app
