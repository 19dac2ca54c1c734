// The index vectors of gather and scatter, component by component.
#pragma once

#include "passes/localize/Rows.h"

namespace tessera::localize {

// One component of all index vectors, with the index vector dimension kept at size 1, as i32.
// `low` and `high` bound it first (in the type the indices have).
mlir::Value indexColumn(Localizer &l, mlir::Value indices, int64_t vectorDim, int64_t component,
                        int64_t low, int64_t high);

// Columns side by side again; of the shape of the indices.
mlir::Value joinColumns(Localizer &l, mlir::ArrayRef<mlir::Value> columns,
                        llvm::ArrayRef<int64_t> shape, int64_t vectorDim);

// The number of components, 1 where there is no index vector dimension.
int64_t componentCount(llvm::ArrayRef<int64_t> shape, int64_t vectorDim);

} // namespace tessera::localize
