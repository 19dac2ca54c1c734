// The parts of sums over columns that a kernel makes beside its results, or alone.
//
//   dx[r, c], sums of 64 rows each of a[r, c] and of b[r, c]:
//   for each 64 rows, for each of them, for each c:   dx[r, c] = ..   part_a[c] += ..   part_b[c] += ..
//
// They are outputs by windows (tessera.parts) over arrays of the shape that the kernel's loops are of.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <optional>

namespace tessera::codegen {

struct ColumnSums {
  llvm::SmallVector<int64_t, 6> shape;  // of what is summed
  llvm::SmallVector<int64_t, 6> window; // of a part
  unsigned outer = 0;                   // dimensions before the columns

  int64_t columns() const;
  // The dimension of which a part has some, but not all; none where each part has all or one.
  std::optional<unsigned> divided() const;
};

// The window of an output that is such a part; null for others.
stablehlo::ReduceWindowOp partsOp(mlir::Value output);
// The number of dimensions before the columns.
unsigned columnsFrom(stablehlo::ReduceWindowOp window);
// Those of the kernel, all of one shape and window; outputs with others go alone.
std::optional<ColumnSums> columnSumsOf(const KernelSource &kernel);
bool isPartOf(const ColumnSums &sums, mlir::Value output);

} // namespace tessera::codegen
