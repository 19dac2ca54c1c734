// Kernels that consist of strands, the same ops on arrays of their own (tessera-join-dispatches): the code is that of
// the first, and a block has the arrays of its strand.
//
//   block 0..3     strand 0, of 4,096 elements    p0, m0, v0
//   block 4..4     strand 1, of 512 elements      p1, m1, v1
#pragma once

#include "passes/codegen/kernel/KernelSource.h"

#include "mlir/IR/OwningOpRef.h"

namespace tessera::codegen::gpu {

class Strands {
public:
  explicit Strands(const KernelSource &kernel);

  // The kernel of the first of them alone.
  const KernelSource &first() const { return source; }
  int64_t count() const { return static_cast<int64_t>(elements.size()); }
  // Of the first output of each.
  llvm::SmallVector<int64_t> elements;
  // The numbers of a strand's operands among all: inputs, then outputs.
  llvm::SmallVector<unsigned> operandsOf(int64_t strand) const;

private:
  mlir::OwningOpRef<exec::KernelOp> owner;
  KernelSource source;
  unsigned inputs, outputs; // of each
};

} // namespace tessera::codegen::gpu
