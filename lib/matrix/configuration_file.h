// A configuration under which a service runs, as a file: one side of an upgrade.
//
// `isobit gate --upgrade OLD.json NEW.json` reads two of them (schemas/configuration.schema.json)
// and runs the same prompts and cells under each. What isobit can set is set; what it cannot see
// (a driver, an image tag) is declared and becomes an item of the fingerprint.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "matrix/plan.h"

namespace isobit {

struct Configuration {
  std::string label;     // stored with the run
  AxisValues settings;   // "engine.kernel_set", "engine.threads", ...: normalised values
  std::string contract;  // version of the numeric contract that is expected; empty: any
  std::map<std::string, std::string> environment;  // declared: {"driver": "550.54.15"}
};

// Comments are allowed. Throws Error(usage) beginning with `where` for an unknown key (with the
// nearest one), an unknown value or a wrong type, and Error(unsupported) for a server.
Configuration read_configuration(std::string_view text, const std::string& where);

// The same format, normalised.
Json configuration_to_json(const Configuration& configuration);

}  // namespace isobit
