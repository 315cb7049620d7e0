// What the NVIDIA driver says about the GPUs, asked through the driver's own library opened at run
// time: the program neither links CUDA nor needs its headers, and a machine without a GPU is a
// recorded fact, not an error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace isobit {

struct GpuFacts {
  std::string model;               // "NVIDIA H200"
  std::string compute_capability;  // "9.0"
  int sm_count = 0;
  size_t memory_mib = 0;
  bool ecc = false;
};

struct CudaFacts {
  std::string failure;          // why there is nothing below; empty when the driver answered
  bool driver_missing = false;  // the failure is that no driver library could be opened
  std::string driver_cuda;      // newest CUDA that the driver supports: "12.4"
  std::string
      driver_version;  // of the kernel module: "550.54.15"; empty when the system does not say
  std::vector<GpuFacts> gpus;
};

// The few driver functions that are used, with the driver's own meaning and result codes (0 is
// success). A test hands in functions of its own.
struct CudaDriver {
  int (*init)(unsigned flags) = nullptr;                                 // cuInit
  int (*driver_get_version)(int* version) = nullptr;                     // cuDriverGetVersion
  int (*device_get_count)(int* count) = nullptr;                         // cuDeviceGetCount
  int (*device_get)(int* device, int ordinal) = nullptr;                 // cuDeviceGet
  int (*device_get_name)(char* name, int length, int device) = nullptr;  // cuDeviceGetName
  int (*device_get_attribute)(int* value, int attribute,
                              int device) = nullptr;             // cuDeviceGetAttribute
  int (*device_total_mem)(size_t* bytes, int device) = nullptr;  // cuDeviceTotalMem_v2
};

CudaFacts query_cuda(const CudaDriver& driver);

// Opens `library` ("libcuda.so.1") and queries it. Never throws for a driver that is missing or
// broken.
CudaFacts probe_cuda(const char* library = "libcuda.so.1");

}  // namespace isobit
