// The kernels of collectives between devices of one GPU, as PTX that the runtime writes: they copy
// blocks and reduce them in the order of the ranks, with the bits of runtime/comm/Reduce.h.
//
// A kernel is told by a table in the GPU's memory (MoveTable.h) what it moves; one launch is a whole
// collective, whatever its ranks, operands and strides.
#pragma once

#include "include/tessera/program.pb.h"
#include <string>

namespace tessera::runtime::device::cuda {

inline constexpr uint32_t kMoveThreads = 256; // of a block
inline constexpr const char *kMoveKernel = "tessera_move";

// Copies units of 1, 2, 4, 8 or 16 bytes.
std::string copyingPtx(uint32_t bytes);
// Reduces elements; of complex sums an element is one of the two numbers.
std::string reducingPtx(program::ElementType type, program::Collective::Reduction reduction);
// Bytes of what it takes for an element.
uint32_t reducedUnit(program::ElementType type, program::Collective::Reduction reduction);

} // namespace tessera::runtime::device::cuda
