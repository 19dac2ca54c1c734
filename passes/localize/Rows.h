// Rows of one dimension: their global numbers, masks, and their movement between shards.
#pragma once

#include "lib/sharding/RowExchange.h"
#include "passes/localize/Localizer.h"

namespace tessera::localize {

// Scalars and masks, all i32.
mlir::Value scalar(Localizer &l, int64_t value);
// My index along `axes` times `step` plus `offset`.
mlir::Value myStart(Localizer &l, llvm::ArrayRef<sharding::AxisRef> axes, int64_t step,
                    int64_t offset);
// For each element of `shape` its place along `dim`, plus `start` (a scalar, may be null).
mlir::Value rowNumbers(Localizer &l, llvm::ArrayRef<int64_t> shape, int64_t dim, mlir::Value start);
// Which elements of `shape` have row numbers in [begin, end).
mlir::Value rowsBetween(Localizer &l, llvm::ArrayRef<int64_t> shape, int64_t dim, mlir::Value start,
                        int64_t begin, int64_t end);
mlir::Value select(Localizer &l, mlir::Value mask, mlir::Value onTrue, mlir::Value onFalse);
// A scalar in every element of a tensor type.
mlir::Value splat(Localizer &l, mlir::Value scalar, llvm::ArrayRef<int64_t> shape);
mlir::Value binary(Localizer &l, llvm::StringRef op, mlir::Value lhs, mlir::Value rhs);
mlir::Value compare(Localizer &l, mlir::Value lhs, mlir::Value rhs,
                    stablehlo::ComparisonDirection direction);

// What leaves the other operand of a reduction unchanged; false where the element type has none.
mlir::Value neutral(Localizer &l, mlir::RankedTensorType type, ReductionKind kind);
bool isNeutral(mlir::Value value, ReductionKind kind);
mlir::Value zeros(Localizer &l, mlir::RankedTensorType type);
// What devices have of a partial value of which another has all: what leaves that unchanged, in a
// sum -0, which keeps its sign.
mlir::Value absent(Localizer &l, mlir::RankedTensorType type,
                   ReductionKind kind = ReductionKind::Sum);

// Replaces the rows past the end of an uneven dimension.
mlir::Value maskPadding(Localizer &l, mlir::Value value, int64_t dim, const DimLayout &layout,
                        int64_t size, mlir::Value fill);

mlir::Value sliceRows(Localizer &l, mlir::Value value, int64_t dim, int64_t begin, int64_t end,
                      int64_t stride = 1);
mlir::Value padRows(Localizer &l, mlir::Value value, int64_t dim, int64_t low, int64_t high,
                    mlir::Value fill = {}); // zeros by default
mlir::Value concatRows(Localizer &l, mlir::ValueRange values, int64_t dim);
mlir::Value dynamicRows(Localizer &l, mlir::Value value, int64_t dim, mlir::Value start,
                        int64_t length);

using sharding::HeldRows;
using sharding::WantedRows;

// Moves rows by shifts between shards, or by gathering all where that is cheaper.
mlir::Value exchangeRows(Localizer &l, mlir::Value value, int64_t dim,
                         llvm::ArrayRef<sharding::AxisRef> axes, const HeldRows &held,
                         const WantedRows &wanted);

// The same where all may hold the whole dimension already (`held` has no axes): then each takes its
// rows of it.
mlir::Value wantedRows(Localizer &l, mlir::Value value, int64_t dim, const DimLayout &held,
                       int64_t size, llvm::ArrayRef<sharding::AxisRef> axes,
                       const WantedRows &wanted);

} // namespace tessera::localize
