// Something that answers requests: the built-in engine, an HTTP server, an import.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/fingerprint_items.h"
#include "record/request.h"
#include "record/trace.h"

namespace isobit {

struct Capabilities {
  bool logprobs = false;
  bool logits_hashes = false;  // needed by level 2
  bool teacher_forcing = false;
  bool embeddings = false;
  std::vector<std::string>
      axes;  // matrix axes that this target can set: "engine.chunked_prefill", ...
};

// One row of traffic. Neighbours load the target; only probes are recorded.
struct WorkItem {
  Request request;
  bool recorded = true;
};

// One cell, ready to be sent. `items` are admitted in order, at most `concurrency` in flight.
struct Workload {
  std::vector<WorkItem> items;
  int32_t concurrency = 1;
  bool record_embeddings = false;  // Trace::embedding of recorded items
  std::map<std::string, std::string>
      settings;  // axis key -> value, for the axes that the target declares
};

class Target {
 public:
  virtual ~Target() = default;
  virtual std::string name() const = 0;
  virtual Capabilities capabilities() const = 0;
  // Runs the workload; calls `on_trace(item index, trace)` on the calling thread for each finished
  // choice of each recorded item, in completion order. Throws Error(unsupported) for a setting it
  // cannot honour, before sending anything.
  virtual void run(const Workload& workload,
                   const std::function<void(size_t, Trace)>& on_trace) = 0;
};

}  // namespace isobit
