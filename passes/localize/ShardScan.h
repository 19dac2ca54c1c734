// The end of a running reduction along a sharded dimension: what lies in other shards.
#pragma once

#include "passes/localize/Rows.h"

namespace tessera::localize {

// `running` is what `op` makes of each shard's own rows along `dim`, `starts` its local start
// values. Gives the running reductions of all rows.
llvm::SmallVector<mlir::Value> acrossShards(Localizer &l, stablehlo::ReduceWindowOp op,
                                            mlir::ValueRange running, mlir::ValueRange starts,
                                            int64_t dim, bool forward,
                                            llvm::ArrayRef<sharding::AxisRef> axes);

} // namespace tessera::localize
