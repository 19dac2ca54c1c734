// The one way by which an annotation stays when an operation is replaced by others.
#pragma once

#include "mlir/IR/ValueRange.h"

namespace tessera::sdy {

// to[i] takes the place of from[i] and gets the sharding that it was given, if any. Only results of
// operations have and get one this way: an argument's is its owner's, and those of sdy's operations
// are what these operations say, which stays with them. Of an operation of several results the others are open where nothing is said of them.
void keepSharding(mlir::ValueRange from, mlir::ValueRange to);

} // namespace tessera::sdy
