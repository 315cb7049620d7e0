// The machine: GPUs as the driver describes them, the CPU and the memory. Only what stays the same
// between two boots.
#include <unistd.h>

#include "fingerprint/cuda_probe.h"
#include "fingerprint/item_list.h"
#include "fingerprint/machine_items.h"
#include "fingerprint/machine_text.h"

namespace isobit {
namespace {

constexpr FingerprintClass kClass = FingerprintClass::kHardware;

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out.empty() ? "none" : out;
}

void add_cpu(ItemList& items) {
  const std::optional<std::string> cpuinfo = read_system_file("/proc/cpuinfo");
  const CpuFacts cpu = parse_cpuinfo(cpuinfo.value_or(""));
  if (cpu.model.empty()) {
    items.unknown(kClass, "cpu.model",
                  cpuinfo ? "/proc/cpuinfo does not name it" : "/proc/cpuinfo cannot be read");
  } else {
    items.measured(kClass, "cpu.model", cpu.model);
  }
  if (cpuinfo) {
    items.measured(kClass, "cpu.flags", joined(cpu.flags));
  } else {
    items.unknown(kClass, "cpu.flags", "/proc/cpuinfo cannot be read");
  }
  // Processors of the machine, not those that this process happens to be allowed.
  if (const long n = ::sysconf(_SC_NPROCESSORS_ONLN); n > 0) {
    items.measured(kClass, "cpu.cores", std::to_string(n));
  } else {
    items.unknown(kClass, "cpu.cores", "the system does not say");
  }
}

void add_memory(ItemList& items) {
  const std::optional<int64_t> gib =
      parse_memory_gib(read_system_file("/proc/meminfo").value_or(""));
  if (gib) {
    items.measured(kClass, "memory_gib", std::to_string(*gib));
  } else {
    items.unknown(kClass, "memory_gib", "/proc/meminfo does not say");
  }
}

}  // namespace

void add_gpu_items(const CudaFacts& cuda, ItemList& items) {
  if (!cuda.failure.empty()) {
    cuda.driver_missing ? items.absent(kClass, "gpu", cuda.failure)
                        : items.unknown(kClass, "gpu", cuda.failure);
    return;
  }
  if (cuda.gpus.empty()) {
    items.absent(kClass, "gpu", "the driver lists no device");
    return;
  }
  items.measured(kClass, "gpu.count", std::to_string(cuda.gpus.size()));
  for (size_t i = 0; i < cuda.gpus.size(); ++i) {
    const GpuFacts& gpu = cuda.gpus[i];
    const std::string prefix = "gpu." + std::to_string(i) + ".";
    items.measured(kClass, prefix + "model", gpu.model);
    items.measured(kClass, prefix + "compute_capability", gpu.compute_capability);
    items.measured(kClass, prefix + "sm_count", std::to_string(gpu.sm_count));
    items.measured(kClass, prefix + "memory_mib", std::to_string(gpu.memory_mib));
    items.measured(kClass, prefix + "ecc", gpu.ecc ? "on" : "off");
  }
}

void add_driver_items(const CudaFacts& cuda, ItemList& items) {
  constexpr FingerprintClass kSoftware = FingerprintClass::kSoftware;
  if (!cuda.failure.empty()) {
    cuda.driver_missing ? items.absent(kSoftware, "cuda.driver", cuda.failure)
                        : items.unknown(kSoftware, "cuda.driver", cuda.failure);
    return;
  }
  items.measured(kSoftware, "cuda.driver_supports", cuda.driver_cuda);
  if (cuda.driver_version.empty()) {
    items.unknown(kSoftware, "cuda.driver", "the kernel module does not say its version");
  } else {
    items.measured(kSoftware, "cuda.driver", cuda.driver_version);
  }
}

void add_hardware_items(const CudaFacts& cuda, ItemList& items) {
  add_gpu_items(cuda, items);
  add_cpu(items);
  add_memory(items);
}

}  // namespace isobit
