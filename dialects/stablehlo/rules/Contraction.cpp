// dot_general and dot: contracted dimensions reduce. einsum: as its letters say.
//
//   dot_general batching [0] x [0], contracting [2] x [2]   ([b, m, k], [b, n, k]) -> ([b, m, n])
//   einsum "bmk,bnk->bnm"                                   ([b, m, k], [b, n, k]) -> ([b, n, m])
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"
#include <map>
#include <set>

namespace tessera::stablehlo {

namespace {

sharding::FactorRule contraction(mlir::Operation *op, llvm::ArrayRef<int64_t> lhsBatch,
                                 llvm::ArrayRef<int64_t> rhsBatch,
                                 llvm::ArrayRef<int64_t> lhsContracting,
                                 llvm::ArrayRef<int64_t> rhsContracting) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> lhs = shapeOf(op->getOperand(0)), rhs = shapeOf(op->getOperand(1));
  size_t at = 0; // dimension of the result: batch, then lhs's own, then rhs's own
  for (auto [l, r] : llvm::zip_equal(lhsBatch, rhsBatch)) {
    int32_t factor = builder.factor(lhs[l]);
    builder.operand(0, l, factor).operand(1, r, factor).result(0, at++, factor);
  }
  for (size_t d = 0; d < lhs.size(); ++d)
    if (!llvm::is_contained(lhsBatch, int64_t(d)) &&
        !llvm::is_contained(lhsContracting, int64_t(d))) {
      int32_t factor = builder.factor(lhs[d]);
      builder.operand(0, d, factor).result(0, at++, factor);
    }
  for (size_t d = 0; d < rhs.size(); ++d)
    if (!llvm::is_contained(rhsBatch, int64_t(d)) &&
        !llvm::is_contained(rhsContracting, int64_t(d))) {
      int32_t factor = builder.factor(rhs[d]);
      builder.operand(1, d, factor).result(0, at++, factor);
    }
  for (auto [l, r] : llvm::zip_equal(lhsContracting, rhsContracting)) {
    int32_t factor = builder.factor(lhs[l], RuleBuilder::Kind::Reduction);
    builder.operand(0, l, factor).operand(1, r, factor);
  }
  return builder.take();
}

// One for each operand; none where they don't fit the shapes, or one stands twice in an operand.
llvm::SmallVector<llvm::StringRef> lettersOf(mlir::Operation *op, llvm::StringRef from) {
  llvm::SmallVector<llvm::StringRef> operands;
  from.split(operands, ',');
  if (operands.size() != op->getNumOperands())
    return {};
  for (auto [operand, letters] : llvm::zip(op->getOperands(), operands)) {
    std::set<char> different(letters.begin(), letters.end());
    if (letters.size() != shapeOf(operand).size() || different.size() != letters.size())
      return {};
  }
  return operands;
}

// A factor for each letter, which reduces where the result lacks it.
sharding::FactorRule byLetters(mlir::Operation *op, llvm::StringRef config) {
  RuleBuilder builder(op);
  auto [from, to] = config.split("->");
  std::map<char, int32_t> factors;
  for (auto [i, letters] : llvm::enumerate(lettersOf(op, from)))
    for (auto [d, letter] : llvm::enumerate(letters)) {
      auto [known, isNew] = factors.try_emplace(letter);
      if (isNew)
        known->second = builder.factor(shapeOf(op->getOperand(i))[d],
                                       to.contains(letter) ? RuleBuilder::Kind::PassThrough
                                                           : RuleBuilder::Kind::Reduction);
      builder.operand(i, d, known->second);
    }
  for (auto [d, letter] : llvm::enumerate(to.take_front(shapeOf(op->getResult(0)).size())))
    if (auto known = factors.find(letter); known != factors.end())
      builder.result(0, d, known->second);
  return builder.take();
}

} // namespace

sharding::FactorRule ruleOf(DotGeneralOp op) {
  DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  return contraction(op, dims.getLhsBatchingDimensions(), dims.getRhsBatchingDimensions(),
                     dims.getLhsContractingDimensions(), dims.getRhsContractingDimensions());
}

sharding::FactorRule ruleOf(DotOp op) {
  int64_t last = int64_t(shapeOf(op.getLhs()).size()) - 1;
  return contraction(op, {}, {}, {last}, {0});
}

sharding::FactorRule ruleOf(EinsumOp op) { return byLetters(op, op.getEinsumConfig()); }

sharding::FactorRule ruleOf(UnaryEinsumOp op) { return byLetters(op, op.getEinsumConfig()); }

} // namespace tessera::stablehlo
