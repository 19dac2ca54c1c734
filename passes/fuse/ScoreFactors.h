// Values of pairs of a query and a key as sums of products, and what one such product is more than another.
//
//   select(mask, p * dp, 0) - p * row     p * dp * mask  and  -1 * p * row
//
// Two that differ by what is of rows alone have sums over keys that differ by it, too.
#pragma once

#include "passes/fuse/ScorePlane.h"

#include <optional>
#include <vector>

namespace tessera::fuse {

// What a value of pairs is the product of.
struct ScoreFactors {
  llvm::MapVector<mlir::Value, int> pairs; // with their exponents
  struct OfRow {
    mlir::Value value;
    ScorePlane::Dims dims; // its dimensions, none of keys
    int exponent;
  };
  std::vector<OfRow> rows;
  bool isNegative = false;
};

// The products whose sum the value is. A mask that leaves zeros is a factor, and rounding is nothing.
std::vector<ScoreFactors> termsOf(const ScorePlane &plane, mlir::Value value);

// One product by another; none where more than what is of rows is left.
std::optional<ScoreFactors> quotientOfRows(ScoreFactors above, const ScoreFactors &below);

} // namespace tessera::fuse
