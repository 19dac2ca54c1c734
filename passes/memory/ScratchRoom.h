// How much scratch kernels may have beside the arrays that live while they run, on plain data.
#pragma once

#include "passes/memory/Arena.h"

namespace tessera::memory {

// A kernel that runs at a time, and what it takes beside arrays.
struct ScratchUse {
  int kernel;
  int64_t time, bytes;
};

// By kernel, the bytes that its scratch may take so that arrays and scratch together take no more than
// `space` at one time, whenever it runs: in whole KB, and 1 where there is no room; 0: what it takes fits.
//   space 9 KB, A of 5 KB [0,9], kernel 0 takes 8 KB, at 4 and at 20: it may take 4 KB, for 4
std::vector<int64_t> scratchRoom(llvm::ArrayRef<Request> arrays, llvm::ArrayRef<ScratchUse> uses,
                                 size_t kernels, int64_t space);

} // namespace tessera::memory
