// How deep what reads and walks a program may recurse.
#pragma once

#include <cstddef>

namespace tessera {

// Of a stack for that; only what is used of it takes memory.
inline constexpr size_t kDeepStackBytes = size_t(64) << 20;

} // namespace tessera
