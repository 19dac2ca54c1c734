// Rows of one dimension: their global numbers, masks, and their movement between shards.
#pragma once

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

// Replaces the rows past the end of an uneven dimension.
mlir::Value maskPadding(Localizer &l, mlir::Value value, int64_t dim, const DimLayout &layout,
                        int64_t size, mlir::Value fill);

mlir::Value sliceRows(Localizer &l, mlir::Value value, int64_t dim, int64_t begin, int64_t end,
                      int64_t stride = 1);
mlir::Value padRows(Localizer &l, mlir::Value value, int64_t dim, int64_t low, int64_t high);
mlir::Value concatRows(Localizer &l, mlir::ValueRange values, int64_t dim);
mlir::Value dynamicRows(Localizer &l, mlir::Value value, int64_t dim, mlir::Value start,
                        int64_t length);

// Shard i along a dimension holds rows [i * tile + origin, (i + 1) * tile + origin), as far as they
// exist.
struct HeldRows {
  int64_t size, shards, tile, origin = 0;
};
// Shard i wants rows [i * step + offset, i * step + offset + length); those that do not exist may
// be anything.
struct WantedRows {
  int64_t step, offset, length;
};
// Rows [begin, end) of the tile that is `distance` shards further come to me.
struct RowPiece {
  int64_t distance, begin, end;
};
// The pieces, by distance; they lie in the window [begin, end) of rows relative to my own tile, of
// which I need `length` rows from i * drift - begin on.
struct RowExchange {
  std::vector<RowPiece> pieces;
  int64_t begin = 0, end = 0, drift = 0, start = 0;
  int64_t rowsSent() const; // by a device
};
// Held: 8 rows on 4 shards, tile 2. Wanted: a halo of one row on both sides, step 2, offset -1,
// length 4.
//   pieces  {-1, 1, 2} {0, 0, 2} {1, 0, 1}     window [-1, 3), drift 0
RowExchange planExchange(const HeldRows &held, const WantedRows &wanted);

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
