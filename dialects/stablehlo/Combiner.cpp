#include "dialects/stablehlo/Combiner.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::stablehlo {

using sharding::ReductionKind;

static std::optional<ReductionKind> kindOf(mlir::Operation *op) {
  bool predicate =
      llvm::cast<mlir::ShapedType>(op->getResult(0).getType()).getElementType().isInteger(1);
  if (llvm::isa<AddOp>(op))
    return predicate ? ReductionKind::Or : ReductionKind::Sum;
  if (llvm::isa<MulOp>(op))
    return predicate ? ReductionKind::And : ReductionKind::Product;
  if (llvm::isa<MaxOp>(op))
    return predicate ? ReductionKind::Or : ReductionKind::Max;
  if (llvm::isa<MinOp>(op))
    return predicate ? ReductionKind::And : ReductionKind::Min;
  if (llvm::isa<AndOp>(op))
    return ReductionKind::And;
  if (llvm::isa<OrOp>(op))
    return ReductionKind::Or;
  return std::nullopt;
}

llvm::SmallVector<ReductionKind> combinersOf(mlir::Region &body) {
  mlir::Block &block = body.front();
  mlir::Operation *terminator = block.getTerminator();
  unsigned count = terminator->getNumOperands();
  if (block.getNumArguments() != 2 * count)
    return {};
  llvm::SmallVector<ReductionKind> kinds;
  for (unsigned i = 0; i < count; ++i) {
    mlir::Operation *op = terminator->getOperand(i).getDefiningOp();
    if (!op || op->getNumOperands() != 2 || op->getNumResults() != 1)
      return {};
    mlir::Value a = block.getArgument(i), b = block.getArgument(i + count);
    bool direct = (op->getOperand(0) == a && op->getOperand(1) == b) ||
                  (op->getOperand(0) == b && op->getOperand(1) == a);
    std::optional<ReductionKind> kind = kindOf(op);
    if (!direct || !kind)
      return {};
    kinds.push_back(*kind);
  }
  return kinds;
}

std::optional<ReductionKind> combinerOf(mlir::Region &body) {
  llvm::SmallVector<ReductionKind> kinds = combinersOf(body);
  if (kinds.empty() || !llvm::all_equal(kinds))
    return std::nullopt;
  return kinds.front();
}

bool mayRepeat(mlir::Value value, ReductionKind kind) {
  if (kind != ReductionKind::Sum && kind != ReductionKind::Product)
    return true;
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? llvm::dyn_cast<mlir::SplatElementsAttr>(constant.getValue())
                        : mlir::SplatElementsAttr();
  if (!splat)
    return false;
  double neutral = kind == ReductionKind::Sum ? 0 : 1;
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(splat.getSplatValue<mlir::Attribute>()))
    return number.getValue().isExactlyValue(neutral) ||
           (kind == ReductionKind::Sum && number.getValue().isZero());
  if (auto number = llvm::dyn_cast<mlir::IntegerAttr>(splat.getSplatValue<mlir::Attribute>()))
    return number.getValue() == uint64_t(neutral);
  if (auto number =
          llvm::dyn_cast<mlir::ArrayAttr>(splat.getSplatValue<mlir::Attribute>())) // complex
    return kind == ReductionKind::Sum && llvm::all_of(number, [](mlir::Attribute part) {
             auto real = llvm::dyn_cast<mlir::FloatAttr>(part);
             return real && real.getValue().isZero();
           });
  return false;
}

} // namespace tessera::stablehlo
