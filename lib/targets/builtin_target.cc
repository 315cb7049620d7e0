#include "targets/builtin_target.h"

#include <charconv>
#include <optional>

#include "base/error.h"

namespace isobit {
namespace {

constexpr const char* kAxes[] = {"engine.chunked_prefill", "engine.kernel_set", "engine.isa",
                                 "engine.kv_dtype", "engine.threads"};

int64_t positive_integer(const std::string& key, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    throw Error(ErrorCode::usage, key + " is '" + text + "'; a whole number from 1 is expected");
  }
  return value;
}

KvDType kv_dtype_from_name(const std::string& text) {
  for (const KvDType d : {KvDType::kF16, KvDType::kF32, KvDType::kBF16}) {
    if (text == isobit::name(d)) return d;
  }
  throw Error(ErrorCode::usage, "engine.kv_dtype is '" + text + "'; f16, f32 or bf16 is expected");
}

std::string value_or(const std::map<std::string, std::string>& settings, const char* key,
                     const std::string& fallback) {
  const auto it = settings.find(key);
  return it == settings.end() ? fallback : it->second;
}

std::optional<int64_t> chunk_tokens(const std::map<std::string, std::string>& settings) {
  const std::string text = value_or(settings, "engine.chunked_prefill", "off");
  if (text == "off") return std::nullopt;
  return positive_integer("engine.chunked_prefill", text);
}

// Empty for "best": the registry chooses.
std::string isa(const std::map<std::string, std::string>& settings, const std::string& fallback) {
  const std::string text = value_or(settings, "engine.isa", fallback);
  return text == "best" ? std::string() : text;
}

}  // namespace

// Kernel set, packed weights and threads; the parts that are expensive to change.
struct BuiltinTarget::Configured {
  std::string key;
  ThreadPool pool;
  Model model;
  Engine engine;

  Configured(std::string key, const Checkpoint& checkpoint, const KernelSet& kernels, int n_threads,
             const std::vector<std::string>& token_bytes)
      : key(std::move(key)),
        pool(n_threads),
        model(checkpoint, kernels, pool),
        engine(model, token_bytes, pool) {}
};

BuiltinTarget::BuiltinTarget(const Checkpoint& checkpoint, std::vector<std::string> token_bytes,
                             BuiltinDefaults defaults, BuiltinSeams seams)
    : checkpoint_(checkpoint),
      token_bytes_(std::move(token_bytes)),
      defaults_(std::move(defaults)),
      seams_(std::move(seams)) {}

BuiltinTarget::~BuiltinTarget() = default;

std::string BuiltinTarget::name() const {
  return "isobit";
}

Capabilities BuiltinTarget::capabilities() const {
  return {.logprobs = true,
          .logits_hashes = true,
          .teacher_forcing = true,
          .embeddings = true,
          .axes = {std::begin(kAxes), std::end(kAxes)}};
}

int BuiltinTarget::n_threads(const std::map<std::string, std::string>& settings) const {
  const std::string text = value_or(settings, "engine.threads", "all");
  return text == "all" ? defaults_.n_threads
                       : static_cast<int>(positive_integer("engine.threads", text));
}

const KernelSet& BuiltinTarget::kernels_of(
    const std::map<std::string, std::string>& settings) const {
  return seams_.find_kernels(value_or(settings, "engine.kernel_set", defaults_.kernel_set),
                             isa(settings, defaults_.isa));
}

BuiltinTarget::Configured& BuiltinTarget::configure(
    const std::map<std::string, std::string>& settings) {
  const KernelSet& kernels = kernels_of(settings);
  const int threads = n_threads(settings);
  const std::string key = kernels.name + "/" + kernels.isa + "/" + std::to_string(threads);
  if (!configured_ || configured_->key != key) {
    configured_.reset();  // the old weights go before the new ones come: one copy in memory
    configured_ = std::make_unique<Configured>(key, checkpoint_, kernels, threads, token_bytes_);
  }
  return *configured_;
}

void BuiltinTarget::run(const Workload& workload,
                        const std::function<void(size_t, Trace)>& on_trace) {
  execute(workload, on_trace, {}, {});
}

void BuiltinTarget::run_with_rows(const Workload& workload,
                                  const std::function<void(size_t, Trace)>& on_trace,
                                  const RowSink& on_row) {
  execute(workload, on_trace, on_row, {});
}

void BuiltinTarget::run_with_operators(const Workload& workload,
                                       const std::function<void(size_t, Trace)>& on_trace,
                                       const OperatorSink& on_operator) {
  execute(workload, on_trace, {}, on_operator);
}

void BuiltinTarget::execute(const Workload& workload,
                            const std::function<void(size_t, Trace)>& on_trace,
                            const RowSink& on_row, const OperatorSink& on_operator) {
  EngineOptions options;
  options.kv_dtype =
      kv_dtype_from_name(value_or(workload.settings, "engine.kv_dtype", defaults_.kv_dtype));
  options.limits = {.max_batch_tokens = defaults_.max_batch_tokens,
                    .prefill_chunk_tokens = chunk_tokens(workload.settings)};
  options.max_batch_requests = workload.concurrency;
  options.record_embeddings = workload.record_embeddings;
  std::vector<Request> requests;
  for (const WorkItem& item : workload.items) requests.push_back(item.request);
  const auto deliver = [&](size_t index, Trace trace) {
    if (workload.items[index].recorded) on_trace(index, std::move(trace));
  };
  if (seams_.before_run) seams_.before_run(options);
  configure(workload.settings).engine.run(requests, options, deliver, on_row, on_operator);
}

}  // namespace isobit
