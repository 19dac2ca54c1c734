// What is touched between two times that a program comes to an array, as it goes through its kernels.
#pragma once

#include "lib/plan/Program.h"
#include "mlir/IR/BuiltinOps.h"

namespace tessera {

// Of each array of each kernel the bytes that a step touches from the time before to this one, unsharded.
// `numbers`: of the kernels of the module.
void findReuse(mlir::ModuleOp formed, const llvm::DenseMap<mlir::Operation *, int32_t> &numbers,
               std::vector<plan::Kernel> &kernels);

} // namespace tessera
