#include "fingerprint/cuda_probe.h"

#include <dlfcn.h>

#include <memory>

#include "fingerprint/machine_text.h"

namespace isobit {
namespace {

// CUdevice_attribute values of the driver's interface, which never change their meaning.
constexpr int kMultiprocessorCount = 16;
constexpr int kEccEnabled = 32;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;

// A driver call that did not succeed.
struct CallFailed {
  const char* function;
  int code;
};

void call(const char* function, int code) {
  if (code != 0) throw CallFailed{function, code};
}

int attribute(const CudaDriver& driver, int which, int device) {
  int value = 0;
  call("cuDeviceGetAttribute", driver.device_get_attribute(&value, which, device));
  return value;
}

GpuFacts query_gpu(const CudaDriver& driver, int ordinal) {
  GpuFacts gpu;
  int device = 0;
  char model[256] = {};
  size_t bytes = 0;
  call("cuDeviceGet", driver.device_get(&device, ordinal));
  call("cuDeviceGetName", driver.device_get_name(model, sizeof model - 1, device));
  call("cuDeviceTotalMem", driver.device_total_mem(&bytes, device));
  gpu.model = model;
  gpu.compute_capability = std::to_string(attribute(driver, kComputeCapabilityMajor, device)) +
                           "." + std::to_string(attribute(driver, kComputeCapabilityMinor, device));
  gpu.sm_count = attribute(driver, kMultiprocessorCount, device);
  gpu.ecc = attribute(driver, kEccEnabled, device) != 0;
  gpu.memory_mib = bytes >> 20;
  return gpu;
}

std::string kernel_module_version() {
  std::string version = read_system_file("/sys/module/nvidia/version").value_or("");
  while (!version.empty() && version.back() == '\n') version.pop_back();
  return version;
}

}  // namespace

CudaFacts query_cuda(const CudaDriver& driver) {
  CudaFacts facts;
  try {
    call("cuInit", driver.init(0));
    int version = 0, count = 0;
    call("cuDriverGetVersion", driver.driver_get_version(&version));
    call("cuDeviceGetCount", driver.device_get_count(&count));
    facts.driver_cuda = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    for (int ordinal = 0; ordinal < count; ++ordinal)
      facts.gpus.push_back(query_gpu(driver, ordinal));
  } catch (const CallFailed& failed) {
    facts = {};
    facts.failure = std::string(failed.function) + " returned error " + std::to_string(failed.code);
  }
  return facts;
}

CudaFacts probe_cuda(const char* library) {
  CudaFacts facts;
  const std::unique_ptr<void, int (*)(void*)> handle(::dlopen(library, RTLD_NOW | RTLD_LOCAL),
                                                     [](void* h) { return h ? ::dlclose(h) : 0; });
  if (!handle) {
    const char* reason = ::dlerror();
    facts.failure = reason ? reason : "the library cannot be opened";
    facts.driver_missing = true;
    return facts;
  }
  CudaDriver driver;
  const auto load = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(handle.get(), symbol));
    if (!function && facts.failure.empty())
      facts.failure = std::string("the driver library has no ") + symbol;
  };
  load(driver.init, "cuInit");
  load(driver.driver_get_version, "cuDriverGetVersion");
  load(driver.device_get_count, "cuDeviceGetCount");
  load(driver.device_get, "cuDeviceGet");
  load(driver.device_get_name, "cuDeviceGetName");
  load(driver.device_get_attribute, "cuDeviceGetAttribute");
  load(driver.device_total_mem, "cuDeviceTotalMem_v2");
  if (!facts.failure.empty()) return facts;
  facts = query_cuda(driver);
  if (facts.failure.empty()) facts.driver_version = kernel_module_version();
  return facts;
}

}  // namespace isobit
