// Which output takes the memory of which donated argument, on plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::memory {

struct DonatedArray {
  int64_t bytes;
  int type;          // equal numbers: equal types, in the same memory
  int64_t when;      // of an argument: when it is read last; of an output: when it is written
  bool host = false; // it lies in the host's memory
};

// For each argument the output that takes its memory, -1 when none does: one in the same memory. Pairs that are computed in
// place (`inplace`: argument, output) come first, in their order; then, of the same type and then
// of the same size, outputs that are written after the argument has been read, as many as there can
// be.
std::vector<int> pairDonations(llvm::ArrayRef<DonatedArray> arguments,
                               llvm::ArrayRef<DonatedArray> outputs,
                               llvm::ArrayRef<std::pair<int, int>> inplace);

} // namespace tessera::memory
