// What the cores of this machine copy and multiply at most, measured by short loops: what
// `tessera run --profile` sets kernels beside. Nothing decides by it.
#pragma once

#include "include/tessera/program.pb.h"
#include <cstdint>

namespace tessera::runtime {

// Per second, of all cores that were asked for together. 0: it could not be measured.
struct MachineSpeed {
  double copiedBytes = 0; // read and written, of arrays that no cache holds
  double f32Flops = 0;    // multiply-adds of the widest vectors, two operations each
  double bf16Flops = 0;   // the same of products of bf16 by what the processor has for them

  double flopsOf(program::ElementType products) const {
    return products == program::BF16  ? bf16Flops
           : products == program::F64 ? f32Flops / 2
                                      : f32Flops;
  }
  // The least that so much takes; 0 where it could not be measured.
  double leastSeconds(program::ElementType products, double flops, double bytes) const;
};

// Takes some tens of milliseconds and 128 MiB, with so many threads at once.
MachineSpeed measureMachine(uint32_t cores);

} // namespace tessera::runtime
