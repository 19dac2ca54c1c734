// What is compiled: the body of one kernel; and what comes of it beside its code.
#pragma once

#include "dialects/exec/ExecOps.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace tessera::codegen {

// A block whose arguments are the kernel's inputs and whose terminator's operands are its outputs.
struct KernelSource {
  std::string symbol;
  mlir::Block *body;
  // For each output the input whose buffer it may share, or -1.
  llvm::SmallVector<int64_t> inplace;
  // Bytes that its scratch should not exceed; 0: as many as it is quickest with.
  int64_t mostScratch = 0;
  // Bodies of the same ops that it consists of (exec.kernel).
  int64_t strands = 1;
  // Outputs that are known not to share a buffer, though they may.
  llvm::SmallVector<unsigned> apart = {};

  mlir::ValueRange outputs() const { return body->getTerminator()->getOperands(); }
  int64_t inplaceOf(unsigned output) const {
    return output < inplace.size() ? inplace[output] : -1;
  }
  // The output that is result `i` of `op`; -1 if none is.
  int outputOf(mlir::Operation *op, unsigned result) const;
  // The input that `output` may overwrite, if that is `value` itself; else -1.
  int64_t sharedInput(unsigned output, mlir::Value value) const;
  // Whether any output may share an input's buffer.
  bool sharesBuffers() const;
};

KernelSource sourceOf(exec::KernelOp kernel);

struct KernelInfo {
  int64_t grid = 1;
  int64_t scratchBytes = 0;
};

} // namespace tessera::codegen
