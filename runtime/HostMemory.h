// Memory of the host: 64-byte aligned, large blocks on huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::runtime {

// Null when there is no memory.
void *allocateAligned(size_t bytes);
void freeAligned(void *data);

// What the machine has, or this process may take, in bytes.
uint64_t mostMemory();

} // namespace tessera::runtime
