// How large a block of a GPU's threads is, and what it has of a product: decided by
// passes/codegen/gpu, and what lib/cost goes by before there is code.
#pragma once

#include <array>
#include <cstdint>

namespace tessera::target {

inline constexpr int64_t kBlockThreads = 256;
inline constexpr int64_t kAccessBytes = 16; // the widest access of a thread
// Edges of square tiles of a product's result, as large as leaves no processor idle.
inline constexpr std::array<int64_t, 3> kTileEdges = {128, 64, 32};

} // namespace tessera::target
