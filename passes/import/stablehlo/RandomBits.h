// Counter-based random bits as StableHLO integer arithmetic: Threefry-2x32 (20 rounds) and
// Philox-4x32 (10 rounds) of Salmon et al. 2011, "Parallel Random Numbers: As Easy as 1, 2, 3".
//
// Which bits an element gets is what XLA gives, so that programs draw the same numbers. With k the
// key state[0] and c the counter state[1] (Philox: 128 bits, c and then state[2], or the key where
// there is none), all as 32-bit words, low one first:
//
//   Threefry, 32 bits   the first even dimension (else the first of the largest) is halved, rounded
//                       up; position s of it takes word s % 2 of block s / 2, blocks being numbered
//                       row-major over the halved shape
//   Threefry, 64 bits   element i, row-major, takes both words of block i
//   Philox              elements take the four words of block 0, 1, .. one after the other, or two
//                       each
//   8 and 16 bits       the low bits of what 32-bit elements would get
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tessera::import {

struct RandomBits {
  mlir::Value state; // as many words as the one before, the counter moved on
  mlir::Value bits;  // unsigned integers
};

/// Bits of 8, 16, 32 or 64 each. `state` is a ui64 vector of 2, for Philox also 3.
RandomBits threefryBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value state,
                        llvm::ArrayRef<int64_t> shape, unsigned width);
RandomBits philoxBits(mlir::OpBuilder &b, mlir::Location loc, mlir::Value state,
                      llvm::ArrayRef<int64_t> shape, unsigned width);

} // namespace tessera::import
