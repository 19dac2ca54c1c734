// The sum over keys in a softmax's gradient, from the attention's result (Dao et al. 2022):
//
//   sum over s of p[t, s] * dp[t, s]   =   sum over n of do[t, n] * o[t, n]
//
// as dp is do times the values, and o is p times the values.
#pragma once

#include "passes/fuse/ScorePlane.h"

#include <string>

namespace tessera::fuse {

// What several such sums of one attention have in common, made once.
struct SumsOfResults {
  mlir::Value factor;         // of pairs, that the values are multiplied by
  mlir::Value result;         // of the attention
  ScorePlane::Dims dims;      // its dimensions
  mlir::Value sumsOfProducts; // of results and their gradients
};

// The same sum of what the forward pass has left; null where it is another one: `why` says what is in
// the way.
mlir::Value sumOfResults(const ScorePlane &plane, stablehlo::ReduceOp sum, SumsOfResults &made,
                         mlir::OpBuilder &b, std::string &why);

} // namespace tessera::fuse
