// Data movement that says in several ops what one can say, or nothing. Passes.td shows an example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/DimensionMaps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tessera {
#define GEN_PASS_DEF_SIMPLIFYSHAPES
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static SplatElementsAttr splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
}

// Beyond its canonical form: a view where nothing is repeated, and dimensions of size 1 that a
// reshape drops dropped by one reshape of the operand first.
static LogicalResult mergeBroadcast(BroadcastInDimOp op, PatternRewriter &rewriter) {
  RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op.getResult());
  ArrayRef<int64_t> dims = op.getBroadcastDimensions();
  if (from.getNumElements() == to.getNumElements() && llvm::is_sorted(dims)) {
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, op.getOperand());
    return success();
  }
  auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!reshape)
    return failure();
  RankedTensorType base = typeOf(reshape.getOperand());
  auto map = unitReshape(base.getShape(), from.getShape());
  if (!map)
    return failure();
  SmallVector<int64_t> kept, composed;
  for (auto [i, target] : llvm::enumerate(*map))
    if (target >= 0) {
      kept.push_back(base.getDimSize(i));
      composed.push_back(dims[target]);
    }
  if (llvm::equal(kept, from.getShape()))
    return failure(); // that reshape already
  Value operand =
      ReshapeOp::create(rewriter, op.getLoc(), RankedTensorType::get(kept, base.getElementType()),
                        reshape.getOperand());
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, to, operand, composed);
  return success();
}

// Positions that a program has as numbers, as where numpy counted them: of a mask made of them it is
// known then which keys a query sees.
static LogicalResult countPositions(ConstantOp op, PatternRewriter &rewriter) {
  constexpr int64_t many = 64;
  RankedTensorType type = typeOf(op.getResult());
  auto numbers = dyn_cast<DenseIntElementsAttr>(op.getValue());
  bool isOfPositions = type.getElementType().isInteger(32) || type.getElementType().isInteger(64);
  if (!numbers || numbers.isSplat() || !isOfPositions || type.getNumElements() < many)
    return failure();
  const auto *along = llvm::max_element(type.getShape());
  if (*along != type.getNumElements())
    return failure();
  for (auto [place, number] : llvm::enumerate(numbers))
    if (number != place)
      return failure();
  rewriter.replaceOpWithNewOp<IotaOp>(op, type, along - type.getShape().begin());
  return success();
}

// A reshape of one value repeated is that value repeated.
static LogicalResult reshapeSpread(ReshapeOp op, PatternRewriter &rewriter) {
  RankedTensorType to = typeOf(op.getResult());
  auto inner = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!inner || typeOf(inner.getOperand()).getNumElements() != 1)
    return failure();
  Value scalar = inner.getOperand();
  if (typeOf(scalar).getRank())
    scalar = ReshapeOp::create(rewriter, op.getLoc(),
                               RankedTensorType::get({}, to.getElementType()), scalar);
  rewriter.replaceOpWithNewOp<BroadcastInDimOp>(op, to, scalar, ArrayRef<int64_t>{});
  return success();
}

// Reshapes move behind pointwise ops, towards the broadcasts and views that take them up; the op
// then has the shape of the reduction or contraction before it and can be its epilogue. A slice of a
// stack has none: what is computed of it stays with its readers.
//   add(reshape a : 8 -> 8x1, splat)      reshape(add(a, splat)) : 8 -> 8x1
static LogicalResult sinkReshape(Operation *op, PatternRewriter &rewriter) {
  if (!isElementwise(op) || op->getNumResults() != 1)
    return failure();
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  RankedTensorType from;
  bool isEpilogue = false;
  for (Value operand : op->getOperands()) {
    if (typeOf(operand).getShape() != to.getShape())
      return failure();
    if (auto reshape = operand.getDefiningOp<ReshapeOp>()) {
      RankedTensorType source = typeOf(reshape.getOperand());
      if (from && from.getShape() != source.getShape())
        return failure();
      from = source;
      isEpilogue |= !reshape.getOperand().getDefiningOp<DynamicSliceOp>();
    } else if (!splatOf(operand)) {
      auto broadcast = operand.getDefiningOp<BroadcastInDimOp>();
      if (!broadcast || typeOf(broadcast.getOperand()).getRank() != 0)
        return failure();
    }
  }
  if (!isEpilogue)
    return failure();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto type = RankedTensorType::get(from.getShape(), typeOf(operand).getElementType());
    if (auto reshape = operand.getDefiningOp<ReshapeOp>())
      operands.push_back(reshape.getOperand());
    else if (SplatElementsAttr splat = splatOf(operand))
      operands.push_back(ConstantOp::create(rewriter, op->getLoc(), splat.resizeSplat(type)));
    else
      operands.push_back(BroadcastInDimOp::create(
          rewriter, op->getLoc(), type, operand.getDefiningOp<BroadcastInDimOp>().getOperand(),
          ArrayRef<int64_t>{}));
  }
  auto type = RankedTensorType::get(from.getShape(), to.getElementType());
  Value made = fuse::remade(rewriter, op->getLoc(), op, operands, type);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, made);
  return success();
}

namespace {
struct SinkReshape : RewritePattern {
  explicit SinkReshape(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    return sinkReshape(op, rewriter);
  }
};
} // namespace

// The transpose of a product is the product of the factors the other way round, wherever dimensions
// of size 1 go:
//   transpose(dot_general(a, b) : b m n, [0, 2, 1])      dot_general(b, a) : b n m
static LogicalResult swapFactors(TransposeOp op, PatternRewriter &rewriter) {
  auto dot = op.getOperand().getDefiningOp<DotGeneralOp>();
  if (!dot || !dot->hasOneUse())
    return failure();
  DotDimensionNumbersAttr dims = dot.getDotDimensionNumbers();
  int64_t batch = dims.getLhsBatchingDimensions().size();
  int64_t m = typeOf(dot.getLhs()).getRank() - batch - dims.getLhsContractingDimensions().size();
  int64_t n = typeOf(dot.getRhs()).getRank() - batch - dims.getRhsContractingDimensions().size();
  SmallVector<int64_t> swapped;
  for (int64_t i = 0; i < batch; ++i)
    swapped.push_back(i);
  for (int64_t i = 0; i < n; ++i)
    swapped.push_back(batch + m + i);
  for (int64_t i = 0; i < m; ++i)
    swapped.push_back(batch + i);
  RankedTensorType from = typeOf(dot.getResult());
  auto larger = [&](ArrayRef<int64_t> dims) {
    SmallVector<int64_t> kept(dims);
    llvm::erase_if(kept, [&](int64_t dim) { return from.getDimSize(dim) == 1; });
    return kept;
  };
  if (larger(op.getPermutation()) != larger(swapped))
    return failure();
  if (dot.getAlgorithmAttr())
    return failure(); // has types of its own for each side
  ArrayAttr precision = dot.getPrecisionConfigAttr();
  if (precision && precision.size() == 2)
    precision = rewriter.getArrayAttr({precision[1], precision[0]});
  auto made = DotDimensionNumbersAttr::get(
      rewriter.getContext(), dims.getRhsBatchingDimensions(), dims.getLhsBatchingDimensions(),
      dims.getRhsContractingDimensions(), dims.getLhsContractingDimensions());
  SmallVector<int64_t> shape;
  for (int64_t dim : swapped)
    shape.push_back(from.getDimSize(dim));
  Value product = DotGeneralOp::create(rewriter, dot.getLoc(), from.clone(shape), dot.getRhs(),
                                       dot.getLhs(), made, precision, nullptr);
  RankedTensorType to = typeOf(op.getResult());
  if (product.getType() != to)
    product = ReshapeOp::create(rewriter, op.getLoc(), to, product);
  rewriter.replaceOp(op, product);
  return success();
}

static bool isNeutral(Operation *combiner, DenseElementsAttr init) {
  if (auto type = dyn_cast<FloatType>(init.getElementType())) {
    APFloat value = init.getSplatValue<APFloat>();
    if (isa<AddOp>(combiner))
      return value.isZero();
    if (isa<MulOp>(combiner))
      return value.isExactlyValue(1.0);
    return value.isInfinity() && isa<MaxOp, MinOp>(combiner) &&
           value.isNegative() == isa<MaxOp>(combiner);
  }
  if (!init.getElementType().isSignlessInteger())
    return false;
  APInt value = init.getSplatValue<APInt>();
  return isa<AndOp>(combiner) ? value.isAllOnes() : isa<AddOp, OrOp>(combiner) && value.isZero();
}

// A reduction over dimensions of size 1 reduces nothing.
static LogicalResult dropReduce(ReduceOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1)
    return failure();
  RankedTensorType from = typeOf(op.getInputs().front());
  for (int64_t dim : op.getDimensions())
    if (from.getDimSize(dim) != 1)
      return failure();
  Block &body = op.getBody().front();
  SplatElementsAttr init = splatOf(op.getInitValues().front());
  if (!init || body.getOperations().size() != 2)
    return failure();
  Operation *combiner = &body.front();
  bool plain =
      combiner->getNumOperands() == 2 && combiner->getOperand(0) != combiner->getOperand(1) &&
      llvm::all_of(combiner->getOperands(), [](Value v) { return isa<BlockArgument>(v); }) &&
      body.getTerminator()->getOperand(0) == combiner->getResult(0);
  if (!plain || !isNeutral(combiner, init))
    return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), op.getInputs().front());
  return success();
}

// Both ways the same: localize makes such selects where a partial value starts from zero.
static LogicalResult dropSelect(SelectOp op, PatternRewriter &rewriter) {
  SplatElementsAttr a = splatOf(op.getOnTrue()), b = splatOf(op.getOnFalse());
  if (op.getOnTrue() != op.getOnFalse() && !(a && a == b))
    return failure();
  rewriter.replaceOp(op, op.getOnTrue());
  return success();
}

// The part of an interleaving of two that `pad` makes along dimension `dim`: 0 for even places, 1
// for odd ones, -1 for other paddings.
static int interleavedPart(PadOp pad, int64_t &dim) {
  ArrayRef<int64_t> low = pad.getEdgePaddingLow(), high = pad.getEdgePaddingHigh();
  SplatElementsAttr value = splatOf(pad.getPaddingValue());
  if (!value || !isa<FloatType>(value.getElementType()) || !value.getSplatValue<APFloat>().isZero())
    return -1;
  dim = -1;
  for (auto [d, interior] : llvm::enumerate(pad.getInteriorPadding())) {
    if (!interior && !low[d] && !high[d])
      continue;
    if (dim >= 0 || interior != 1 || low[d] + high[d] != 1 || low[d] * high[d] != 0)
      return -1;
    dim = d;
  }
  return dim < 0 ? -1 : static_cast<int>(low[dim]);
}

// Two arrays side by side, as the gradient of taking every other element makes them:
//   add(pad(a, interior 1, high 1), pad(b, interior 1, low 1)) : n -> 2n
// becomes
//   reshape(concatenate(reshape a : n x 1, reshape b : n x 1) : n x 2)
static LogicalResult interleave(AddOp op, PatternRewriter &rewriter) {
  auto a = op.getLhs().getDefiningOp<PadOp>(), b = op.getRhs().getDefiningOp<PadOp>();
  int64_t dim = -1, other = -1;
  if (!a || !b)
    return failure();
  int partA = interleavedPart(a, dim), partB = interleavedPart(b, other);
  if (partA < 0 || partB < 0 || partA == partB || dim != other)
    return failure();
  if (partA == 1)
    std::swap(a, b);
  RankedTensorType from = typeOf(a.getOperand()), to = typeOf(op.getResult());
  SmallVector<int64_t> shape(from.getShape());
  shape.insert(shape.begin() + dim + 1, 1);
  auto thin = RankedTensorType::get(shape, from.getElementType());
  shape[dim + 1] = 2;
  auto pair = RankedTensorType::get(shape, from.getElementType());
  Location loc = op.getLoc();
  Value parts[] = {ReshapeOp::create(rewriter, loc, thin, a.getOperand()),
                   ReshapeOp::create(rewriter, loc, thin, b.getOperand())};
  Value both = ConcatenateOp::create(rewriter, loc, pair, ValueRange(parts), dim + 1);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, both);
  return success();
}

static LogicalResult dropOne(MulOp op, PatternRewriter &rewriter) {
  for (auto [one, other] :
       {std::pair<Value, Value>(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    SplatElementsAttr splat = splatOf(one);
    if (!splat || !isa<FloatType>(splat.getElementType()) ||
        !splat.getSplatValue<APFloat>().isExactlyValue(1.0))
      continue;
    rewriter.replaceOp(op, other);
    return success();
  }
  return failure();
}

// Of a transposed array of which only parts are read, as a loop over layers reads their weights, the
// parts are taken first. Where those lie in whole lines and in the same order, it is never there:
//   dynamic_slice(transpose(x : 16 x 4 x 256, [1, 0, 2]), i, 0, 0 : 1 x 16 x 256)
// becomes
//   reshape(dynamic_slice(x, 0, i, 0 : 16 x 1 x 256))
static LogicalResult sliceUntransposed(DynamicSliceOp op, PatternRewriter &rewriter) {
  constexpr int64_t line = 64; // bytes
  auto transpose = op.getOperand().getDefiningOp<TransposeOp>();
  if (!transpose || !llvm::all_of(transpose->getUsers(), llvm::IsaPred<DynamicSliceOp>))
    return failure();
  RankedTensorType from = typeOf(transpose.getOperand()), to = typeOf(op.getResult());
  SmallVector<Value> starts(from.getRank());
  SmallVector<int64_t> sizes(from.getRank()), kept;
  for (auto [i, d] : llvm::enumerate(transpose.getPermutation())) {
    starts[d] = op.getStartIndices()[i];
    sizes[d] = op.getSliceSizes()[i];
    if (sizes[d] != 1)
      kept.push_back(d);
  }
  int64_t run = 1, d = from.getRank();
  while (d-- > 0) {
    run *= sizes[d];
    if (sizes[d] != from.getDimSize(d))
      break;
  }
  if (!llvm::is_sorted(kept) || byteSize(from.clone({run})) < line)
    return failure();
  Value part = DynamicSliceOp::create(rewriter, op.getLoc(), from.clone(sizes),
                                      transpose.getOperand(), starts, sizes);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, to, part);
  return success();
}

static LogicalResult dropBarrier(OptimizationBarrierOp op, PatternRewriter &rewriter) {
  rewriter.replaceOp(op, op.getOperands());
  return success();
}

namespace {
struct SimplifyShapes : impl::SimplifyShapesBase<SimplifyShapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(countPositions);
    patterns.add(mergeBroadcast);
    patterns.add(reshapeSpread);
    BroadcastInDimOp::getCanonicalizationPatterns(patterns, &getContext());
    ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    patterns.add(dropBarrier);
    patterns.add(dropOne);
    patterns.add(interleave);
    patterns.add(dropReduce);
    patterns.add(dropSelect);
    patterns.add(sliceUntransposed);
    patterns.add(swapFactors);
    patterns.add<SinkReshape>(&getContext());
    GreedyRewriteConfig config;
    config.enableConstantCSE(false).setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
