// Updates of a part of an array that write no more than they change, or are no pass over it at all.
// Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tessera {
#define GEN_PASS_DEF_SIMPLIFYUPDATES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

// Where there is one for all elements.
static Value scalarOf(Value predicate) {
  if (auto broadcast = predicate.getDefiningOp<BroadcastInDimOp>())
    predicate = broadcast.getOperand();
  return typeOf(predicate).getRank() == 0 ? predicate : Value();
}

// An array that is updated or stays as it is: the part is, and the array is updated where it lies.
static LogicalResult selectPart(SelectOp op, PatternRewriter &rewriter) {
  Value predicate = scalarOf(op.getPred());
  auto update = op.getOnTrue().getDefiningOp<DynamicUpdateSliceOp>();
  bool isOnTrue = update && update.getOperand() == op.getOnFalse();
  if (!isOnTrue)
    update = op.getOnFalse().getDefiningOp<DynamicUpdateSliceOp>();
  Value whole = isOnTrue ? op.getOnFalse() : op.getOnTrue();
  if (!predicate || !update || update.getOperand() != whole || !update->hasOneUse())
    return failure();
  Location loc = op.getLoc();
  Value changed = update.getUpdate();
  RankedTensorType part = typeOf(changed);
  Value kept =
      DynamicSliceOp::create(rewriter, loc, part, whole, update.getStartIndices(), part.getShape());
  Value chosen = SelectOp::create(rewriter, loc, part, predicate, isOnTrue ? changed : kept,
                                  isOnTrue ? kept : changed);
  rewriter.replaceOpWithNewOp<DynamicUpdateSliceOp>(op, typeOf(whole), whole, chosen,
                                                    update.getStartIndices());
  return success();
}

// By one number that takes the place of all numbers at `place` along `dim`: by place, with what
// computes the array and what reads the result.
static LogicalResult selectPlaces(DynamicUpdateSliceOp op, PatternRewriter &rewriter) {
  auto isOfElements = [&](Operation *other) {
    return other && other->getBlock() == op->getBlock() && isElementwise(other);
  };
  SplatElementsAttr number;
  if (!matchPattern(op.getUpdate(), m_Constant(&number)) ||
      !isOfElements(op.getOperand().getDefiningOp()) || op->use_empty() ||
      !llvm::all_of(op->getUsers(), isOfElements))
    return failure();
  RankedTensorType type = typeOf(op.getOperand()), part = typeOf(op.getUpdate());
  int64_t dim = -1;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (part.getDimSize(d) == type.getDimSize(d))
      continue;
    if (dim >= 0 || part.getDimSize(d) != 1)
      return failure();
    dim = d;
  }
  if (dim < 0)
    return failure();
  Value start = op.getStartIndices()[dim];
  RankedTensorType scalar = typeOf(start);
  Type index = scalar.getElementType();
  if (!countsExactly(index, type.getDimSize(dim)))
    return failure();
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) {
    return ConstantOp::create(
        rewriter, loc, DenseElementsAttr::get(scalar, rewriter.getIntegerAttr(index, value)));
  };
  // An update lies inside, wherever it is to begin.
  Value place = ClampOp::create(rewriter, loc, scalar, constant(0), start,
                                constant(type.getDimSize(dim) - 1));
  auto places = RankedTensorType::get(type.getShape(), index);
  Value isThere = CompareOp::create(
      rewriter, loc, IotaOp::create(rewriter, loc, places, dim),
      BroadcastInDimOp::create(rewriter, loc, places, place, ArrayRef<int64_t>{}),
      ComparisonDirection::EQ,
      index.isUnsignedInteger() ? ComparisonType::UNSIGNED : ComparisonType::SIGNED);
  Value splat = ConstantOp::create(rewriter, loc, number.resizeSplat(type));
  rewriter.replaceOpWithNewOp<SelectOp>(op, type, isThere, splat, op.getOperand());
  return success();
}

namespace {

// What takes the places [at, at + size) along `dim` of an array, and all places of other dimensions.
struct Replaced {
  Value whole, part; // of the array's rank, or without `dim`
  int64_t dim, at;
};

} // namespace

// x.at[c].set(y)
static std::optional<Replaced> findReplaced(ScatterOp op) {
  ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
  DenseIntElementsAttr indices;
  if (op.getInputs().size() != 1 || !dims.getInputBatchingDims().empty() ||
      dims.getScatterDimsToOperandDims().size() != 1 ||
      dims.getInsertedWindowDims() != dims.getScatterDimsToOperandDims() ||
      !matchPattern(op.getScatterIndices(), m_Constant(&indices)) || indices.getNumElements() != 1)
    return std::nullopt;
  Block &body = op.getUpdateComputation().front();
  if (body.getTerminator()->getOperand(0) != body.getArgument(1))
    return std::nullopt;
  Value whole = op.getInputs().front(), part = op.getUpdates().front();
  RankedTensorType type = typeOf(whole), update = typeOf(part);
  int64_t dim = dims.getScatterDimsToOperandDims().front();
  SmallVector<int64_t> others(type.getShape());
  others.erase(others.begin() + dim);
  bool isUnsigned = indices.getElementType().isUnsignedInteger();
  APInt index = indices.getValues<APInt>()[0];
  int64_t at = isUnsigned ? int64_t(index.getLimitedValue(INT64_MAX)) : index.getSExtValue();
  if (update.getShape() != ArrayRef<int64_t>(others) ||
      dims.getUpdateWindowDims().size() != others.size() || at < 0 || at >= type.getDimSize(dim))
    return std::nullopt;
  return Replaced{whole, part, dim, at};
}

static Value sliceAlong(Value value, int64_t dim, int64_t low, int64_t high,
                        PatternRewriter &rewriter) {
  RankedTensorType type = typeOf(value);
  if (low == 0 && high == type.getDimSize(dim))
    return value;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = low, limits[dim] = high;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = high - low;
  return SliceOp::create(rewriter, value.getLoc(), type.clone(shape), value, starts, limits,
                         strides);
}

static Value asRow(const Replaced &replaced, PatternRewriter &rewriter) {
  SmallVector<int64_t> shape(typeOf(replaced.whole).getShape());
  shape[replaced.dim] = 1;
  return ReshapeOp::create(rewriter, replaced.part.getLoc(), typeOf(replaced.whole).clone(shape),
                           replaced.part);
}

// A concatenation of which a row is replaced has that row instead.
static LogicalResult replaceInConcatenation(ScatterOp op, PatternRewriter &rewriter) {
  auto replaced = findReplaced(op);
  auto joined = replaced ? replaced->whole.getDefiningOp<ConcatenateOp>() : ConcatenateOp();
  if (!joined || !joined->hasOneUse() || int64_t(joined.getDimension()) != replaced->dim)
    return failure();
  SmallVector<Value> parts;
  int64_t at = replaced->at, low = 0;
  for (Value operand : joined.getInputs()) {
    int64_t size = typeOf(operand).getDimSize(replaced->dim), high = low + size;
    if (at < low || at >= high) {
      parts.push_back(operand);
    } else {
      if (low < at)
        parts.push_back(sliceAlong(operand, replaced->dim, 0, at - low, rewriter));
      parts.push_back(asRow(*replaced, rewriter));
      if (at + 1 < high)
        parts.push_back(sliceAlong(operand, replaced->dim, at + 1 - low, size, rewriter));
    }
    low = high;
  }
  rewriter.replaceOpWithNewOp<ConcatenateOp>(op, typeOf(replaced->whole), parts,
                                             joined.getDimension());
  return success();
}

// Parts that are read of what has a row replaced are parts of the array, or of the row.
static LogicalResult sliceReplaced(ScatterOp op, PatternRewriter &rewriter) {
  auto replaced = findReplaced(op);
  if (!replaced || op->use_empty())
    return failure();
  int64_t dim = replaced->dim, at = replaced->at;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getStrides()[dim] != 1)
      return failure();
    int64_t low = slice.getStartIndices()[dim], high = slice.getLimitIndices()[dim];
    if (low <= at && at < high && high - low != 1)
      return failure();
  }
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto slice = cast<SliceOp>(user);
    rewriter.setInsertionPoint(slice);
    SmallVector<int64_t> starts(slice.getStartIndices()), limits(slice.getLimitIndices());
    bool isOfRow = starts[dim] <= at && at < limits[dim];
    Value from = isOfRow ? asRow(*replaced, rewriter) : replaced->whole;
    if (isOfRow)
      starts[dim] = 0, limits[dim] = 1;
    rewriter.replaceOpWithNewOp<SliceOp>(slice, typeOf(slice.getResult()), from, starts, limits,
                                         slice.getStrides());
  }
  rewriter.eraseOp(op);
  return success();
}

namespace {
struct SimplifyUpdates : impl::SimplifyUpdatesBase<SimplifyUpdates> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(selectPart);
    patterns.add(selectPlaces);
    patterns.add(replaceInConcatenation);
    patterns.add(sliceReplaced);
    GreedyRewriteConfig config;
    config.enableConstantCSE(false).enableFolding(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
