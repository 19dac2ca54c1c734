// Data movement: which element of which operand an element of the result is.
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

// a where `predicate`, else b.
static Element choose(Graph &graph, Node *predicate, Element a, Element b) {
  if (!a || !b)
    return {};
  return {graph.select(predicate, a.re, b.re),
          a.im ? graph.select(predicate, a.im, b.im) : nullptr};
}

static bool isFalse(Node *predicate) {
  return predicate && predicate->op == Op::Constant && !predicate->bits;
}

Element GraphBuilder::movement(mlir::Operation *op, IndexRange index, Node *mask, bool &known) {
  if (auto broadcast = mlir::dyn_cast<BroadcastInDimOp>(op)) {
    Indices from;
    for (auto [d, size] : llvm::zip(broadcast.getBroadcastDimensions(), shapeOf(op->getOperand(0))))
      from.push_back(size == 1 ? graph.constant(0) : index[d]);
    return at(op->getOperand(0), from, mask);
  }
  if (mlir::isa<ReshapeOp>(op)) {
    auto inner = shapeOf(op->getOperand(0)), outer = shapeOf(op->getResult(0));
    // Sizes of 1 aside, equal shapes need no arithmetic.
    auto squeeze = [](llvm::ArrayRef<int64_t> shape) {
      return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t n) { return n != 1; }));
    };
    if (squeeze(inner) == squeeze(outer)) {
      Indices from;
      size_t i = 0;
      for (int64_t size : inner) {
        while (size != 1 && outer[i] == 1)
          ++i;
        from.push_back(size == 1 ? graph.constant(0) : index[i++]);
      }
      return at(op->getOperand(0), from, mask);
    }
    return at(op->getOperand(0), graph.delinearise(graph.linearise(index, outer), inner), mask);
  }
  if (auto transpose = mlir::dyn_cast<TransposeOp>(op)) {
    Indices from(index.size());
    for (auto [i, d] : llvm::enumerate(transpose.getPermutation()))
      from[d] = index[i];
    return at(op->getOperand(0), from, mask);
  }
  if (auto slice = mlir::dyn_cast<SliceOp>(op)) {
    Indices from;
    for (auto [i, start, stride] : llvm::zip(index, slice.getStartIndices(), slice.getStrides()))
      from.push_back(graph.addConstant(graph.multiply(i, stride), start));
    return at(op->getOperand(0), from, mask);
  }
  if (auto reverse = mlir::dyn_cast<ReverseOp>(op)) {
    Indices from(index);
    for (int64_t d : reverse.getDimensions())
      from[d] = graph.addConstant(graph.multiply(index[d], -1), shapeOf(op->getOperand(0))[d] - 1);
    return at(op->getOperand(0), from, mask);
  }
  if (auto iota = mlir::dyn_cast<IotaOp>(op)) {
    ElementType type = *elementType(op->getResult(0).getType());
    Element element{graph.iota(type.kind, index[iota.getIotaDimension()])};
    if (type.complex)
      element.im = graph.floatConstant(type.kind, 0);
    return element;
  }
  if (auto slice = mlir::dyn_cast<DynamicSliceOp>(op)) {
    Indices from;
    for (auto [d, i] : llvm::enumerate(index)) {
      Index start = clampedStart(op->getOperand(d + 1), {}, mask,
                                 shapeOf(op->getOperand(0))[d] - slice.getSliceSizes()[d]);
      if (!start)
        return {};
      from.push_back(graph.add(start, i));
    }
    return at(op->getOperand(0), from, mask);
  }
  if (mlir::isa<OptimizationBarrierOp>(op))
    return {}; // never inside a kernel: fuse puts a boundary there
  if (mlir::isa<PadOp>(op))
    return pad(op, index, mask);
  if (mlir::isa<ConcatenateOp>(op))
    return concatenate(op, index, mask);
  if (mlir::isa<GatherOp>(op))
    return gather(op, index, mask);
  if (mlir::isa<DynamicUpdateSliceOp>(op))
    return dynamicUpdateSlice(op, index, mask);
  if (mlir::isa<BitcastConvertOp>(op))
    return bitcast(op, index, mask);
  if (mlir::isa<ConstantOp>(op))
    return constant(op, index);
  known = false;
  return {};
}

Element GraphBuilder::pad(mlir::Operation *op, IndexRange index, Node *mask) {
  auto pad = mlir::cast<PadOp>(op);
  auto shape = shapeOf(op->getOperand(0));
  Indices from;
  Node *inside = nullptr;
  for (auto [d, i] : llvm::enumerate(index)) {
    Index at = graph.addConstant(i, -pad.getEdgePaddingLow()[d]);
    int64_t step = shape[d] > 1 ? pad.getInteriorPadding()[d] + 1 : 1;
    inside = graph.logicalAnd(inside, graph.inRange(at, 0, (shape[d] - 1) * step + 1));
    if (isFalse(inside))
      break;
    auto [quotient, rest] = graph.divide(at, step);
    if (step > 1 && rest != graph.constant(0))
      inside = graph.logicalAnd(inside, graph.compare(EQ, graph.iota(ElementKind::I64, rest),
                                                      graph.constant(ElementKind::I64, 0)));
    from.push_back(quotient);
  }
  if (isFalse(inside) || llvm::is_contained(shape, 0))
    return at(op->getOperand(1), {}, mask);
  return choose(graph, inside, at(op->getOperand(0), from, graph.logicalAnd(mask, inside)),
                at(op->getOperand(1), {}, mask));
}

Element GraphBuilder::concatenate(mlir::Operation *op, IndexRange index, Node *mask) {
  int64_t dim = mlir::cast<ConcatenateOp>(op).getDimension();
  Element result;
  int64_t start = 0;
  // From the last operand on: each earlier one is chosen where its range holds the index.
  llvm::SmallVector<int64_t> starts;
  for (mlir::Value operand : op->getOperands()) {
    starts.push_back(start);
    start += shapeOf(operand)[dim];
  }
  for (unsigned k = op->getNumOperands(); k-- > 0;) {
    int64_t size = shapeOf(op->getOperand(k))[dim];
    if (size == 0)
      continue;
    Indices from(index);
    from[dim] = graph.addConstant(index[dim], -starts[k]);
    Node *inside = graph.inRange(from[dim], 0, size);
    if (isFalse(inside))
      continue;
    Element element = at(op->getOperand(k), from, graph.logicalAnd(mask, inside));
    if (!element)
      return {};
    result = result ? choose(graph, inside, element, result) : element;
  }
  return result;
}

Element GraphBuilder::gather(mlir::Operation *op, IndexRange index, Node *mask) {
  auto gather = mlir::cast<GatherOp>(op);
  auto numbers = gather.getDimensionNumbers();
  mlir::Value operand = op->getOperand(0), starts = op->getOperand(1);
  Indices batch, offset;
  for (auto [d, i] : llvm::enumerate(index))
    (llvm::is_contained(numbers.getOffsetDims(), static_cast<int64_t>(d)) ? offset : batch)
        .push_back(i);
  int64_t vectorDim = numbers.getIndexVectorDim();
  size_t nextOffset = 0;
  Indices from;
  for (int64_t d = 0, rank = shapeOf(operand).size(); d < rank; ++d) {
    Index position = graph.constant(0);
    if (auto it = llvm::find(numbers.getStartIndexMap(), d);
        it != numbers.getStartIndexMap().end()) {
      Indices startIndex(batch);
      if (vectorDim < static_cast<int64_t>(shapeOf(starts).size()))
        startIndex.insert(startIndex.begin() + vectorDim,
                          graph.constant(it - numbers.getStartIndexMap().begin()));
      position =
          clampedStart(starts, startIndex, mask, shapeOf(operand)[d] - gather.getSliceSizes()[d]);
      if (!position)
        return {};
    }
    auto batching = llvm::find(numbers.getOperandBatchingDims(), d);
    if (batching != numbers.getOperandBatchingDims().end()) {
      int64_t b =
          numbers
              .getStartIndicesBatchingDims()[batching - numbers.getOperandBatchingDims().begin()];
      position = graph.add(position, batch[b - (b < vectorDim ? 0 : 1)]);
    } else if (!llvm::is_contained(numbers.getCollapsedSliceDims(), d)) {
      position = graph.add(position, offset[nextOffset++]);
    }
    from.push_back(position);
  }
  return at(operand, from, mask);
}

Element GraphBuilder::dynamicUpdateSlice(mlir::Operation *op, IndexRange index, Node *mask) {
  mlir::Value operand = op->getOperand(0), update = op->getOperand(1);
  Indices from;
  Node *inside = nullptr;
  for (auto [d, i] : llvm::enumerate(index)) {
    int64_t size = shapeOf(update)[d];
    Index start = clampedStart(op->getOperand(d + 2), {}, mask, shapeOf(operand)[d] - size);
    if (!start)
      return {};
    from.push_back(graph.add(i, graph.multiply(start, -1)));
    inside = graph.logicalAnd(inside, graph.inRange(from.back(), 0, size));
  }
  Element old = at(operand, index, mask);
  if (isFalse(inside) || llvm::is_contained(shapeOf(update), 0))
    return old;
  return choose(graph, inside, at(update, from, graph.logicalAnd(mask, inside)), old);
}

} // namespace tessera::codegen
