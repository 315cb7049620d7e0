// The inference fingerprint: everything that this machine knows about what could change an answer,
// as items with an id.
//
// Two runs whose fingerprints have one id were asked of the same weights, the same text handling
// and the same arithmetic, by the same software on the same kind of machine. What moves by itself
// (free memory, clocks, dates, host names, paths) never enters, so the same inputs give the same
// id. A fact that cannot be had is an item too, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "checkpoint/checkpoint.h"
#include "fingerprint/same_text.h"
#include "record/fingerprint_items.h"

namespace isobit {

// Of docs/numeric-contract.md: moves when one bit of one result can.
inline constexpr const char* kNumericContractVersion = "1";

// How text becomes token ids. Digests come from the text layer's caller; what is empty is recorded
// as unknown.
struct TextInputs {
  std::string tokenizer_digest = {};       // SHA-256 (hex) of all that decides how text becomes ids
  std::string chat_template_digest = {};   // of the template's text
  std::string rendered_probe_digest = {};  // of a fixed conversation, rendered and encoded
  std::vector<TextProbe> probes = {};      // sentences that show where ids differ
  std::map<std::string, std::string> named_template_digests = {};   // "tool_use" and others
  std::map<std::string, std::string> unused_template_digests = {};  // by place, where texts differ
  std::string template_clock = {};  // what the templates' clock said; empty: none reads it
  std::string missing_reason = "not handed in";
};

struct NumericsInputs {
  std::string kernel_set = {};  // "cpu"
  std::string isa = {};         // "avx512"
  std::string kv_dtype = {};    // "f16"
  std::string scheme = "f32";
};

struct SchedulerInputs {
  int64_t tensor_parallel = 1;
  std::optional<int64_t> max_batch_requests = std::nullopt;
  std::optional<int64_t> max_batch_tokens = std::nullopt;
  std::optional<int64_t> chunk_tokens = std::nullopt;  // nothing: prefill is not chunked
  std::string prefix_cache = "off";
  std::string speculation = "off";
};

// The digest of the f32 values costs a dequantisation of every weight, so it is computed only on
// request.
enum class CanonicalRoot { skip, compute };

struct FingerprintInputs {
  const Checkpoint* checkpoint = nullptr;  // nothing: the model's items are unknown
  CanonicalRoot canonical_root = CanonicalRoot::skip;
  ThreadPool* pool = nullptr;  // nothing: one thread
  TextInputs text;
  std::optional<NumericsInputs> numerics;    // nothing: no kernel set was chosen
  std::optional<SchedulerInputs> scheduler;  // nothing: no engine was set up
  std::string sqlite_version;
  // Read by the program; names outside allowed_environment() are dropped here, whatever the caller
  // passes.
  std::map<std::string, std::string> environment;
};

// Variables that change how a numeric library or a runtime computes. Nothing that could hold a
// secret is ever listed.
const std::vector<std::string_view>& allowed_environment();

// Reads every byte of the checkpoint. Throws Error(environment) when a file cannot be read.
Fingerprint compute_fingerprint(const FingerprintInputs& inputs);

// Sorts the items, checks that names are unique within a class, and sets the id.
Fingerprint make_fingerprint(std::vector<FingerprintItem> items);

// Canonical JSON: {"format","id","items":[{"class","name","reason","source","value"}]}
// (schemas/fingerprint.schema.json). The id covers class, name, source and value of every item, not
// the reasons.
std::string fingerprint_json(const Fingerprint& fingerprint);

// Strict: every member known and of its type, items sorted and unique, the id the one that the
// items give. Throws Error(environment) beginning with `where`.
Fingerprint fingerprint_from_json(std::string_view text, const std::string& where);

}  // namespace isobit
