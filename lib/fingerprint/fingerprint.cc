#include "fingerprint/fingerprint.h"

#include <algorithm>
#include <tuple>

#include "base/digest.h"
#include "base/error.h"
#include "base/json.h"
#include "fingerprint/fingerprint_id.h"
#include "fingerprint/item_list.h"
#include "fingerprint/machine_items.h"
#include "selftest/elementary_sample.h"
#include "selftest/published_digests.h"

namespace isobit {
namespace {

void add_text_items(const TextInputs& text, ItemList& items) {
  constexpr FingerprintClass kClass = FingerprintClass::kText;
  items.declared_or_unknown(kClass, "tokenizer", text.tokenizer_digest, text.missing_reason);
  items.declared_or_unknown(kClass, "chat_template", text.chat_template_digest,
                            text.missing_reason);
  items.declared_or_unknown(kClass, "rendered_probe", text.rendered_probe_digest,
                            text.missing_reason);
  for (const TextProbe& probe : text.probes) items.append(probe_items(probe));
  for (const auto& [name, digest] : text.named_template_digests)
    items.declared(kClass, "named_chat_template." + name, digest);
  for (const auto& [place, digest] : text.unused_template_digests)
    items.declared(kClass, "unused_chat_template." + place, digest);
  if (!text.template_clock.empty()) items.declared(kClass, "template_clock", text.template_clock);
}

void add_scheduler_items(const std::optional<SchedulerInputs>& scheduler, ItemList& items) {
  constexpr FingerprintClass kClass = FingerprintClass::kScheduler;
  if (!scheduler) {
    items.unknown(kClass, "settings", "no engine was set up");
    return;
  }
  const auto limit = [](const std::optional<int64_t>& n) {
    return n ? std::to_string(*n) : "none";
  };
  items.declared(kClass, "tensor_parallel", std::to_string(scheduler->tensor_parallel));
  items.declared(kClass, "max_batch_requests", limit(scheduler->max_batch_requests));
  items.declared(kClass, "max_batch_tokens", limit(scheduler->max_batch_tokens));
  items.declared(kClass, "chunk_tokens",
                 scheduler->chunk_tokens ? std::to_string(*scheduler->chunk_tokens) : "off");
  items.declared(kClass, "prefix_cache", scheduler->prefix_cache);
  items.declared(kClass, "speculation", scheduler->speculation);
}

void add_environment_items(const std::map<std::string, std::string>& environment, ItemList& items) {
  for (const std::string_view allowed : allowed_environment()) {
    const auto it = environment.find(std::string(allowed));
    if (it != environment.end())
      items.measured(FingerprintClass::kEnvironment, it->first, it->second);
  }
}

}  // namespace

const std::vector<std::string_view>& allowed_environment() {
  static const std::vector<std::string_view> kNames = {"CUBLAS_WORKSPACE_CONFIG",
                                                       "CUDA_LAUNCH_BLOCKING",
                                                       "CUDA_VISIBLE_DEVICES",
                                                       "GOTO_NUM_THREADS",
                                                       "MKL_CBWR",
                                                       "NCCL_ALGO",
                                                       "NCCL_PROTO",
                                                       "NVIDIA_TF32_OVERRIDE",
                                                       "OMP_NUM_THREADS",
                                                       "OPENBLAS_CORETYPE",
                                                       "OPENBLAS_NUM_THREADS",
                                                       "OPENBLAS_VERBOSE"};
  return kNames;
}

void add_numerics_items(const FingerprintInputs& inputs, ItemList& items) {
  constexpr FingerprintClass kClass = FingerprintClass::kNumerics;
  items.measured(kClass, "contract_version", kNumericContractVersion);
  // What this build says of all inputs, and what was computed here just now for a sample of them.
  for (const Elementary function : kElementaryFunctions) {
    items.declared(kClass, std::string("function_table.") + name(function),
                   hex(total_digest(digests_of(published_digests(), function))));
    items.measured(kClass, std::string("function.") + name(function),
                   sample_on_this_machine(function));
  }
  if (inputs.checkpoint)
    items.measured(kClass, "segments", std::to_string(inputs.checkpoint->config().n_segments()));
  const std::string reason = "no kernel set was chosen";
  const NumericsInputs numerics = inputs.numerics.value_or(NumericsInputs{.scheme = {}});
  items.declared_or_unknown(kClass, "kernel_set", numerics.kernel_set, reason);
  items.declared_or_unknown(kClass, "isa", numerics.isa, reason);
  items.declared_or_unknown(kClass, "kv_dtype", numerics.kv_dtype, reason);
  items.declared_or_unknown(kClass, "scheme", numerics.scheme, reason);
}

Fingerprint compute_fingerprint(const FingerprintInputs& inputs) {
  ItemList items;
  add_model_items(inputs, items);
  add_text_items(inputs.text, items);
  add_numerics_items(inputs, items);
  const CudaFacts cuda = probe_cuda();
  add_software_items(inputs, cuda, items);
  add_hardware_items(cuda, items);
  add_scheduler_items(inputs.scheduler, items);
  add_environment_items(inputs.environment, items);
  return make_fingerprint(items.take());
}

Fingerprint make_fingerprint(std::vector<FingerprintItem> items) {
  const auto key = [](const FingerprintItem& item) { return std::tie(item.item_class, item.name); };
  std::sort(items.begin(), items.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (size_t i = 1; i < items.size(); ++i) ISOBIT_REQUIRE(key(items[i - 1]) != key(items[i]));
  Fingerprint out;
  out.items = std::move(items);
  out.id = fingerprint_id(out.items);
  return out;
}

}  // namespace isobit
