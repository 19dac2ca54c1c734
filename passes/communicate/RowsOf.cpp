#include "passes/communicate/RowsOf.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "passes/communicate/ProductDims.h"

using namespace mlir;

namespace tessera::communicate {
namespace {

constexpr int64_t kWhole = -1; // of an operand: all of it is needed

// Adds rows of something behind the last row of `dim`, and nothing else.
bool padsBehind(stablehlo::PadOp pad, int64_t dim) {
  auto areZero = [](ArrayRef<int64_t> counts) {
    return llvm::all_of(counts, [](int64_t count) { return count == 0; });
  };
  for (auto [d, high] : llvm::enumerate(pad.getEdgePaddingHigh()))
    if (static_cast<int64_t>(d) != dim && high != 0)
      return false;
  return areZero(pad.getEdgePaddingLow()) && areZero(pad.getInteriorPadding()) &&
         pad.getEdgePaddingHigh()[dim] >= 0;
}

// The dimension of the operand that a reshape keeps as `dim`.
std::optional<int64_t> keptDim(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dim) {
  auto elements = [](ArrayRef<int64_t> shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  };
  int64_t before = elements(to.take_front(dim));
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] == to[dim] && elements(from.take_front(d)) == before)
      return d;
  return std::nullopt;
}

// Of each operand the dimension whose rows are those of the result's `dim`; none where the op makes
// something else of rows.
std::optional<SmallVector<int64_t, 3>> operandDims(Operation *op, int64_t dim) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    ResultDim from = resultDim(dot, dim);
    return SmallVector<int64_t, 3>{from.lhs, from.rhs};
  }
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op))
    return SmallVector<int64_t, 3>{transpose.getPermutation()[dim]};
  if (auto pad = dyn_cast<stablehlo::PadOp>(op); pad && padsBehind(pad, dim))
    return SmallVector<int64_t, 3>{dim, kWhole};
  if (auto reshape = dyn_cast<stablehlo::ReshapeOp>(op)) {
    auto kept = keptDim(shapeOf(reshape.getOperand()), shapeOf(reshape.getResult()), dim);
    if (kept)
      return SmallVector<int64_t, 3>{*kept};
    return std::nullopt;
  }
  if (!isElementwise(op) || op->getNumResults() != 1 || isa<stablehlo::BitcastConvertOp>(op))
    return std::nullopt;
  SmallVector<int64_t, 3> dims;
  for (Value operand : op->getOperands())
    dims.push_back(shapeOf(operand).empty() ? kWhole : dim);
  return dims;
}

bool isSplat(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

} // namespace

bool RowsOf::isFollowed(Value of, int64_t along) const {
  Operation *op = of.getDefiningOp();
  return op && op->getBlock() == block && (of.hasOneUse() || (isReplaced && of == value)) &&
         operandDims(op, along);
}

void RowsOf::follow(Value of, int64_t along) {
  if (isSplat(of))
    return;
  if (!isFollowed(of, along)) {
    leaves.push_back({of, along});
    return;
  }
  Operation *op = of.getDefiningOp();
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
    dots.push_back(dot);
    ResultDim from = resultDim(dot, along);
    if (from.lhs >= 0)
      leaves.push_back({dot.getLhs(), from.lhs});
    if (from.rhs >= 0)
      leaves.push_back({dot.getRhs(), from.rhs});
    return;
  }
  for (auto [operand, d] : llvm::zip_equal(op->getOperands(), *operandDims(op, along)))
    if (d != kWhole)
      follow(operand, d);
}

double RowsOf::paddedBytes() const {
  double bytes = 0;
  for (auto [leaf, along] : leaves)
    if (shapeOf(leaf)[along] < total)
      bytes += static_cast<double>(byteSize(typeOf(leaf)));
  return bytes;
}

void RowsOf::prepare(RowOps &ops) {
  for (auto leaf : leaves)
    paddedLeaves.try_emplace(leaf, ops.padded(leaf.first, leaf.second, total));
}

Value RowsOf::build(RowOps &ops, Value of, int64_t along, Value start, int64_t rows) const {
  SmallVector<int64_t> shape(shapeOf(of));
  shape[along] = rows;
  RankedTensorType type = typeOf(of).clone(shape);
  if (isSplat(of)) {
    auto splat = cast<SplatElementsAttr>(of.getDefiningOp<stablehlo::ConstantOp>().getValue());
    return stablehlo::ConstantOp::create(ops.b, ops.loc, splat.resizeSplat(type));
  }
  if (auto leaf = paddedLeaves.find({of, along}); leaf != paddedLeaves.end())
    return ops.rowsAt(leaf->second, along, start, rows);
  Operation *op = of.getDefiningOp();
  SmallVector<Value> operands;
  for (auto [operand, d] : llvm::zip_equal(op->getOperands(), *operandDims(op, along)))
    operands.push_back(d == kWhole ? operand : build(ops, operand, d, start, rows));
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return ops.filledFrom(operands[0], along, start, shapeOf(pad.getOperand())[along], operands[1]);
  Operation *made = ops.b.clone(*op);
  made->setOperands(operands);
  made->getResult(0).setType(type);
  return made->getResult(0);
}

} // namespace tessera::communicate
