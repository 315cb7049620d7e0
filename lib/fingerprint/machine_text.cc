#include "fingerprint/machine_text.h"

#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace isobit {
namespace {

// Instruction sets that numeric code is dispatched on, here and in the vendor libraries.
constexpr std::array<std::string_view, 26> kFlags = {
    "sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx_vnni",    "avx512f",
    "avx512dq", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_bf16", "amx_int8", "asimd",    "fphp",        "asimdhp",     "asimddp",     "sve",
    "sve2",     "i8mm",     "bf16",     "svebf16",     "svei8mm"};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of the first line "KEY : VALUE" (or KEY=VALUE, by `separator`); nothing when no line
// has the key.
std::optional<std::string_view> field(std::string_view text, std::string_view key, char separator) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const size_t at = line.find(separator);
    if (at != std::string_view::npos && trimmed(line.substr(0, at)) == key)
      return trimmed(line.substr(at + 1));
  }
  return std::nullopt;
}

// Arm kernels print numbers in place of a name.
std::string arm_model(std::string_view cpuinfo) {
  std::string out;
  for (const std::string_view key :
       {"CPU implementer", "CPU variant", "CPU part", "CPU revision"}) {
    if (const auto value = field(cpuinfo, key, ':'))
      out += (out.empty() ? "" : ", ") + std::string(key) + " " + std::string(*value);
  }
  return out;
}

}  // namespace

CpuFacts parse_cpuinfo(std::string_view cpuinfo) {
  CpuFacts out;
  const auto model = field(cpuinfo, "model name", ':');
  out.model = model ? std::string(*model) : arm_model(cpuinfo);
  std::optional<std::string_view> flags = field(cpuinfo, "flags", ':');
  if (!flags) flags = field(cpuinfo, "Features", ':');
  std::istringstream words(std::string(flags.value_or("")));
  const std::set<std::string> present{std::istream_iterator<std::string>(words), {}};
  for (const std::string_view flag : kFlags) {
    if (present.contains(std::string(flag))) out.flags.emplace_back(flag);
  }
  return out;
}

std::optional<int64_t> parse_memory_gib(std::string_view meminfo) {
  const auto value = field(meminfo, "MemTotal", ':');
  if (!value) return std::nullopt;
  int64_t kib = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), kib);
  if (error != std::errc{} || kib <= 0 ||
      std::string_view(end, static_cast<size_t>(value->data() + value->size() - end)) != " kB") {
    return std::nullopt;
  }
  constexpr int64_t kKibPerGib = int64_t{1} << 20;
  return kib / kKibPerGib + (kib % kKibPerGib >= kKibPerGib / 2 ? 1 : 0);
}

std::string parse_os_name(std::string_view os_release) {
  std::string_view value = field(os_release, "PRETTY_NAME", '=').value_or("");
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

std::optional<std::string> read_system_file(const char* path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string out{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return out;
}

}  // namespace isobit
