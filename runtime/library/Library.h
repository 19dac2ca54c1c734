// Kernels that the runtime brings: found by name when a program is loaded, called like generated
// ones.
#pragma once

#include "include/tessera/kernel_abi.h"
#include "include/tessera/library.h"
#include "runtime/Status.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::runtime {

struct LibraryKernel {
  TesseraKernel function = nullptr;
  std::shared_ptr<const void> plan; // what the function finds in its arguments
  // Makes what the function needs and what takes memory in the size of its arrays: once they are
  // known to be there.
  void (*prepare)(const void *plan) = nullptr;
  std::vector<uint64_t> operandBytes; // at least, of each operand: inputs, then outputs
  size_t inputs = 1;                  // among the operands
  uint64_t scratchBytes = 0;
  uint32_t grid = 1;
};

// Fails on names and numbers that it does not know, and where a library of the system is missing.
Result<LibraryKernel> findLibraryKernel(const library::Call &call);

// One for each family; the numbers are those of include/tessera/library.h.
Result<LibraryKernel> findFft(const library::Call &call);
Result<LibraryKernel> findCholesky(const library::Call &call);
Result<LibraryKernel> findTriangularSolve(const library::Call &call);

Result<LibraryKernel> findLapack(const library::Call &call);

// The problems of cells [begin, end).
struct Problems {
  int64_t begin, end;
  static Problems of(int64_t batch, uint32_t cellBegin, uint32_t cellEnd) {
    int64_t grid = library::gridOf(batch);
    return {batch * int64_t{cellBegin} / grid, batch * int64_t{cellEnd} / grid};
  }
};

Status badNumbers(const library::Call &call);

} // namespace tessera::runtime
