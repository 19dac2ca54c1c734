// Marks.h, of sums that are made in two stages.
#pragma once

#include "mlir/IR/Operation.h"

namespace tessera {

// Of a reduce_window: it makes the parts of a sum over columns (lib/fusion/ColumnSums.h). Of a reduce:
// it adds them up, each the sum of so many terms along the innermost dimension that it goes over. 0: is
// neither.
int64_t getSummed(mlir::Operation *op);
void setSummed(mlir::Operation *op, int64_t terms);

} // namespace tessera
