#include <doctest/doctest.h>

#include <cstring>

#include "fingerprint/cuda_probe.h"
#include "fingerprint/machine_items.h"
#include "fingerprint/machine_text.h"

using namespace isobit;

namespace {

// A driver with one GPU, as the driver's interface describes it; `broken` names the function that
// fails.
std::string broken;
int result_of(const char* function) {
  return broken == function ? 999 : 0;
}

CudaDriver fake_driver() {
  return {
      .init = [](unsigned) { return result_of("cuInit"); },
      .driver_get_version = [](int* v) { return *v = 12040, result_of("cuDriverGetVersion"); },
      .device_get_count =
          [](int* n) { return *n = broken == "no device" ? 0 : 1, result_of("cuDeviceGetCount"); },
      .device_get = [](int* device,
                       int ordinal) { return *device = ordinal, result_of("cuDeviceGet"); },
      .device_get_name =
          [](char* name, int n, int) {
            return std::strncpy(name, "NVIDIA H200", static_cast<size_t>(n)),
                   result_of("cuDeviceGetName");
          },
      .device_get_attribute =
          [](int* v, int attribute, int) {
            *v = attribute == 75   ? 9
                 : attribute == 76 ? 0
                 : attribute == 16 ? 132
                 : attribute == 32 ? 1
                                   : -1;
            return result_of("cuDeviceGetAttribute");
          },
      .device_total_mem =
          [](size_t* bytes, int) {
            return *bytes = size_t{143771} << 20, result_of("cuDeviceTotalMem");
          }};
}

std::string text_of(ItemList& items) {
  std::string out;
  for (const FingerprintItem& item : items.take()) {
    out += std::string(name(item.item_class)) + "." + item.name + "=" + item.value +
           (item.reason.empty() ? "" : " (" + item.reason + ")") + "\n";
  }
  return out;
}

std::string items_of(const CudaFacts& facts) {
  ItemList items;
  add_gpu_items(facts, items);
  add_driver_items(facts, items);
  return text_of(items);
}

}  // namespace

TEST_CASE("a GPU is described as its driver describes it") {
  broken.clear();
  CudaFacts facts = query_cuda(fake_driver());
  facts.driver_version = "550.54.15";
  CHECK(items_of(facts) ==
        "hardware.gpu.count=1\nhardware.gpu.0.model=NVIDIA "
        "H200\nhardware.gpu.0.compute_capability=9.0\nhardware.gpu.0.sm_count=132\n"
        "hardware.gpu.0.memory_mib=143771\nhardware.gpu.0.ecc=on\nsoftware.cuda.driver_supports=12."
        "4\nsoftware.cuda.driver=550.54.15\n");
}

TEST_CASE(
    "a driver that fails is unknown with the failing call, a missing one absent with the loader's "
    "words") {
  for (const char* function : {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet",
                               "cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem"}) {
    broken = function;
    const std::string why = " (" + std::string(function) + " returned error 999)";
    CHECK(items_of(query_cuda(fake_driver())) ==
          "hardware.gpu=" + why + "\nsoftware.cuda.driver=" + why + "\n");
  }
  broken = "no device";
  CHECK(items_of(query_cuda(fake_driver()))
            .starts_with("hardware.gpu=absent (the driver lists no device)\n"));
  broken.clear();

  const CudaFacts missing = probe_cuda("libisobit-no-such-driver.so.1");
  CHECK(missing.driver_missing);
  CHECK(missing.failure.find("libisobit-no-such-driver.so.1") != std::string::npos);
  CHECK(items_of(missing).starts_with("hardware.gpu=absent (libisobit-no-such-driver.so.1"));
  const CudaFacts other = probe_cuda("libm.so.6");  // a library, but not a driver
  CHECK_FALSE(other.driver_missing);
  CHECK(other.failure == "the driver library has no cuInit");
}

TEST_CASE("/proc/cpuinfo gives the model and the flags that matter, and no speed") {
  const CpuFacts x86 = parse_cpuinfo(
      "processor\t: 0\nmodel name\t: Some CPU @ 2.60GHz\ncpu MHz\t\t: 2599.996\nflags\t\t: fpu "
      "avx2 sse4_2 fma avx512f avx\n");
  CHECK(x86.model == "Some CPU @ 2.60GHz");
  CHECK(x86.flags == std::vector<std::string>{"sse4_2", "avx", "fma", "avx2", "avx512f"});
  CHECK(parse_cpuinfo("model name : M\nflags : avx2\ncpu MHz : 1\n").flags ==
        parse_cpuinfo("model name : M\ncpu MHz : 2\nflags : avx2\n").flags);
  const CpuFacts arm = parse_cpuinfo(
      "processor\t: 0\nFeatures\t: fp asimd sve bf16 i8mm\nCPU implementer\t: 0x41\nCPU part\t: "
      "0xd40\n");
  CHECK(arm.model == "CPU implementer 0x41, CPU part 0xd40");
  CHECK(arm.flags == std::vector<std::string>{"asimd", "sve", "i8mm", "bf16"});
  CHECK(parse_cpuinfo("").model.empty());
  CHECK(parse_cpuinfo("flags").flags.empty());
}

TEST_CASE("memory is whole GiB, so that two boots of one machine agree") {
  CHECK(parse_memory_gib("MemTotal:       24684084 kB\nMemFree: 1 kB\n") == 24);
  CHECK(parse_memory_gib("MemTotal:       24680000 kB\n") == 24);
  CHECK(parse_memory_gib("MemTotal: 25690112 kB") == 25);
  CHECK_FALSE(parse_memory_gib("MemTotal: lots\n").has_value());
  CHECK_FALSE(parse_memory_gib("MemTotal: 12\n").has_value());
  CHECK_FALSE(parse_memory_gib("").has_value());
}

TEST_CASE("the system's name is what os-release calls pretty") {
  CHECK(parse_os_name("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(parse_os_name("PRETTY_NAME=Plain\n") == "Plain");
  CHECK(parse_os_name("") == "");
}

TEST_CASE("values from outside become printable") {
  ItemList items;
  items.measured(FingerprintClass::kEnvironment, "A", "a\x1b[31m\xff\n");
  CHECK(items.take()[0].value == "a\\x1b[31m\\xff\\x0a");
}
