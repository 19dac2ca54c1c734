// Operations that fold many elements into one, as Reduction nodes: reduce and dot_general here,
// those with windows in InlineWindows.cpp. Any type and any shape is right this way;
// Contraction.cpp has the fast road for the large products.
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/FirstBest.h"
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/SumMarks.h"
#include "llvm/ADT/STLExtras.h"

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

} // namespace tessera::codegen
