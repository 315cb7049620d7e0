#include "matrix/axes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/error.h"

namespace isobit {
namespace {

constexpr const char* kConcurrency = "load.concurrency";

constexpr double kMaxCount = 1 << 24;
constexpr double kMostThreads = 1024;  // as --threads
constexpr std::string_view kDispatchEdges = "2,8,9,16,17,44,45,255,256,257";

Axis load_axis(std::string key, std::vector<std::string> words, std::vector<std::string> later) {
  Axis axis{
      .key = std::move(key), .applied_by = AxisAppliedBy::kWorkload, .default_value = words[0]};
  axis.words = std::move(words);
  axis.later_words = std::move(later);
  axis.needs_company = true;
  return axis;
}

Axis sampling_axis(std::string name, AxisNumbers numbers, double min, double max) {
  return {.key = "sampling." + std::move(name),
          .kind = AxisKind::kIdentity,
          .applied_by = AxisAppliedBy::kRequests,
          .default_value = "as-given",
          .words = {"as-given"},
          .numbers = numbers,
          .min = min,
          .max = max};
}

Axis length_axis(std::string key, std::vector<std::string> words) {
  return {.key = std::move(key),
          .kind = AxisKind::kIdentity,
          .applied_by = AxisAppliedBy::kRequests,
          .default_value = "as-given",
          .words = std::move(words),
          .numbers = AxisNumbers::kCount,
          .min = 1,
          .max = kMaxCount};
}

Axis word_axis(std::string key, AxisKind kind, std::vector<std::string> words,
               std::vector<std::string> later = {}) {
  return {.key = std::move(key),
          .kind = kind,
          .default_value = words[0],
          .words = words,
          .later_words = std::move(later)};
}

Axis count_axis(std::string key, std::string default_word, double most = kMaxCount) {
  return {.key = std::move(key),
          .default_value = default_word,
          .words = {default_word},
          .numbers = AxisNumbers::kCount,
          .min = 1,
          .max = most};
}

Axis later_axis(std::string key, std::string default_value) {
  return {.key = std::move(key),
          .default_value = default_value,
          .words = {default_value},
          .only_default = true};
}

std::vector<Axis> make_axes() {
  return {
      {.key = kConcurrency,
       .applied_by = AxisAppliedBy::kWorkload,
       .default_value = "1",
       .words = {"peak"},
       .numbers = AxisNumbers::kCount,
       .min = 1,
       .max = 65536},
      load_axis("load.batch_shape", {"uniform", "ragged", "needle", "mixed"}, {}),
      load_axis("load.position", {"first", "middle", "last", "permuted"}, {}),
      load_axis("load.neighbours", {"same", "other", "longer", "shorter", "sampled"},
                {"unseeded", "cancelled"}),
      load_axis("load.arrival", {"together"}, {"staggered", "jitter"}),
      length_axis("prompt.length", {"as-given", "short", "medium", "near-limit"}),
      length_axis("output.length", {"as-given", "long"}),
      count_axis("engine.chunked_prefill", "off"),
      later_axis("engine.prefix_cache", "off"),
      later_axis("engine.speculation", "off"),
      later_axis("engine.preemption", "none"),
      count_axis("engine.threads", "all", kMostThreads),
      word_axis("engine.isa", AxisKind::kSchedule,
                {"best", "scalar", "portable", "avx2", "avx512", "neon"}),
      word_axis("engine.kernel_set", AxisKind::kIdentity,
                {"cpu", "reference", "cpu-adaptive", "cuda", "cuda-adaptive", "cuda-tensor"}),
      word_axis("engine.kv_dtype", AxisKind::kIdentity, {"f16", "f32", "bf16"}, {"q8"}),
      later_axis("hw.tensor_parallel", "1"),
      later_axis("state.restart", "same-process"),
      sampling_axis("temperature", AxisNumbers::kDecimal, 0, 100),
      sampling_axis("seed", AxisNumbers::kSeed, 0, 0),
      sampling_axis("top_k", AxisNumbers::kCount, 0, kMaxCount),
      sampling_axis("top_p", AxisNumbers::kDecimal, 0, 1),
      sampling_axis("min_p", AxisNumbers::kDecimal, 0, 1),
      sampling_axis("repetition_penalty", AxisNumbers::kDecimal, 0.01, 100),
      sampling_axis("frequency_penalty", AxisNumbers::kDecimal, -100, 100),
      sampling_axis("presence_penalty", AxisNumbers::kDecimal, -100, 100),
      later_axis("sampling.rng", "per_request"),
  };
}

// The shortest decimal that reads back as `value`.
std::string shortest(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

template <typename Number>
bool parse_whole(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string normalize_number(const Axis& axis, std::string_view text) {
  if (axis.numbers == AxisNumbers::kSeed) {
    uint64_t seed = 0;
    return parse_whole(text, seed) ? std::to_string(seed) : std::string();
  }
  if (axis.numbers == AxisNumbers::kCount) {
    int64_t count = 0;
    const bool fits = parse_whole(text, count) && static_cast<double>(count) >= axis.min &&
                      static_cast<double>(count) <= axis.max;
    return fits ? std::to_string(count) : std::string();
  }
  if (axis.numbers == AxisNumbers::kDecimal) {
    double value = 0;
    const bool fits =
        parse_whole(text, value) && std::isfinite(value) && value >= axis.min && value <= axis.max;
    return fits ? shortest(value == 0 ? 0 : value) : std::string();  // no "-0"
  }
  return {};
}

// "first, middle, last or permuted", "as-given or a whole number from 1 to 16777216".
std::string describe_values(const Axis& axis) {
  std::vector<std::string> parts = axis.words;
  if (axis.key == kConcurrency) parts.emplace_back("edges (in a list)");
  if (axis.numbers == AxisNumbers::kSeed)
    parts.push_back("a whole number from 0 to 18446744073709551615");
  if (axis.numbers == AxisNumbers::kCount) {
    parts.push_back("a whole number from " + shortest(axis.min) + " to " +
                    std::to_string(static_cast<int64_t>(axis.max)));
  }
  if (axis.numbers == AxisNumbers::kDecimal) {
    parts.push_back("a number from " + shortest(axis.min) + " to " + shortest(axis.max));
  }
  std::string out = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    out += (i + 1 == parts.size() ? " or " : ", ") + parts[i];
  return out;
}

[[noreturn]] void refuse_value(const Axis& axis, std::string_view text) {
  const std::string value(text.substr(0, 60));
  if (axis.only_default) {
    throw Error(ErrorCode::unsupported,
                "axis '" + axis.key + "' cannot be varied by this version: '" + value +
                    "' was asked for, only its default '" + axis.default_value + "' is available",
                "leave the axis out");
  }
  if (std::ranges::find(axis.later_words, text) != axis.later_words.end()) {
    throw Error(ErrorCode::unsupported, "axis '" + axis.key + "' has no value '" + value +
                                            "' in this version; it has " + describe_values(axis));
  }
  throw Error(ErrorCode::usage, "axis '" + axis.key + "' has no value '" + value + "'" +
                                    did_you_mean(text, axis.words) + "; expected " +
                                    describe_values(axis));
}

}  // namespace

std::span<const Axis> axes() {
  static const std::vector<Axis> table = make_axes();
  return table;
}

const Axis& find_axis(std::string_view key) {
  std::vector<std::string> keys;
  for (const Axis& axis : axes()) {
    if (axis.key == key) return axis;
    keys.push_back(axis.key);
  }
  std::string meant = did_you_mean(key, keys);
  for (const std::string& known : keys) {
    if (known.ends_with("." + std::string(key))) meant = " (did you mean '" + known + "'?)";
  }
  throw Error(
      ErrorCode::usage, "there is no axis '" + std::string(key.substr(0, 60)) + "'" + meant,
      "the axes are " + [&] {
        std::string all = keys[0];
        for (size_t i = 1; i < keys.size(); ++i) all += ", " + keys[i];
        return all;
      }());
}

std::string normalize_axis_value(const Axis& axis, std::string_view text) {
  if (std::ranges::find(axis.words, text) != axis.words.end()) return std::string(text);
  const std::string number = normalize_number(axis, text);
  if (number.empty()) refuse_value(axis, text);
  return number;
}

std::vector<std::string> normalize_axis_values(const Axis& axis, std::string_view list) {
  std::vector<std::string> out;
  const auto add = [&](std::string value) {
    if (std::ranges::find(out, value) == out.end()) out.push_back(std::move(value));
  };
  for (size_t begin = 0; begin <= list.size();) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    const std::string_view word = list.substr(begin, comma - begin);
    if (axis.key == kConcurrency && word == "edges") {
      for (const std::string& edge : normalize_axis_values(axis, kDispatchEdges)) add(edge);
    } else {
      add(normalize_axis_value(axis, word));
    }
    begin = comma + 1;
  }
  return out;
}

}  // namespace isobit
