// The items that describe this machine, from facts already gathered: so tests can describe machines
// that are not at hand.
#pragma once

#include "fingerprint/cuda_probe.h"
#include "fingerprint/item_list.h"

namespace isobit {

struct FingerprintInputs;

void add_gpu_items(const CudaFacts& cuda, ItemList& items);
void add_driver_items(const CudaFacts& cuda, ItemList& items);
void add_hardware_items(const CudaFacts& cuda, ItemList& items);
void add_software_items(const FingerprintInputs& inputs, const CudaFacts& cuda, ItemList& items);

}  // namespace isobit
