// Operations that fold many elements into one, as Reduction nodes: reduce, reduce_window,
// dot_general, convolution. Any type and any shape is right this way; Contraction.cpp has the fast
// road for the large products.
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/FirstBest.h"
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/SumMarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <numeric>

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

Element GraphBuilder::reduction(mlir::Operation *op, unsigned result, IndexRange index, Node *mask,
                                bool &known) {
  if (!mlir::isa<ReduceOp, ReduceWindowOp, DotGeneralOp, ConvolutionOp>(op)) {
    known = false;
    return {};
  }
  if (mlir::isa<ReduceOp>(op))
    if (Element term = selectedTerm(op, index, mask))
      return term;
  // However a dimension of one element is counted, it is one reduction.
  Indices counted(index);
  for (auto [i, size] : llvm::zip(counted, shapeOf(op->getResult(result))))
    if (size == 1)
      i = graph.constant(0);
  index = counted;
  Key key{op, std::vector<const void *>(index.begin(), index.end())};
  key.second.push_back(mask);
  auto [it, isNew] = reductions.try_emplace(key, nullptr);
  if (isNew) {
    Reduction *reduction = graph.addReduction();
    bool ok = mlir::isa<ReduceOp>(op)         ? reduceInputs(op, index, mask, *reduction)
              : mlir::isa<ReduceWindowOp>(op) ? windowInputs(op, index, mask, *reduction)
              : mlir::isa<DotGeneralOp>(op)   ? dotInputs(op, index, mask, *reduction)
                                              : convolutionInputs(op, index, mask, *reduction);
    if (!ok)
      return {};
    for (unsigned dim : reduction->dims)
      reduction->ownDims |= DimSet(1) << dim;
    for (Node *node : reduction->inputs)
      reduction->deps |= node->deps;
    reduction->deps &= ~reduction->ownDims;
    for (Node *node : reduction->inits)
      reduction->deps |= node->deps;
    for (Node *node : reduction->results)
      reduction->deps |= node->deps;
    if (mlir::isa<ReduceOp>(op))
      reduction->best = firstBestOf(graph, *reduction);
    it = reductions.find(key);
    it->second = reduction;
  }
  Reduction *reduction = it->second;
  if (!reduction)
    return {};
  if (reduction->isEmpty)
    return {graph.constant(elementType(op->getResult(result).getType())->kind, 0)};
  // A complex result has two components.
  unsigned component = 0;
  for (unsigned i = 0; i < result; ++i)
    component += elementType(op->getResult(i).getType())->complex ? 2 : 1;
  ElementType type = *elementType(op->getResult(result).getType());
  auto read = [&](unsigned i) {
    return graph.convert(graph.reduced(reduction, i, reduction->inits[i]->kind), type.kind);
  };
  Element element{read(component)};
  if (type.complex)
    element.im = read(component + 1);
  return element;
}

bool GraphBuilder::buildReducer(mlir::Block &body, Reduction &reduction) {
  unsigned count = body.getNumArguments() / 2;
  llvm::SmallVector<Op> perOperand;
  mlir::Operation *terminator = body.getTerminator();
  for (unsigned i = 0; i < count; ++i) {
    mlir::Operation *op = terminator->getOperand(i).getDefiningOp();
    std::optional<Op> code = op ? elementwiseOp(op) : std::nullopt;
    bool isKnown =
        code && (*code == Op::Add || *code == Op::Mul || *code == Op::Max || *code == Op::Min ||
                 *code == Op::And || *code == Op::Or || *code == Op::Xor);
    mlir::Value lhs = body.getArgument(i), rhs = body.getArgument(count + i);
    if (isKnown && ((op->getOperand(0) == lhs && op->getOperand(1) == rhs) ||
                    (op->getOperand(0) == rhs && op->getOperand(1) == lhs))) {
      bool isComplex = elementType(lhs.getType()) && elementType(lhs.getType())->complex;
      if (!isComplex || *code == Op::Add) {
        perOperand.append(isComplex ? 2 : 1, *code);
        continue;
      }
    }
    perOperand.clear();
    break;
  }
  if (!perOperand.empty()) {
    reduction.simple.assign(perOperand.begin(), perOperand.end());
    return true;
  }
  auto bind = [&](unsigned argument, llvm::SmallVectorImpl<Node *> &into) {
    mlir::Value value = body.getArgument(argument);
    std::optional<ElementType> type = elementType(value.getType());
    if (!type) {
      mlir::emitError(value.getLoc(), "no kernel code for element type ") << value.getType();
      return false;
    }
    auto [it, isNew] = elements.try_emplace(value);
    if (isNew) {
      it->second.re = graph.external(type->kind);
      if (type->complex)
        it->second.im = graph.external(type->kind);
    }
    into.push_back(it->second.re);
    if (type->complex)
      into.push_back(it->second.im);
    return true;
  };
  for (unsigned i = 0; i < count; ++i)
    if (!bind(i, reduction.lhs) || !bind(count + i, reduction.rhs))
      return false;
  for (mlir::Value value : terminator->getOperands()) {
    Element element = at(value, {});
    if (!element)
      return false;
    reduction.results.push_back(element.re);
    if (element.im)
      reduction.results.push_back(element.im);
  }
  return true;
}

bool GraphBuilder::foldInputs(mlir::Operation *op, llvm::ArrayRef<Element> inputs, IndexRange index,
                              Node *mask, Reduction &reduction) {
  mlir::Block &body = op->getRegion(0).front();
  if (!buildReducer(body, reduction))
    return false;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Element init = at(op->getOperand(inputs.size() + i), {}, mask);
    if (!input || !init)
      return false;
    // Sums and products of narrow floats are kept in f32.
    Op step = reduction.simple.empty() ? Op::Constant : reduction.simple[reduction.inputs.size()];
    bool widen = isNarrowFloat(input.re->kind) && (step == Op::Add || step == Op::Mul);
    auto add = [&](Node *value, Node *start) {
      reduction.inputs.push_back(widen ? graph.convert(value, ElementKind::F32) : value);
      reduction.inits.push_back(widen ? graph.convert(start, ElementKind::F32) : start);
    };
    add(input.re, init.re);
    if (input.im)
      add(input.im, init.im);
  }
  return true;
}

bool GraphBuilder::reduceInputs(mlir::Operation *op, IndexRange index, Node *mask,
                                Reduction &reduction) {
  auto shape = shapeOf(op->getOperand(0));
  Indices from;
  size_t kept = 0;
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool isReduced =
        llvm::is_contained(mlir::cast<ReduceOp>(op).getDimensions(), static_cast<int64_t>(d));
    from.push_back(isReduced ? reducedLoop(op, d, size, reduction) : index[kept++]);
    if (size != 1)
      reduction.order = isReduced ? Reduction::Rows : Reduction::Columns;
  }
  reduction.isOfParts = getSummed(op) > 1;
  notePass(op, from, mask);
  llvm::SmallVector<Element> inputs;
  for (unsigned i = 0, count = op->getNumOperands() / 2; i < count; ++i)
    inputs.push_back(at(op->getOperand(i), from, mask));
  return foldInputs(op, inputs, index, mask, reduction);
}

Index GraphBuilder::reducedLoop(mlir::Operation *op, unsigned i, int64_t size,
                                Reduction &reduction) {
  size_t before = reduction.dims.size();
  Index index = loop(op, i, size, &reduction.dims);
  if (reduction.dims.size() > before)
    reduction.loops.emplace_back(llvm::drop_begin(reduction.dims, before));
  return index;
}

// A missing or single-valued attribute counts for every dimension.
static int64_t entry(std::optional<llvm::ArrayRef<int64_t>> values, size_t i, int64_t otherwise) {
  return values && !values->empty() ? (*values)[i] : otherwise;
}

bool GraphBuilder::windowInputs(mlir::Operation *op, IndexRange index, Node *mask,
                                Reduction &reduction) {
  auto window = mlir::cast<ReduceWindowOp>(op);
  auto shape = shapeOf(op->getOperand(0));
  auto padding = window.getPadding();
  llvm::SmallVector<int64_t> low(shape.size(), 0);
  if (padding)
    for (auto [i, value] : llvm::enumerate(padding->getValues<int64_t>()))
      if (i % 2 == 0)
        low[i / 2] = value;
  Indices from;
  Node *inside = nullptr;
  for (auto [d, size] : llvm::enumerate(shape)) {
    Index at = graph.multiply(index[d], entry(window.getWindowStrides(), d, 1));
    int64_t extent = window.getWindowDimensions()[d];
    if (extent != 1)
      at = graph.add(at, graph.multiply(reducedLoop(op, d, extent, reduction),
                                        entry(window.getWindowDilations(), d, 1)));
    at = graph.addConstant(at, -low[d]);
    int64_t base = entry(window.getBaseDilations(), d, 1);
    inside = graph.logicalAnd(inside, graph.inRange(at, 0, (size - 1) * base + 1));
    auto [quotient, rest] = graph.divide(at, base);
    if (base > 1)
      inside = graph.logicalAnd(inside, graph.compare(EQ, graph.iota(ElementKind::I64, rest),
                                                      graph.constant(ElementKind::I64, 0)));
    from.push_back(quotient);
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

// sum of a * b in the type that accumulates `result`.
void GraphBuilder::productSum(Element a, Element b, ElementKind result, Reduction &reduction) {
  ElementKind kind = isNarrowFloat(result) ? ElementKind::F32 : result;
  auto to = [&](Node *node) { return graph.convert(node, kind); };
  auto mul = [&](Node *x, Node *y) { return graph.make(Op::Mul, kind, {to(x), to(y)}); };
  auto add = [&](Node *input) {
    reduction.inputs.push_back(input);
    reduction.inits.push_back(graph.floatConstant(kind, 0));
    reduction.simple.push_back(kind == ElementKind::I1 ? Op::Or : Op::Add);
  };
  reduction.isOfBf16 = kind == ElementKind::F32 && a.re->kind == ElementKind::BF16 &&
                       b.re->kind == ElementKind::BF16;
  if (!a.im && !b.im)
    return add(mul(a.re, b.re));
  add(graph.make(Op::Sub, kind, {mul(a.re, b.re), mul(a.im, b.im)}));
  add(graph.make(Op::Add, kind, {mul(a.re, b.im), mul(a.im, b.re)}));
}

// How a product is added: of matrices of floats it is a chain, else it goes as its operands lie.
static void setOrder(Reduction &reduction, DotGeneralOp dot, ElementType type) {
  auto numbers = dot.getDotDimensionNumbers();
  struct Side {
    Side(mlir::Value value, llvm::ArrayRef<int64_t> batch, llvm::ArrayRef<int64_t> contracted) {
      for (auto [d, size] : llvm::enumerate(shapeOf(value))) {
        if (size == 1)
          continue;
        endsContracted = llvm::is_contained(contracted, static_cast<int64_t>(d));
        isVector &= endsContracted || llvm::is_contained(batch, static_cast<int64_t>(d));
      }
    }
    bool isVector = true;       // no dimension of its own
    bool endsContracted = true; // the innermost dimension is contracted
  };
  Side lhs(dot.getLhs(), numbers.getLhsBatchingDimensions(), numbers.getLhsContractingDimensions());
  Side rhs(dot.getRhs(), numbers.getRhsBatchingDimensions(), numbers.getRhsContractingDimensions());
  bool isOfMatrices = !type.complex && !lhs.isVector && !rhs.isVector;
  reduction.isOfIntegers =
      isOfMatrices && (type.kind == ElementKind::I32 || type.kind == ElementKind::U32);
  if (isOfMatrices && isFloat(type.kind))
    reduction.order = Reduction::Chain;
  else
    reduction.order =
        lhs.endsContracted && rhs.endsContracted ? Reduction::Rows : Reduction::Columns;
}

bool GraphBuilder::dotInputs(mlir::Operation *op, IndexRange index, Node *mask,
                             Reduction &reduction) {
  auto numbers = mlir::cast<DotGeneralOp>(op).getDotDimensionNumbers();
  auto lhsShape = shapeOf(op->getOperand(0)), rhsShape = shapeOf(op->getOperand(1));
  Indices lhs(lhsShape.size(), nullptr), rhs(rhsShape.size(), nullptr);
  size_t next = 0;
  for (auto [l, r] :
       llvm::zip(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()))
    lhs[l] = rhs[r] = index[next++];
  for (auto [i, pair] : llvm::enumerate(llvm::zip(numbers.getLhsContractingDimensions(),
                                                  numbers.getRhsContractingDimensions()))) {
    auto [l, r] = pair;
    lhs[l] = rhs[r] = reducedLoop(op, i, lhsShape[l], reduction);
  }
  for (Index &i : lhs)
    if (!i)
      i = index[next++];
  for (Index &i : rhs)
    if (!i)
      i = index[next++];
  Element a = at(op->getOperand(0), lhs, mask), b = at(op->getOperand(1), rhs, mask);
  if (!a || !b)
    return false;
  ElementType type = *elementType(op->getResult(0).getType());
  productSum(a, b, type.kind, reduction);
  setOrder(reduction, mlir::cast<DotGeneralOp>(op), type);
  return true;
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
  llvm::SmallVector<int64_t> low(inputSpatial.size(), 0);
  if (auto padding = convolution.getPadding())
    for (auto [i, value] : llvm::enumerate(padding->getValues<int64_t>()))
      if (i % 2 == 0)
        low[i / 2] = value;
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
    int64_t dilation = entry(convolution.getLhsDilation(), s, 1);
    inside = graph.logicalAnd(inside, graph.inRange(position, 0, (lhsShape[l] - 1) * dilation + 1));
    auto [quotient, rest] = graph.divide(position, dilation);
    if (dilation > 1 && rest != graph.constant(0))
      inside = graph.logicalAnd(inside, graph.compare(EQ, graph.iota(ElementKind::I64, rest),
                                                      graph.constant(ElementKind::I64, 0)));
    lhs[l] = quotient;
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
