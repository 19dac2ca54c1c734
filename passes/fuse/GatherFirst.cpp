// Single elements that are gathered of what is computed element by element are computed after they
// are gathered: the loss of a label reads its logit and what belongs to the row. Passes.td shows an
// example.
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/GatheredElements.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/Rewriting.h"

#include "mlir/IR/Builders.h"

namespace tessera {
#define GEN_PASS_DEF_GATHERFIRST
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

std::optional<fuse::GatheredElements> fuse::gatheredElements(GatherOp gather) {
  GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
  RankedTensorType from = typeOf(gather.getOperand());
  ArrayRef<int64_t> batch = dims.getOperandBatchingDims(), taken = dims.getCollapsedSliceDims();
  if (!dims.getOffsetDims().empty() || taken != dims.getStartIndexMap() ||
      static_cast<int64_t>(batch.size() + taken.size()) != from.getRank())
    return std::nullopt;
  GatheredElements elements{{taken.begin(), taken.end()}, SmallVector<int64_t>(from.getRank(), -1)};
  for (auto [dim, at] : llvm::zip(batch, dims.getStartIndicesBatchingDims()))
    elements.resultDims[dim] = at - (dims.getIndexVectorDim() < at);
  return elements;
}

namespace {

// Computes elements after they are gathered, without the result's dimensions of one element that are
// none of the operand's.
class ElementMaker {
public:
  ElementMaker(GatherOp gather, fuse::GatheredElements elements)
      : gather(gather), elements(std::move(elements)), b(gather) {}

  // Whether what the gather takes elements of is computed of no more than a few arrays, element by
  // element.
  bool isWorthIt() {
    constexpr size_t mostOps = 16, mostLeaves = 2;
    count(gather.getOperand());
    return !ops.empty() && ops.size() <= mostOps && leaves.size() <= mostLeaves;
  }
  Value run() {
    squeeze();
    return reshaped(make(gather.getOperand()), typeOf(gather.getResult()));
  }

private:
  // What a broadcast repeats for all elements that a position is taken of.
  bool isOfBatch(BroadcastInDimOp broadcast) {
    return llvm::all_of(llvm::enumerate(broadcast.getBroadcastDimensions()), [&](auto dim) {
      return elements.resultDims[dim.value()] >= 0 ||
             shapeOf(broadcast.getOperand())[dim.index()] == 1;
    });
  }
  static bool isSplat(Operation *def) {
    auto constant = dyn_cast<ConstantOp>(def);
    return constant && isa<SplatElementsAttr>(constant.getValue());
  }
  bool isFree(Operation *def) {
    auto broadcast = dyn_cast<BroadcastInDimOp>(def);
    return isSplat(def) || (broadcast && isOfBatch(broadcast));
  }
  bool isComputed(Operation *def) {
    return isElementwise(def) && def->getNumResults() == 1 && def->getNumRegions() == 0 &&
           isMemoryEffectFree(def) && def->getNumOperands() > 0 &&
           llvm::all_of(def->getOperands(), [&](Value operand) {
             return shapeOf(operand) == shapeOf(gather.getOperand());
           });
  }

  void count(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || !(isFree(def) || isComputed(def))) {
      leaves.insert(value);
    } else if (!isFree(def) && ops.insert(def)) {
      llvm::for_each(def->getOperands(), [&](Value operand) { count(operand); });
    }
  }

  Value reshaped(Value value, RankedTensorType type) {
    return value.getType() == type ? value
                                   : ReshapeOp::create(b, gather.getLoc(), type, value).getResult();
  }

  // Leaves out the positions' dimensions of one element.
  void squeeze() {
    GatherDimensionNumbersAttr dims = gather.getDimensionNumbers();
    RankedTensorType all = typeOf(gather.getStartIndices());
    SmallVector<int64_t> batch(dims.getStartIndicesBatchingDims());
    int64_t vector = dims.getIndexVectorDim();
    SmallVector<int64_t> shape, places(all.getRank() + 1, -1); // of each dimension that stays
    for (int64_t dim = 0; dim < all.getRank(); ++dim) {
      if (dim != vector && all.getDimSize(dim) == 1 && !llvm::is_contained(batch, dim))
        continue;
      places[dim] = static_cast<int64_t>(shape.size());
      shape.push_back(all.getDimSize(dim));
      if (dim != vector)
        shapeOfResult.push_back(all.getDimSize(dim));
    }
    places[all.getRank()] = static_cast<int64_t>(shape.size());
    for (int64_t &dim : batch)
      dim = places[dim];
    positions = reshaped(gather.getStartIndices(), all.clone(shape));
    numbers = GatherDimensionNumbersAttr::get(
        b.getContext(), dims.getOffsetDims(), dims.getCollapsedSliceDims(),
        dims.getOperandBatchingDims(), batch, dims.getStartIndexMap(), places[vector]);
    for (auto [dim, at] : llvm::zip(dims.getOperandBatchingDims(), batch))
      elements.resultDims[dim] = at - (places[vector] < at);
  }

  Value make(Value value) {
    if (Value made = all.lookup(value))
      return made;
    Value made = makeNew(value);
    all[value] = made;
    return made;
  }

  Value makeNew(Value value) {
    RankedTensorType to = typeOf(value).clone(shapeOfResult);
    if (leaves.contains(value))
      return GatherOp::create(b, gather.getLoc(), to, value, positions, numbers,
                              gather.getSliceSizesAttr(), gather.getIndicesAreSortedAttr());
    Operation *def = value.getDefiningOp();
    if (isSplat(def))
      return ConstantOp::create(
          b, def->getLoc(),
          cast<SplatElementsAttr>(cast<ConstantOp>(def).getValue()).resizeSplat(to));
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(def))
      return repeat(broadcast, to);
    SmallVector<Value> operands;
    for (Value operand : def->getOperands())
      operands.push_back(make(operand));
    return fuse::remade(b, def->getLoc(), def, operands, to);
  }

  // Without the operand's dimensions of one element along those that positions are taken of.
  Value repeat(BroadcastInDimOp broadcast, RankedTensorType to) {
    Value operand = broadcast.getOperand();
    SmallVector<int64_t> shape, dims;
    for (auto [dim, size] : llvm::zip(broadcast.getBroadcastDimensions(), shapeOf(operand)))
      if (elements.resultDims[dim] >= 0) {
        shape.push_back(size);
        dims.push_back(elements.resultDims[dim]);
      }
    return BroadcastInDimOp::create(b, broadcast.getLoc(), to,
                                    reshaped(operand, typeOf(operand).clone(shape)), dims);
  }

  GatherOp gather;
  fuse::GatheredElements elements;
  OpBuilder b;
  Value positions; // without dimensions of one element
  GatherDimensionNumbersAttr numbers;
  SmallVector<int64_t> shapeOfResult;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> leaves;
  DenseMap<Value, Value> all;
};

} // namespace

static void gatherFirst(GatherOp gather) {
  constexpr int64_t leastShare = 16; // of the elements that there are, one at most is taken
  Operation *def = gather.getOperand().getDefiningOp();
  std::optional<fuse::GatheredElements> elements = fuse::gatheredElements(gather);
  if (!def || !elements ||
      typeOf(gather.getOperand()).getNumElements() <
          leastShare * typeOf(gather.getResult()).getNumElements())
    return;
  ElementMaker maker(gather, *std::move(elements));
  if (!maker.isWorthIt())
    return;
  gather.getResult().replaceAllUsesWith(maker.run());
  gather->erase();
  eraseUnread(def);
}

namespace {
struct GatherFirst : impl::GatherFirstBase<GatherFirst> {
  void runOnOperation() override {
    SmallVector<GatherOp> all;
    getOperation().walk([&](GatherOp gather) { all.push_back(gather); });
    llvm::for_each(all, gatherFirst);
  }
};
} // namespace
} // namespace tessera
