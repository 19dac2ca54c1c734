// The kernel of an attention's gradient with its keys in parts, for which it has cells of their own:
// queries' gradients are sums of each part, and are added up behind it.
//
//   dq, dk, dv = exec.fused(..):             p, k, v = exec.fused(..):
//     dq = ds . k     over t x s               dq of t x parts x keys    ->    dq = sum over parts of p
//     dk = ds . q                              dk of parts x keys              dk = reshape k
#pragma once

#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"

#include "mlir/IR/Builders.h"

namespace tessera::fuse {

// What one result of the kernel is a product of: which operand is of pairs, and its dimension of keys.
struct KeysOfResult {
  unsigned side;
  int64_t keys;
};

// `results`: by the kernel's. The kernel in parts is made at the builder's place, in the place of
// `fused`; null, and nothing has changed, where a result's keys do not stay a dimension of their own.
exec::FusedOp inKeyParts(exec::FusedOp fused, llvm::ArrayRef<KeysOfResult> results, int64_t parts,
                         mlir::OpBuilder &b);

// The values that the kernel without parts yields, of types `types`, at the builder's place.
llvm::SmallVector<mlir::Value> joinKeyParts(exec::FusedOp inParts, mlir::TypeRange types,
                                            mlir::OpBuilder &b);

} // namespace tessera::fuse
