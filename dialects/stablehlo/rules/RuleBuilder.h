// Puts a factor rule together from an op's shapes.
#pragma once

#include "dialects/stablehlo/ShapeInference.h"
#include "lib/sharding/FactorRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace tessera::stablehlo {

class RuleBuilder {
public:
  using Kind = sharding::FactorKind;

  // Operands and results with as many dimensions as `op`'s, none of which has factors yet.
  explicit RuleBuilder(mlir::Operation *op);

  // A new factor, by number.
  int32_t factor(int64_t size, Kind kind = Kind::PassThrough,
                 sharding::ReductionKind reduction = sharding::ReductionKind::Sum);
  // Rows of this Permutation factor stay; each shard's total crosses boundaries.
  void scanned(int32_t factor) { rule.factors[factor].scanned = true; }

  // Adds a factor to a dimension, as its most minor.
  RuleBuilder &operand(size_t index, size_t dim, int32_t factor);
  RuleBuilder &result(size_t index, size_t dim, int32_t factor);

  // The factors of all of a tensor's dimensions, one each.
  RuleBuilder &operand(size_t index, llvm::ArrayRef<int32_t> factors);
  RuleBuilder &result(size_t index, llvm::ArrayRef<int32_t> factors);

  sharding::FactorRule take() { return std::move(rule); }

private:
  sharding::FactorRule rule;
};

} // namespace tessera::stablehlo
