#include "base/error.h"
#include "fingerprint/fingerprint_diff.h"

namespace isobit {

const char* name(ItemRole role) {
  switch (role) {
    case ItemRole::kIdentity:
      return "identity";
    case ItemRole::kArithmetic:
      return "arithmetic";
    case ItemRole::kAdvisory:
      return "advisory";
  }
  return "unknown";
}

const std::vector<ItemRule>& item_rules() {
  using C = FingerprintClass;
  using R = ItemRole;
  static const std::vector<ItemRule> kRules = {
      {C::kModel, "", R::kIdentity, "Another model: every logit of every request can change."},
      {C::kModel, "weights.", R::kIdentity,
       "Other weights: every logit of every request can change."},
      // Advisory, because it is computed only on request and another value implies another stored
      // root.
      {C::kModel, "weights.canonical_root", R::kAdvisory,
       "Other f32 values of the weights: every logit of every request can change."},
      {C::kModel, "tensor.", R::kIdentity,
       "This tensor's weights differ: every logit of every request can change."},
      {C::kModel, "config.arithmetic", R::kIdentity,
       "Another arithmetic of the model (sizes, eps, rotary base, ties): every logit can change."},
      {C::kModel, "config.max_positions", R::kAdvisory,
       "Requests near the end of the context can be refused or cut elsewhere; logits keep their "
       "values."},
      {C::kModel, "config.bos_token_ids", R::kIdentity, "Prompts can begin with another token."},
      {C::kModel, "config.eos_token_ids", R::kIdentity,
       "Outputs can end elsewhere; logits up to there keep their values."},
      {C::kModel, "config.stored", R::kAdvisory,
       "The configuration is spelled differently; arithmetic follows config.arithmetic."},
      {C::kModel, "generation_config.", R::kAdvisory,
       "Servers that apply it silently can sample with other parameters; isobit's requests state "
       "theirs."},
      {C::kModel, "file.", R::kAdvisory,
       "Another packaging of the checkpoint; results follow weights.stored_root."},
      {C::kModel, "format", R::kAdvisory,
       "Another file format; results follow weights.canonical_root."},
      {C::kModel, "architecture", R::kAdvisory,
       "Another name for the architecture; arithmetic follows config.arithmetic."},

      {C::kText, "", R::kIdentity,
       "The same text can become other token ids: outputs answer another prompt."},
      {C::kText, "tokenizer", R::kIdentity,
       "The same text can become other token ids: outputs answer another prompt."},
      {C::kText, "chat_template", R::kIdentity,
       "The same conversation can be rendered as another prompt."},
      {C::kText, "rendered_probe", R::kIdentity,
       "A fixed conversation is rendered or encoded differently: prompts are not the same."},
      // Advisory, because other ids imply another tokenizer or template.
      {C::kText, "probe.", R::kAdvisory,
       "A fixed sentence becomes other token ids: it shows what the digests above decide."},
      {C::kText, "named_chat_template.", R::kIdentity,
       "A conversation with tools, or one that asks for this template, can be another prompt."},
      {C::kText, "unused_chat_template.", R::kAdvisory,
       "A template that is not used differs; prompts follow chat_template."},
      {C::kText, "template_clock", R::kIdentity,
       "The chat template reads the clock, which said another time: prompts that hold the date are "
       "not the same."},

      {C::kNumerics, "", R::kArithmetic,
       "Another definition of the arithmetic: low bits of every logit can change, and near-ties "
       "can flip."},
      {C::kNumerics, "contract_version", R::kArithmetic,
       "Another order or rounding of operations: bits of every logit are expected to change."},
      {C::kNumerics, "function.", R::kArithmetic,
       "An elementary function returns other bits here: the build or the machine breaks the "
       "contract; no logit can be trusted to match."},
      {C::kNumerics, "function_table.", R::kArithmetic,
       "The builds publish other results of an elementary function over all inputs: bits of every "
       "logit are expected to change."},
      {C::kNumerics, "kernel_set", R::kArithmetic,
       "Sets that share the contract's bits agree; an adaptive or tensor set computes other bits."},
      {C::kNumerics, "isa", R::kAdvisory,
       "The invariant sets keep their bits on every instruction set; adaptive sets can change."},
      {C::kNumerics, "kv_dtype", R::kArithmetic,
       "Keys and values are rounded differently: every logit after the first token can change."},

      {C::kSoftware, "", R::kAdvisory,
       "Libraries and adaptive sets can change; the invariant sets keep their bits."},
      {C::kSoftware, "isobit", R::kAdvisory,
       "Another version of isobit: results keep their bits while numerics.contract_version is the "
       "same."},
      {C::kSoftware, "compiler", R::kAdvisory,
       "Adaptive sets can change; the invariant sets keep their bits, which the function digests "
       "check."},
      {C::kSoftware, "cuda.", R::kAdvisory,
       "Vendor libraries and adaptive sets can change; the invariant sets keep their bits."},
      {C::kSoftware, "openblas", R::kAdvisory,
       "The set cpu-adaptive can change; the invariant sets do not use it."},
      {C::kSoftware, "sqlite", R::kAdvisory, "How runs are stored; no result can change."},
      {C::kSoftware, "openssl", R::kAdvisory, "How digests are computed; no result can change."},

      {C::kHardware, "", R::kAdvisory,
       "Adaptive sets and vendor libraries choose other kernels; the invariant sets keep their "
       "bits."},
      {C::kHardware, "memory", R::kAdvisory,
       "Batches and caches can have other limits; no result of an invariant set can change."},

      {C::kScheduler, "", R::kAdvisory,
       "Requests are batched and cut differently: the invariant sets keep their bits, others can "
       "change."},
      {C::kEnvironment, "declared.", R::kAdvisory,
       "Whoever configured the run says so; what it can change is for them to know."},
      {C::kEnvironment, "", R::kAdvisory,
       "A variable that steers a library differs: adaptive sets can change; the invariant sets do "
       "not read it."},
  };
  return kRules;
}

const ItemRule& rule_of(FingerprintClass item_class, std::string_view item_name) {
  const ItemRule* best = nullptr;
  for (const ItemRule& rule : item_rules()) {
    const bool fits = rule.item_class == item_class && item_name.starts_with(rule.prefix);
    if (fits && (!best || rule.prefix.size() > best->prefix.size())) best = &rule;
  }
  ISOBIT_REQUIRE(best != nullptr);
  return *best;
}

}  // namespace isobit
