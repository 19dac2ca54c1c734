// Ops on whole matrices or lines, batch by batch.
//
//   cholesky                     ([b, i, j]) -> ([b, i, j])               i, j whole
//   triangular_solve, left       ([b, i, l], [b, i, n]) -> ([b, l, n])    i, l whole; columns n pass through
//   fft of the last dimension    ([b, n]) -> ([b, n])                     n whole; a real one has two lengths
//   rng_bit_generator            ([s]) -> ([s], [i, j])                   all whole: one stream of bits
#include "dialects/stablehlo/rules/RuleBuilder.h"
#include "dialects/stablehlo/rules/Rules.h"

namespace tessera::stablehlo {

using Kind = RuleBuilder::Kind;

namespace {

sharding::FactorRule wholeRule(mlir::Operation *op) {
  RuleBuilder builder(op);
  for (mlir::OpOperand &operand : op->getOpOperands())
    for (auto [d, size] : llvm::enumerate(shapeOf(operand.get())))
      builder.operand(operand.getOperandNumber(), d, builder.factor(size, Kind::NeedReplication));
  for (mlir::OpResult result : op->getResults())
    for (auto [d, size] : llvm::enumerate(shapeOf(result)))
      builder.result(result.getResultNumber(), d, builder.factor(size, Kind::NeedReplication));
  return builder.take();
}

} // namespace

sharding::FactorRule ruleOf(CholeskyOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getA());
  for (size_t d = 0; d < shape.size(); ++d) {
    int32_t factor =
        builder.factor(shape[d], d + 2 < shape.size() ? Kind::PassThrough : Kind::NeedReplication);
    builder.operand(0, d, factor).result(0, d, factor);
  }
  return builder.take();
}

sharding::FactorRule ruleOf(TriangularSolveOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> a = shapeOf(op.getA()), b = shapeOf(op.getB());
  size_t row = b.size() - 2, column = b.size() - 1;
  for (size_t d = 0; d < row; ++d) {
    int32_t factor = builder.factor(b[d]);
    builder.operand(0, d, factor).operand(1, d, factor).result(0, d, factor);
  }
  size_t solved = op.getLeftSide() ? row : column, free = op.getLeftSide() ? column : row;
  int32_t in = builder.factor(a[row], Kind::NeedReplication);
  int32_t out = builder.factor(a[row], Kind::NeedReplication);
  int32_t others = builder.factor(b[free]);
  builder.operand(0, solved, in).operand(0, free, out);
  builder.operand(1, solved, in).operand(1, free, others);
  builder.result(0, solved, out).result(0, free, others);
  return builder.take();
}

sharding::FactorRule ruleOf(FftOp op) {
  RuleBuilder builder(op);
  llvm::ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  size_t first = from.size() - op.getFftLength().size();
  for (size_t d = 0; d < from.size(); ++d) {
    Kind kind = d < first ? Kind::PassThrough : Kind::NeedReplication;
    int32_t factor = builder.factor(from[d], kind);
    builder.operand(0, d, factor);
    builder.result(0, d, from[d] == to[d] ? factor : builder.factor(to[d], kind));
  }
  return builder.take();
}

sharding::FactorRule ruleOf(RngBitGeneratorOp op) { return wholeRule(op); }
sharding::FactorRule ruleOf(RngOp op) { return wholeRule(op); }

} // namespace tessera::stablehlo
