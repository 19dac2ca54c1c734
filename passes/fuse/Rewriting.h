// What rewrites of this phase have in common.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tessera::fuse {

// The same operation of other operands, with a result of `type`.
inline mlir::Value remade(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                          mlir::ValueRange operands, mlir::Type type) {
  mlir::OperationState state(loc, op->getName(), operands, type, op->getAttrs());
  return b.create(state)->getResult(0);
}

// Nothing but `pattern`: what is around stays as it is written.
template <typename Pattern> mlir::LogicalResult rewriteBy(Pattern pattern, mlir::Operation *root) {
  mlir::RewritePatternSet patterns(root->getContext());
  patterns.add(pattern);
  mlir::GreedyRewriteConfig config;
  config.enableConstantCSE(false).enableFolding(false).setRegionSimplificationLevel(
      mlir::GreedySimplifyRegionLevel::Disabled);
  return mlir::applyPatternsGreedily(root, std::move(patterns), config);
}

} // namespace tessera::fuse
