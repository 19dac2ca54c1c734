// Writes operations that say the same as a more general one in that one's words.
// Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/KeepSharding.h"
#include "dialects/sdy/SdyAttrs.h"
#include "dialects/stablehlo/Computations.h"
#include "dialects/stablehlo/Converted.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/Sums.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/stablehlo/Einsum.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_NORMALIZEOPERATIONS
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

Value fromDot(OpBuilder &b, stablehlo::DotOp op) {
  auto dims = stablehlo::DotDimensionNumbersAttr::get(op.getContext(), {}, {},
                                                      {op.getLhs().getType().getRank() - 1}, {0});
  return stablehlo::DotGeneralOp::create(b, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(),
                                         dims, op.getPrecisionConfigAttr(),
                                         stablehlo::DotAlgorithmAttr());
}

Value fromCrossReplicaSum(OpBuilder &b, stablehlo::CrossReplicaSumOp op) {
  Location loc = op.getLoc();
  auto sum = stablehlo::AllReduceOp::create(b, loc, op->getResultTypes(), op->getOperands(),
                                            op.getReplicaGroupsAttr(), {}, {});
  stablehlo::fillWithSum(b, loc, sum.getComputation(),
                         cast<RankedTensorType>(op.getType()).getElementType());
  return sum->getResult(0);
}

Value fromBroadcast(OpBuilder &b, stablehlo::BroadcastOp op) {
  int64_t rank = op.getOperand().getType().getRank(), added = op.getBroadcastSizes().size();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(added, added + rank));
  return stablehlo::BroadcastInDimOp::create(b, op.getLoc(), op.getType(), op.getOperand(), dims);
}

// The computation with tensors in place of scalars; null when it holds more than elementwise
// operations.
Value fromMap(OpBuilder &b, stablehlo::MapOp op) {
  Block &body = op.getComputation().front();
  if (!stablehlo::isElementwise(body) || !op.getType().hasStaticShape())
    return {};
  Value result = stablehlo::appliedToArrays(b, body, op.getInputs()).front();
  return result.getType() == op.getType() ? result : Value();
}

// Dimensions before `batch_dims` go with the index's, each with its own indices.
Value fromIndexSelect(OpBuilder &b, stablehlo::TorchIndexSelectOp op) {
  if (!op.getOperand().getType().hasStaticShape())
    return {};
  int64_t dim = op.getDim(), batches = op.getBatchDims(),
          rank = op.getOperand().getType().getRank(), indexRank = op.getIndex().getType().getRank();
  if (dim < 0 || dim >= rank || batches < 0 || batches > dim || batches > indexRank) {
    op.emitError() << "selects along dimension " << dim << " with " << batches
                   << " batch dimensions, from an operand of " << rank << " and by an index of "
                   << indexRank << " dimensions";
    return {};
  }
  SmallVector<int64_t> sizes(op.getOperand().getType().getShape()), offset, batching;
  for (int64_t d = 0; d < batches; ++d) {
    sizes[d] = 1;
    batching.push_back(d);
  }
  sizes[dim] = 1;
  // The result: batches, the operand's dimensions up to `dim`, the index's others, the rest. A
  // gather has all of the index's dimensions in the places that are not `offset`.
  for (int64_t d = batches; d < op.getType().getRank(); ++d)
    if (d < dim || d >= dim + indexRank - batches)
      offset.push_back(d);
  auto dims = stablehlo::GatherDimensionNumbersAttr::get(op.getContext(), offset, {dim}, batching,
                                                         batching, {dim}, indexRank);
  return stablehlo::GatherOp::create(b, op.getLoc(), op.getType(), op.getOperand(), op.getIndex(),
                                     dims, sizes);
}

// The integers of a constant vector.
std::optional<SmallVector<int64_t>> constants(Value value) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &number : elements.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

// A slice of known size that begins where data says: the rows from the first to the last that is
// taken, and of those every `steps`-th. A slice as long as its dimension begins at 0.
Value fromMovingSlice(OpBuilder &b, stablehlo::RealDynamicSliceOp op, ArrayRef<int64_t> steps) {
  Location loc = op.getLoc();
  RankedTensorType from = op.getOperand().getType(), to = op.getType();
  Value start = op.getStartIndices();
  auto index = dyn_cast<IntegerType>(cast<RankedTensorType>(start.getType()).getElementType());
  if (!index || !from.hasStaticShape() || !to.hasStaticShape())
    return {};
  if (index.getWidth() < 32) {
    index = b.getI64Type();
    start =
        stablehlo::ConvertOp::create(b, loc, RankedTensorType::get({to.getRank()}, index), start);
  }
  auto scalar = RankedTensorType::get({}, index);
  SmallVector<int64_t> window, zeros(to.getRank(), 0);
  SmallVector<Value> starts;
  for (auto [d, size] : llvm::enumerate(to.getShape())) {
    window.push_back(size ? (size - 1) * steps[d] + 1 : 0);
    if (window[d] > from.getDimSize(d))
      return {}; // no such slice
    if (window[d] == from.getDimSize(d)) {
      starts.push_back(stablehlo::ConstantOp::create(
          b, loc, DenseElementsAttr::get(scalar, b.getIntegerAttr(index, 0))));
      continue;
    }
    int64_t at = d;
    Value one = stablehlo::SliceOp::create(b, loc, start, ArrayRef<int64_t>{at},
                                           ArrayRef<int64_t>{at + 1}, ArrayRef<int64_t>{1});
    starts.push_back(stablehlo::ReshapeOp::create(b, loc, scalar, one));
  }
  Value rows = stablehlo::DynamicSliceOp::create(b, loc, from.clone(window), op.getOperand(),
                                                 starts, window);
  return rows.getType() == to
             ? rows
             : Value(stablehlo::SliceOp::create(b, loc, to, rows, zeros, window, steps));
}

Value fromDynamicSlice(OpBuilder &b, stablehlo::RealDynamicSliceOp op) {
  auto start = constants(op.getStartIndices()), limit = constants(op.getLimitIndices()),
       step = constants(op.getStrides());
  if (!step)
    return {};
  if (!start || !limit)
    return fromMovingSlice(b, op, *step);
  return stablehlo::SliceOp::create(b, op.getLoc(), op.getType(), op.getOperand(), *start, *limit,
                                    *step);
}

Value fromDynamicPad(OpBuilder &b, stablehlo::DynamicPadOp op) {
  auto low = constants(op.getEdgePaddingLow()), high = constants(op.getEdgePaddingHigh());
  auto interior = constants(op.getInteriorPadding());
  if (!low || !high || !interior)
    return {};
  return stablehlo::PadOp::create(b, op.getLoc(), op.getType(), op.getOperand(),
                                  op.getPaddingValue(), *low, *high, *interior);
}

// The sizes that a gather's result has: 1 along dimensions that are dropped.
std::optional<SmallVector<int64_t>> gatheredSizes(stablehlo::DynamicGatherOp op) {
  auto dims = op.getDimensionNumbers();
  if (!op.getType().hasStaticShape())
    return std::nullopt;
  SmallVector<int64_t> sizes;
  ArrayRef<int64_t> kept = dims.getOffsetDims();
  for (int64_t d = 0, rank = op.getOperand().getType().getRank(); d < rank; ++d) {
    bool isDropped = llvm::is_contained(dims.getCollapsedSliceDims(), d) ||
                     llvm::is_contained(dims.getOperandBatchingDims(), d);
    sizes.push_back(isDropped ? 1 : op.getType().getDimSize(kept.front()));
    kept = kept.drop_front(!isDropped);
  }
  return sizes;
}

Value fromDynamicGather(OpBuilder &b, stablehlo::DynamicGatherOp op) {
  auto sizes = constants(op.getSliceSizes());
  if (!sizes)
    sizes = gatheredSizes(op);
  if (!sizes)
    return {};
  return stablehlo::GatherOp::create(b, op.getLoc(), op.getType(), op.getOperand(),
                                     op.getStartIndices(), op.getDimensionNumbers(), *sizes,
                                     op.getIndicesAreSorted());
}

Value fromDynamicConv(OpBuilder &b, stablehlo::DynamicConvOp op) {
  auto padding = constants(op.getPadding());
  if (!padding || padding->size() % 2)
    return {};
  int64_t spatial = padding->size() / 2;
  auto type = RankedTensorType::get({spatial, 2}, b.getI64Type());
  return stablehlo::ConvolutionOp::create(
      b, op.getLoc(), op.getType(), op.getLhs(), op.getRhs(), op.getWindowStridesAttr(),
      DenseIntElementsAttr::get(type, ArrayRef<int64_t>(*padding)), op.getLhsDilationAttr(),
      op.getRhsDilationAttr(), op.getWindowReversalAttr(), op.getDimensionNumbersAttr(),
      op.getFeatureGroupCountAttr(), op.getBatchGroupCountAttr(), op.getPrecisionConfigAttr());
}

// A filter that is reversed for its convolution alone, as the gradient of the images is written, is
// read backwards. One that the program gave a sharding of its own stays.
void reverseInWindow(stablehlo::ConvolutionOp op) {
  auto reverse = op.getRhs().getDefiningOp<stablehlo::ReverseOp>();
  ArrayRef<int64_t> spatial = op.getDimensionNumbers().getKernelSpatialDimensions();
  if (!reverse || !reverse->hasOneUse() || reverse->hasAttr(sdy::kShardingAttr) ||
      !llvm::all_of(reverse.getDimensions(),
                    [&](int64_t dim) { return llvm::is_contained(spatial, dim); }))
    return;
  SmallVector<bool> reversal(spatial.size(), false);
  if (auto given = op.getWindowReversal(); given && !given->empty())
    llvm::copy(*given, reversal.begin());
  for (auto [i, dim] : llvm::enumerate(spatial))
    reversal[i] = reversal[i] != llvm::is_contained(reverse.getDimensions(), dim);
  op.setWindowReversalAttr(DenseBoolArrayAttr::get(op.getContext(), reversal));
  op.getRhsMutable().assign(reverse.getOperand());
}

// The size that the dimension has already.
Value fromSetSize(stablehlo::SetDimensionSizeOp op) {
  auto size = constants(op.getSize());
  auto type = op.getOperand().getType();
  bool same = size && type.hasStaticShape() && type == op.getType() &&
              size->front() == type.getDimSize(op.getDimension());
  return same ? op.getOperand() : Value();
}

// Updates are added to a wider operand than the program has: all in the result's type.
void widenScattered(stablehlo::ScatterOp op) {
  OpBuilder b(op);
  size_t count = op->getNumResults();
  for (auto [i, result] : llvm::enumerate(op->getResultTypes()))
    for (size_t operand : {i, count + 1 + i}) {
      Value value = op->getOperand(operand);
      auto from = cast<RankedTensorType>(value.getType());
      Type to = cast<RankedTensorType>(result).getElementType();
      if (from.getElementType() != to)
        op->setOperand(operand,
                       stablehlo::ConvertOp::create(b, op.getLoc(), from.clone(to), value));
    }
}

// What is reduced in a wider type than its own has that type from the start.
void widenReduced(Operation *op) {
  OpBuilder b(op);
  size_t count = op->getNumResults();
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    Type to = cast<RankedTensorType>(op->getResult(i % count).getType()).getElementType();
    operand.set(stablehlo::converted(b, op->getLoc(), operand.get(), to));
  }
}

// Real factors of a complex product are complex numbers too.
void widenFactors(Operation *product) {
  auto to = dyn_cast<ComplexType>(
      cast<RankedTensorType>(product->getResult(0).getType()).getElementType());
  if (!to)
    return;
  OpBuilder b(product);
  for (OpOperand &factor : product->getOpOperands().take_front(2)) {
    auto from = cast<RankedTensorType>(factor.get().getType());
    if (!isa<ComplexType>(from.getElementType()))
      factor.set(stablehlo::ConvertOp::create(b, product->getLoc(), from.clone(to), factor.get()));
  }
}

// As scatter; its comparison goes on in the operand's type, whose numbers the wider one has all.
void widenSelected(stablehlo::SelectAndScatterOp op) {
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  if (from.getElementType() == to.getElementType())
    return;
  OpBuilder b(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    operand.set(stablehlo::ConvertOp::create(b, op.getLoc(), type.clone(to.getElementType()),
                                             operand.get()));
  }
  Block &select = op.getSelect().front();
  b.setInsertionPointToStart(&select);
  for (BlockArgument argument : select.getArguments()) {
    Type narrow = argument.getType();
    argument.setType(RankedTensorType::get({}, to.getElementType()));
    auto back = stablehlo::ConvertOp::create(b, op.getLoc(), narrow, argument);
    argument.replaceAllUsesExcept(back, back);
  }
}

// Places in arrays, which are counted in what the program has for it: up to the largest size that
// need not be enough, and arithmetic on places is done in their type.
void widenIndices(Operation *op) {
  unsigned first = isa<stablehlo::DynamicUpdateSliceOp>(op) ? 2 : 1;
  unsigned count = op->getNumOperands();
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op)) {
    first = scatter->getNumResults();
    count = first + 1;
  } else if (isa<stablehlo::GatherOp>(op)) {
    count = 2;
  }
  OpBuilder b(op);
  for (unsigned i = first; i < count; ++i) {
    Value value = op->getOperand(i);
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getElementType().isInteger() && type.getElementTypeBitWidth() < 32)
      op->setOperand(
          i, stablehlo::ConvertOp::create(b, op->getLoc(), type.clone(b.getI32Type()), value));
  }
}

// Factorisations and solves of narrow floating-point numbers compute in f32 and round once.
Value inSingle(OpBuilder &b, Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || element.getWidth() >= 32)
    return {};
  Operation *wide = op->clone();
  b.insert(wide);
  b.setInsertionPoint(wide);
  for (OpOperand &operand : wide->getOpOperands()) {
    auto from = cast<RankedTensorType>(operand.get().getType());
    operand.set(
        stablehlo::ConvertOp::create(b, op->getLoc(), from.clone(b.getF32Type()), operand.get()));
  }
  wide->getResult(0).setType(type.clone(b.getF32Type()));
  b.setInsertionPointAfter(wide);
  return stablehlo::ConvertOp::create(b, op->getLoc(), type, wide->getResult(0));
}

// What says the same, or null.
Value normalized(Operation *op) {
  OpBuilder b(op);
  bool known = op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()) &&
               cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
  if (!known)
    return {};
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](stablehlo::DotOp op) { return fromDot(b, op); })
      .Case<stablehlo::CholeskyOp, stablehlo::TriangularSolveOp>(
          [&](auto op) { return inSingle(b, op); })
      .Case([&](stablehlo::EinsumOp op) {
        return import::fromEinsum(b, op, {op.getLhs(), op.getRhs()}, op.getEinsumConfig());
      })
      .Case([&](stablehlo::UnaryEinsumOp op) {
        return import::fromEinsum(b, op, op.getOperand(), op.getEinsumConfig());
      })
      .Case([&](stablehlo::DynamicConvOp op) { return fromDynamicConv(b, op); })
      .Case([&](stablehlo::SetDimensionSizeOp op) { return fromSetSize(op); })
      .Case([&](stablehlo::BroadcastOp op) { return fromBroadcast(b, op); })
      .Case([&](stablehlo::CrossReplicaSumOp op) { return fromCrossReplicaSum(b, op); })
      .Case([&](stablehlo::MapOp op) { return fromMap(b, op); })
      .Case([&](stablehlo::TorchIndexSelectOp op) { return fromIndexSelect(b, op); })
      .Case([&](stablehlo::DynamicReshapeOp op) {
        return stablehlo::ReshapeOp::create(b, op.getLoc(), op.getType(), op.getOperand());
      })
      .Case([&](stablehlo::DynamicBroadcastInDimOp op) {
        return stablehlo::BroadcastInDimOp::create(b, op.getLoc(), op.getType(), op.getOperand(),
                                                   op.getBroadcastDimensions());
      })
      .Case([&](stablehlo::DynamicIotaOp op) {
        return stablehlo::IotaOp::create(b, op.getLoc(), op.getType(), op.getIotaDimension());
      })
      .Case([&](stablehlo::RealDynamicSliceOp op) { return fromDynamicSlice(b, op); })
      .Case([&](stablehlo::DynamicPadOp op) { return fromDynamicPad(b, op); })
      .Case([&](stablehlo::DynamicGatherOp op) { return fromDynamicGather(b, op); })
      .Default([](Operation *) { return Value(); });
}

struct NormalizeOperationsPass : impl::NormalizeOperationsBase<NormalizeOperationsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
        widenScattered(scatter);
      if (auto scatter = dyn_cast<stablehlo::SelectAndScatterOp>(op))
        widenSelected(scatter);
      if (isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::AllReduceOp,
              stablehlo::ReduceScatterOp>(op))
        widenReduced(op);
      if (isa<stablehlo::DotOp, stablehlo::DotGeneralOp, stablehlo::ConvolutionOp,
              stablehlo::DynamicConvOp>(op))
        widenFactors(op);
      if (isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp,
              stablehlo::ScatterOp>(op))
        widenIndices(op);
      if (isa<stablehlo::EinsumOp, stablehlo::UnaryEinsumOp, stablehlo::DynamicConvOp,
              stablehlo::SetDimensionSizeOp, stablehlo::DotOp, stablehlo::CholeskyOp,
              stablehlo::TriangularSolveOp, stablehlo::BroadcastOp, stablehlo::MapOp,
              stablehlo::CrossReplicaSumOp, stablehlo::TorchIndexSelectOp,
              stablehlo::DynamicReshapeOp, stablehlo::DynamicBroadcastInDimOp,
              stablehlo::DynamicIotaOp, stablehlo::RealDynamicSliceOp, stablehlo::DynamicPadOp,
              stablehlo::DynamicGatherOp>(op))
        ops.push_back(op);
    });
    // What was a value in the program is an attribute now, which a verifier sees.
    auto isSound = [](Operation *op, Value value) {
      Operation *def = value.getDefiningOp();
      if (value.getType() == op->getResult(0).getType())
        return !def || succeeded(verify(def));
      op->emitError() << "has type " << op->getResult(0).getType() << " where its operands make it "
                      << value.getType();
      return false;
    };
    getOperation().walk([](stablehlo::ConvolutionOp op) {
      Operation *filter = op.getRhs().getDefiningOp();
      reverseInWindow(op);
      if (filter && filter->use_empty())
        filter->erase();
    });
    for (Operation *op : ops)
      if (Value value = normalized(op)) {
        if (!isSound(op, value))
          return signalPassFailure();
        sdy::keepSharding(op->getResults(), value);
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      }
  }
};

} // namespace
} // namespace tessera
