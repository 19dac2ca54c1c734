// Ladders of slices, combinations and interleavings, as jax.lax.associative_scan writes them, found
// out to be running reductions.
//
//   x        a   b   c   d                     places 0, 1, 2, 3
//   pairs    ab      cd                        f(x[0::2], x[1::2])
//   odd      ab      abcd                      the same of the pairs
//   even     a       abc                       x[0], f(odd[:-1], x[2::2])
//   result   a   ab  abc abcd                  even and odd in turn
//
// Each array of the ladder holds, place by place, the elements from one to another combined. What
// stretch that is, is followed through every op by the ways in which slices, concatenations,
// interleavings and f itself change it: the result must reach from 0 to each place. So it does not
// matter how many levels there are, what of them nobody reads, or how odd lengths are halved.
#pragma once

#include "dialects/stablehlo/StablehloOps.h"

#include <optional>

namespace tessera::import {

struct ScanLadder {
  int64_t dim;
  // Arrays that are scanned together, and of each what combines two elements of all: its value for
  // the first pairs, in terms of slices of the arrays.
  llvm::SmallVector<mlir::Value> arrays, pairs;
  // Of each the running reduction, null where the program has none. All have as many places, which may be fewer
  // than the arrays have: the slice that a program scans and the ladder's own slices may have become one.
  llvm::SmallVector<mlir::Value> results;
};

/// The array whose ladder has this result, if it is one; null where it cannot be.
mlir::Value scannedArray(mlir::Value result);

/// The ladder with this result, of which `results` has only it; none where it is another's.
std::optional<ScanLadder> ladderOf(mlir::Value result);

/// Sets results of the ladder which are among `candidates`.
void findResults(ScanLadder &ladder, llvm::ArrayRef<mlir::Value> candidates);

/// The computation of `ladder` on scalars: all earlier elements, then all later ones, as the
/// arguments of the block that `b` is in; what they give. `isReversed`: later ones come first.
llvm::SmallVector<mlir::Value> combineIn(mlir::OpBuilder &b, const ScanLadder &ladder,
                                         bool isReversed);

} // namespace tessera::import
