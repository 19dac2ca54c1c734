// Operations that fold the elements of windows into one, as Reduction nodes: reduce_window and
// convolution.
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ConvolutionTaps.h"
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

// A missing or single-valued attribute counts for every dimension.
static int64_t entry(std::optional<llvm::ArrayRef<int64_t>> values, size_t i, int64_t otherwise) {
  return values && !values->empty() ? (*values)[i] : otherwise;
}

// What a padding has before the elements of each of `dims` dimensions.
static llvm::SmallVector<int64_t> paddingBefore(std::optional<mlir::DenseIntElementsAttr> padding,
                                                size_t dims) {
  llvm::SmallVector<int64_t> low(dims, 0);
  if (padding)
    for (auto [i, value] : llvm::enumerate(padding->getValues<int64_t>()))
      if (i % 2 == 0)
        low[i / 2] = value;
  return low;
}

// The element of `size`, dilated by `base`, that `position` meets; `inside` becomes false where there is
// none.
Index GraphBuilder::elementAt(Index position, int64_t size, int64_t base, Node *&inside) {
  inside = graph.logicalAnd(inside, graph.inRange(position, 0, (size - 1) * base + 1));
  auto [quotient, rest] = graph.divide(position, base);
  if (base > 1 && rest != graph.constant(0))
    inside = graph.logicalAnd(inside, graph.compare(EQ, graph.iota(ElementKind::I64, rest),
                                                    graph.constant(ElementKind::I64, 0)));
  return quotient;
}

bool GraphBuilder::windowInputs(mlir::Operation *op, IndexRange index, Node *mask,
                                Reduction &reduction) {
  auto window = mlir::cast<ReduceWindowOp>(op);
  auto shape = shapeOf(op->getOperand(0));
  auto low = paddingBefore(window.getPadding(), shape.size());
  Indices from;
  Node *inside = nullptr;
  for (auto [d, size] : llvm::enumerate(shape)) {
    Index at = graph.multiply(index[d], entry(window.getWindowStrides(), d, 1));
    int64_t extent = window.getWindowDimensions()[d];
    if (extent != 1)
      at = graph.add(at, graph.multiply(reducedLoop(op, d, extent, reduction),
                                        entry(window.getWindowDilations(), d, 1)));
    at = graph.addConstant(at, -low[d]);
    from.push_back(elementAt(at, size, entry(window.getBaseDilations(), d, 1), inside));
    if (size != 1)
      reduction.order =
          extent > 1 && shapeOf(op->getResult(0))[d] == 1 ? Reduction::Rows : Reduction::Columns;
  }
  llvm::SmallVector<Element> inputs;
  for (unsigned i = 0, count = op->getNumOperands() / 2; i < count; ++i) {
    Element value = at(op->getOperand(i), from, graph.logicalAnd(mask, inside));
    Element init = at(op->getOperand(count + i), {}, mask);
    if (!value || !init)
      return false;
    inputs.push_back({graph.select(inside, value.re, init.re),
                      value.im ? graph.select(inside, value.im, init.im) : nullptr});
  }
  return foldInputs(op, inputs, index, mask, reduction);
}

// The positions of a window of `size` that begins at `start`, but for those that meet padding from all
// of its places, and, where the index tells, zeros of an operand that is dilated by `base`.
Taps GraphBuilder::tapsAt(Index start, int64_t size, int64_t dilation, int64_t base,
                          int64_t elements) {
  constexpr int64_t most = 1 << 16;
  Taps taps{size};
  if (base != 1 && std::gcd(dilation, base) == 1 && size <= most && start->nodes.empty()) {
    bool isKnown = true;
    for (auto [dim, factor] : start->dims) {
      int64_t step = base / std::gcd(factor, base);
      if (step == 1 || graph.dims[dim].size == 1)
        continue;
      graph.wantedPhases.push_back({dim, step});
      isKnown = false;
    }
    if (isKnown && leavesOutZeros)
      taps = tapsOf(size, dilation, base, start->constant);
  }
  auto [low, high] = graph.range(start);
  if (low == INT64_MIN || elements == 0)
    return taps;
  auto [first, end] = meetingTaps(low, high, elements, dilation, base);
  if (start->nodes.empty() && start->dims.size() == 1) {
    auto [dim, factor] = start->dims.front();
    const Dim &loop = graph.dims[dim];
    BorderCuts borders = borderCuts(start->constant + loop.low * factor, factor,
                                    loop.high - loop.low, size, elements, dilation, base);
    if (!borders.cuts.empty())
      graph.wantedBorders.push_back({dim, std::move(borders.cuts), borders.share});
  }
  return within(taps, first, end);
}

// The loops of a convolution's contracted dimensions.
struct GraphBuilder::Window {
  llvm::SmallVector<Index, 4> starts, positions; // of each spatial dimension
  Index feature = nullptr;
};

// Whether terms that are zero may be left out of a convolution's sum: the others are added as they are
// with them. Processors' tiles add bf16 in whole units.
static bool mayLeaveOut(ConvolutionOp convolution, llvm::ArrayRef<Taps> loops,
                        const Reduction &reduction) {
  std::optional<ElementType> type = elementType(convolution->getResult(0).getType());
  if (!type || type->complex)
    return false;
  bool isBf16 = llvm::all_of(convolution->getOperands(), [](mlir::Value operand) {
    std::optional<ElementType> type = elementType(operand.getType());
    return type && type->kind == ElementKind::BF16;
  });
  bool isByPhases = llvm::any_of(loops, [](const Taps &taps) { return taps.step > 1; });
  bool isEmpty = llvm::any_of(loops, [](const Taps &taps) { return taps.count() == 0; });
  return !isBf16 || isByPhases || isEmpty ||
         (reduction.together % Reduction::tileUnit == 0 && reduction.isOfOneTileBlock);
}

// In the order in which the left operand has the dimensions: a gradient's batch comes first.
GraphBuilder::Window GraphBuilder::windowOf(mlir::Operation *op, IndexRange index,
                                            Reduction &reduction) {
  auto convolution = mlir::cast<ConvolutionOp>(op);
  auto numbers = convolution.getDimensionNumbers();
  auto lhsShape = shapeOf(op->getOperand(0)), rhsShape = shapeOf(op->getOperand(1));
  auto inputSpatial = numbers.getInputSpatialDimensions();
  auto low = paddingBefore(convolution.getPadding(), inputSpatial.size());
  Window window;
  window.positions.resize(low.size());
  for (auto [s, o] : llvm::enumerate(numbers.getOutputSpatialDimensions()))
    window.starts.push_back(graph.addConstant(
        graph.multiply(index[o], entry(convolution.getWindowStrides(), s, 1)), -low[s]));
  llvm::SmallVector<Taps> loops;
  llvm::SmallVector<size_t>
      numberOf; // of each loop: its spatial dimension, behind them the features
  for (int64_t d = 0, rank = static_cast<int64_t>(lhsShape.size()); d < rank; ++d) {
    auto it = llvm::find(inputSpatial, d);
    size_t s = it - inputSpatial.begin();
    if (d == static_cast<int64_t>(numbers.getInputFeatureDimension())) {
      loops.push_back({rhsShape[numbers.getKernelInputFeatureDimension()]});
    } else if (it != inputSpatial.end()) {
      int64_t size = rhsShape[numbers.getKernelSpatialDimensions()[s]];
      loops.push_back(tapsAt(window.starts[s], size, entry(convolution.getRhsDilation(), s, 1),
                             entry(convolution.getLhsDilation(), s, 1), lhsShape[d]));
    } else {
      continue;
    }
    numberOf.push_back(s);
  }
  if (!llvm::all_of(loops, [](const Taps &taps) { return taps.isAll(); })) {
    reduction.isOfOneTileBlock = blockEnds(loops, Reduction::tileBlock).size() <= 1;
    for (size_t i = loops.size(); i-- > 0 && loops[i].isAll();)
      reduction.together *= loops[i].size;
    if (mayLeaveOut(convolution, loops, reduction))
      reduction.blockEnds = blockEnds(loops, Reduction::chainBlock);
    else
      for (Taps &taps : loops)
        taps = {taps.size};
  }
  for (auto [s, taps] : llvm::zip(numberOf, loops)) {
    reduction.isEmpty |= taps.count() == 0 && taps.size > 0;
    Index k = reducedLoop(op, s, taps.size ? std::max<int64_t>(taps.count(), 1) : 0, reduction);
    (s == low.size() ? window.feature : window.positions[s]) =
        graph.addConstant(graph.multiply(k, taps.step), taps.first);
  }
  return window;
}

bool GraphBuilder::convolutionInputs(mlir::Operation *op, IndexRange index, Node *mask,
                                     Reduction &reduction) {
  auto convolution = mlir::cast<ConvolutionOp>(op);
  auto numbers = convolution.getDimensionNumbers();
  auto lhsShape = shapeOf(op->getOperand(0)), rhsShape = shapeOf(op->getOperand(1));
  auto outShape = shapeOf(op->getResult(0));
  int64_t featureGroups = convolution.getFeatureGroupCount();
  int64_t batchGroups = convolution.getBatchGroupCount();
  Indices lhs(lhsShape.size(), nullptr), rhs(rhsShape.size(), nullptr);
  Node *inside = nullptr;
  Window window = windowOf(op, index, reduction);
  for (auto [s, pair] : llvm::enumerate(
           llvm::zip(numbers.getInputSpatialDimensions(), numbers.getKernelSpatialDimensions()))) {
    auto [l, r] = pair;
    Index k = window.positions[s];
    auto reversal = convolution.getWindowReversal();
    bool isReversed = reversal && !reversal->empty() && (*reversal)[s];
    rhs[r] = isReversed ? graph.addConstant(graph.multiply(k, -1), rhsShape[r] - 1) : k;
    Index position =
        graph.add(window.starts[s], graph.multiply(k, entry(convolution.getRhsDilation(), s, 1)));
    lhs[l] = elementAt(position, lhsShape[l], entry(convolution.getLhsDilation(), s, 1), inside);
  }
  Index outFeature = index[numbers.getOutputFeatureDimension()];
  Index outBatch = index[numbers.getOutputBatchDimension()];
  int64_t features = outShape[numbers.getOutputFeatureDimension()];
  rhs[numbers.getKernelInputFeatureDimension()] = window.feature;
  rhs[numbers.getKernelOutputFeatureDimension()] = outFeature;
  Index lhsFeature = window.feature, lhsBatch = outBatch;
  if (featureGroups > 1)
    lhsFeature = graph.add(window.feature,
                           graph.multiply(graph.divide(outFeature, features / featureGroups).first,
                                          rhsShape[numbers.getKernelInputFeatureDimension()]));
  if (batchGroups > 1)
    lhsBatch = graph.add(outBatch,
                         graph.multiply(graph.divide(outFeature, features / batchGroups).first,
                                        lhsShape[numbers.getInputBatchDimension()] / batchGroups));
  lhs[numbers.getInputFeatureDimension()] = lhsFeature;
  lhs[numbers.getInputBatchDimension()] = lhsBatch;
  Element a = at(op->getOperand(0), lhs, graph.logicalAnd(mask, inside));
  Element b = at(op->getOperand(1), rhs, mask);
  if (!a || !b)
    return false;
  ElementType type = *elementType(op->getResult(0).getType());
  auto zeroOutside = [&](Node *node) {
    return node ? graph.select(inside, node, graph.floatConstant(node->kind, 0)) : nullptr;
  };
  productSum({zeroOutside(a.re), zeroOutside(a.im)}, b, type.kind, reduction);
  if (isFloat(type.kind) && !type.complex)
    reduction.order = Reduction::Chain;
  reduction.isOfWindow = true;
  return true;
}

} // namespace tessera::codegen
