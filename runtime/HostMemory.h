// Memory of the host: 64-byte aligned, large blocks on huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::runtime {

constexpr size_t kCacheLine = 64, kHugePage = size_t{2} << 20;

// To a multiple of the unit, a power of two.
constexpr size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

// Null when there is no memory.
void *allocateAligned(size_t bytes);
void freeAligned(void *data);

// What the machine has, or this process may take, in bytes.
uint64_t mostMemory();

} // namespace tessera::runtime
