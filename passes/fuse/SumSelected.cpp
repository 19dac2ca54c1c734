// A sum over rows in which one element at most is not zero is that element: zeros change no sum but
// the sign of one that is zero. Passes.td shows an example.
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tessera {
#define GEN_PASS_DEF_SUMSELECTED
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// What is alike along a dimension, without it.
class RowValues {
public:
  RowValues(PatternRewriter &rewriter, int64_t dim) : rewriter(rewriter), dim(dim) {}

  bool has(Value value) const { return has(value, 0); }

  Value of(Value value) {
    Operation *op = value.getDefiningOp();
    auto type =
        RankedTensorType::get(rowShape(typeOf(value).getShape()), typeOf(value).getElementType());
    if (auto constant = dyn_cast<ConstantOp>(op))
      return ConstantOp::create(rewriter, op->getLoc(),
                                cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      SmallVector<int64_t> dims;
      for (int64_t to : broadcast.getBroadcastDimensions())
        dims.push_back(to - (to > dim));
      return BroadcastInDimOp::create(rewriter, op->getLoc(), type, broadcast.getOperand(), dims);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand));
    return fuse::remade(rewriter, op->getLoc(), op, operands, type);
  }

private:
  SmallVector<int64_t> rowShape(ArrayRef<int64_t> shape) const {
    SmallVector<int64_t> sizes(shape);
    sizes.erase(sizes.begin() + dim);
    return sizes;
  }

  bool has(Value value, unsigned depth) const {
    constexpr unsigned mostDepth = 4; // an update is added to a constant, and negated
    Operation *op = value.getDefiningOp();
    if (!op || depth > mostDepth)
      return false;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue());
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
      return !llvm::is_contained(broadcast.getBroadcastDimensions(), dim);
    return isElementwise(op) && op->getNumOperands() > 0 && op->getNumResults() == 1 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return shapeOf(operand) == shapeOf(value) && has(operand, depth + 1);
           });
  }

  PatternRewriter &rewriter;
  int64_t dim;
};

} // namespace

// What numbers the places of rows along `dim`: an iota, also one that is broadcast.
static bool numbersPlaces(Value value, int64_t dim) {
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
    const auto *at = llvm::find(broadcast.getBroadcastDimensions(), dim);
    if (at == broadcast.getBroadcastDimensions().end())
      return false;
    dim = at - broadcast.getBroadcastDimensions().begin();
    value = broadcast.getOperand();
  }
  auto iota = value.getDefiningOp<IotaOp>();
  return iota && static_cast<int64_t>(iota.getIotaDimension()) == dim;
}

static LogicalResult sumSelected(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1 || op.getDimensions().size() != 1 ||
      combinerOf(op.getBody()) != sharding::ReductionKind::Sum ||
      !isZero(op.getInitValues().front()))
    return failure();
  int64_t dim = op.getDimensions().front();
  Value term = op.getInputs().front();
  auto negated = term.getDefiningOp<NegOp>();
  if (negated)
    term = negated.getOperand();
  auto select = term.getDefiningOp<SelectOp>();
  if (!select || !isZero(select.getOnFalse()) || shapeOf(select.getPred()) != shapeOf(term))
    return failure();
  auto isThere = select.getPred().getDefiningOp<CompareOp>();
  if (!isThere || isThere.getComparisonDirection() != ComparisonDirection::EQ)
    return failure();
  Value place = isThere.getLhs(), index = isThere.getRhs();
  if (!numbersPlaces(place, dim))
    std::swap(place, index);
  RowValues rows(rewriter, dim);
  auto number = dyn_cast<IntegerType>(typeOf(index).getElementType());
  int64_t size = typeOf(term).getDimSize(dim);
  if (!number || size == 0 || !countsExactly(number, size) || !numbersPlaces(place, dim) ||
      !rows.has(index) || !rows.has(select.getOnTrue()))
    return failure();
  Location loc = op.getLoc();
  Value row = rows.of(index), picked = rows.of(select.getOnTrue());
  auto numbers = typeOf(row);
  auto compare = [&](ComparisonDirection direction, int64_t bound) {
    Value limit = ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(numbers, APInt(number.getWidth(), bound)));
    return CompareOp::create(rewriter, loc, row, limit, direction,
                             number.isUnsigned() ? ComparisonType::UNSIGNED
                                                 : ComparisonType::SIGNED);
  };
  Value isPlace = AndOp::create(rewriter, loc, compare(ComparisonDirection::GE, 0),
                                compare(ComparisonDirection::LE, size - 1));
  if (negated)
    picked = NegOp::create(rewriter, loc, picked);
  Value zero =
      ConstantOp::create(rewriter, loc, cast<ElementsAttr>(rewriter.getZeroAttr(picked.getType())));
  rewriter.replaceOpWithNewOp<SelectOp>(op, picked.getType(), isPlace, picked, zero);
  return success();
}

namespace {
struct SumSelected : impl::SumSelectedBase<SumSelected> {
  void runOnOperation() override {
    if (failed(fuse::rewriteBy(sumSelected, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
