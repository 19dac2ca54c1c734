// A scatter into one value that has one place for each row becomes a select, which fuses with what
// computes the updates and with what uses the rows. It is what the gradient of a picked element is
// (a label's logit): Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tessera {
#define GEN_PASS_DEF_SELECTUPDATES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

namespace {

// Each row along `dim` of the operand has the index and the update at its own place in `rowDims`.
struct OnePlaceARow {
  int64_t dim;
  SmallVector<int64_t> rowDims; // of the operand, in the order of the indices' dimensions
};

} // namespace

static std::optional<OnePlaceARow> findRows(ScatterDimensionNumbersAttr dims,
                                            RankedTensorType operand, RankedTensorType indices) {
  if (!dims.getUpdateWindowDims().empty() || dims.getScatterDimsToOperandDims().size() != 1)
    return std::nullopt;
  OnePlaceARow found{dims.getScatterDimsToOperandDims().front(), {}};
  ArrayRef<int64_t> batching = dims.getScatterIndicesBatchingDims();
  for (int64_t d = 0; d < indices.getRank(); ++d) {
    if (const auto *at = llvm::find(batching, d); at != batching.end())
      found.rowDims.push_back(dims.getInputBatchingDims()[at - batching.begin()]);
    else if (indices.getDimSize(d) != 1)
      return std::nullopt; // several places in a row
  }
  if (!llvm::is_sorted(found.rowDims))
    return std::nullopt;
  // What is neither a row's dimension nor that of the places has one place, at which updates lie.
  for (int64_t d = 0; d < operand.getRank(); ++d)
    if (d != found.dim && !llvm::is_contained(found.rowDims, d) && operand.getDimSize(d) != 1)
      return std::nullopt;
  return found;
}

// Whether the update computation gives the update itself, or one operation of the two.
static bool isPlain(Block &body) {
  Value result = body.getTerminator()->getOperand(0);
  if (result == body.getArgument(1))
    return true;
  Operation *op = result.getDefiningOp();
  return op && body.getOperations().size() == 2 && op->getNumOperands() == 2 && isElementwise(op) &&
         typeOf(op->getResult(0)) == typeOf(body.getArgument(0)) &&
         llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>);
}

// Of whole arrays.
static Value combine(Block &body, Value operand, Value update, PatternRewriter &rewriter) {
  Operation *op = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!op)
    return update;
  SmallVector<Value> operands;
  for (Value argument : op->getOperands())
    operands.push_back(argument == body.getArgument(0) ? operand : update);
  return fuse::remade(rewriter, op->getLoc(), op, operands, operand.getType());
}

static LogicalResult selectUpdates(ScatterOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1)
    return failure();
  Value operand = op.getInputs().front(), update = op.getUpdates().front();
  auto constant = operand.getDefiningOp<ConstantOp>();
  if (!constant || !isa<SplatElementsAttr>(constant.getValue()))
    return failure(); // updated in place
  RankedTensorType type = typeOf(operand), indices = typeOf(op.getScatterIndices());
  auto rows = findRows(op.getScatterDimensionNumbers(), type, indices);
  Type number = indices.getElementType();
  Block &body = op.getUpdateComputation().front();
  if (!rows || !countsExactly(number, type.getDimSize(rows->dim)) || !isPlain(body))
    return failure();
  Location loc = op.getLoc();
  SmallVector<int64_t> rowShape;
  for (int64_t d : rows->rowDims)
    rowShape.push_back(type.getDimSize(d));
  auto overRows = [&](Value value) -> Value {
    Type element = typeOf(value).getElementType();
    Value row = ReshapeOp::create(rewriter, loc, RankedTensorType::get(rowShape, element), value);
    return BroadcastInDimOp::create(rewriter, loc, RankedTensorType::get(type.getShape(), element),
                                    row, rows->rowDims);
  };
  Value updates = combine(body, operand, overRows(update), rewriter);
  auto numbers = RankedTensorType::get(type.getShape(), number);
  Value place = IotaOp::create(rewriter, loc, numbers, rows->dim);
  // An index that is no place is that of none.
  Value isThere = CompareOp::create(
      rewriter, loc, place, overRows(op.getScatterIndices()), ComparisonDirection::EQ,
      number.isUnsignedInteger() ? ComparisonType::UNSIGNED : ComparisonType::SIGNED);
  rewriter.replaceOpWithNewOp<SelectOp>(op, type, isThere, updates, operand);
  return success();
}

namespace {
struct SelectUpdates : impl::SelectUpdatesBase<SelectUpdates> {
  void runOnOperation() override {
    if (failed(fuse::rewriteBy(selectUpdates, getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
