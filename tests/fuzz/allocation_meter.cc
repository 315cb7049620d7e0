#include "tests/fuzz/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ISOBIT_ADDRESS_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define ISOBIT_ADDRESS_SANITIZER
#endif
#ifdef ISOBIT_ADDRESS_SANITIZER
// As <sanitizer/allocator_interface.h> declares them; g++ brings the functions, not the header.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, size_t),
                                              void (*on_free)(const volatile void*));
size_t __sanitizer_get_allocated_size(const volatile void* memory);
}
#endif

namespace isobit::test {
namespace {

// Signed: what was allocated before the meter existed may be given back after.
std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> bytes_at_start{0};
std::atomic<int64_t> most_bytes{0};

void count(size_t n_bytes) {
  const auto n = static_cast<int64_t>(n_bytes);
  const int64_t now = live_bytes.fetch_add(n) + n;
  int64_t most = most_bytes.load();
  while (most < now && !most_bytes.compare_exchange_weak(most, now)) {
  }
}

void discount(size_t n_bytes) {
  live_bytes.fetch_sub(static_cast<int64_t>(n_bytes));
}

}  // namespace

void start_metering() {
  bytes_at_start = live_bytes.load();
  most_bytes = bytes_at_start.load();
}

size_t most_live_bytes() {
  return static_cast<size_t>(most_bytes - bytes_at_start);
}

#ifdef ISOBIT_ADDRESS_SANITIZER

namespace {

void on_malloc(const volatile void*, size_t n) {
  count(n);
}
void on_free(const volatile void* memory) {
  if (memory) discount(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);

}  // namespace
}  // namespace isobit::test

#else

namespace {

void* counted(void* memory) {
  if (!memory) throw std::bad_alloc();
  count(::malloc_usable_size(memory));
  return memory;
}

void give_back(void* memory) {
  if (!memory) return;
  discount(::malloc_usable_size(memory));
  std::free(memory);
}

void* aligned(size_t n, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  return counted(std::aligned_alloc(a, (n + a - 1) / a * a));
}

}  // namespace
}  // namespace isobit::test

// The nothrow and array forms of the library come down to these.
void* operator new(size_t n) {
  return isobit::test::counted(std::malloc(n ? n : 1));
}
void* operator new[](size_t n) {
  return operator new(n);
}
void* operator new(size_t n, std::align_val_t alignment) {
  return isobit::test::aligned(n, alignment);
}
void* operator new[](size_t n, std::align_val_t alignment) {
  return isobit::test::aligned(n, alignment);
}
void operator delete(void* memory) noexcept {
  isobit::test::give_back(memory);
}
void operator delete[](void* memory) noexcept {
  isobit::test::give_back(memory);
}
void operator delete(void* memory, size_t) noexcept {
  isobit::test::give_back(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  isobit::test::give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  isobit::test::give_back(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  isobit::test::give_back(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  isobit::test::give_back(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  isobit::test::give_back(memory);
}
#endif
