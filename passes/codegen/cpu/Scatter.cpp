// scatter: start from the operand, then apply the updates one after the other.
//
// Updates may meet, so a cell owns all of the places that its updates can reach: cells split a
// dimension in which every update keeps its own index (a full window dimension or a batching one).
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/LoopNest.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::ShapedType>(value.getType()).getShape();
}

namespace {

class ScatterEmitter {
public:
  ScatterEmitter(KernelFunction &function, ScatterOp op)
      : function(function), op(op), numbers(op.getScatterDimensionNumbers()),
        count(op->getNumResults()), operandShape(shapeOf(op->getOperand(0))),
        updateShape(shapeOf(op->getOperand(count + 1))) {}
  bool emit();

private:
  void mapDimensions();
  bool emitCell(Value cell, llvm::Instruction *before, bool isShared);
  bool emitStart(Value cell, llvm::Instruction *before);
  bool emitUpdates(Value cell, llvm::Instruction *before);
  Value output(unsigned i) {
    return function.buffers[function.inputCount() + outputOf(function, op, i)];
  }

  KernelFunction &function;
  ScatterOp op;
  ScatterDimensionNumbersAttr numbers;
  unsigned count;
  llvm::ArrayRef<int64_t> operandShape, updateShape;
  llvm::SmallVector<int64_t> windowOperandDims; // operand dimension of each update window dimension
  int splitOperand = -1, splitUpdate = -1;      // the dimension that cells divide
  int64_t chunk = 1, cells = 1;
};

} // namespace

void ScatterEmitter::mapDimensions() {
  for (int64_t d = 0, rank = operandShape.size(); d < rank; ++d)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) &&
        !llvm::is_contained(numbers.getInputBatchingDims(), d))
      windowOperandDims.push_back(d);
  int64_t best = 1;
  for (auto [w, d] : llvm::enumerate(windowOperandDims)) {
    int64_t update = numbers.getUpdateWindowDims()[w];
    bool isWhole = updateShape[update] == operandShape[d] &&
                   !llvm::is_contained(numbers.getScatterDimsToOperandDims(), d);
    if (isWhole && operandShape[d] > best) {
      best = operandShape[d];
      splitOperand = d;
      splitUpdate = update;
    }
  }
  // Position of a dimension of the scatter indices among the update's scatter dimensions.
  llvm::SmallVector<int64_t> scatterDims;
  for (int64_t u = 0, rank = updateShape.size(); u < rank; ++u)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), u))
      scatterDims.push_back(u);
  for (auto [d, i] :
       llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims())) {
    int64_t update = scatterDims[i - (i < numbers.getIndexVectorDim() ? 0 : 1)];
    if (operandShape[d] > best) {
      best = operandShape[d];
      splitOperand = d;
      splitUpdate = update;
    }
  }
  if (splitOperand < 0)
    return;
  int64_t points = 0;
  for (auto shape : {operandShape, updateShape}) {
    int64_t n = 1;
    for (int64_t size : shape)
      n *= size;
    points += n;
  }
  bool isLast = splitOperand + 1 == static_cast<int>(operandShape.size());
  int64_t step = isLast ? 64 : 1;
  chunk = std::max<int64_t>(best / std::max<int64_t>(points / 16384, 1), 1);
  chunk = std::min<int64_t>(best, llvm::alignTo(chunk, step));
  cells = llvm::divideCeil(best, chunk);
}

bool ScatterEmitter::emitStart(Value cell, llvm::Instruction *before) {
  for (unsigned i = 0; i < count; ++i) {
    SplitTable none;
    KernelGraph g(function, none);
    Indices index;
    llvm::SmallVector<unsigned> dims;
    for (auto [d, size] : llvm::enumerate(operandShape))
      index.push_back(g.builder.loop(nullptr, d, size, &dims));
    Element value = g.builder.at(op->getOperand(i), index);
    if (!value)
      return false;
    ElementKind kind = value.re->kind;
    Index offset = g.graph.linearise(index, operandShape);
    if (value.im)
      offset = g.graph.multiply(offset, 2);
    g.emitter.openBody(before);
    llvm::SmallVector<LoopRange> loops;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (operandShape[d] == 1)
        continue;
      loops.push_back({dim});
      if (static_cast<int>(d) == splitOperand)
        std::tie(loops.back().low, loops.back().high) =
            chunkRange(g.emitter, cell, chunk, operandShape[d]);
    }
    auto nodes = Graph::reachable({value.re});
    unsigned lanes =
        loops.empty() ? 1 : g.emitter.chooseLanes(g.graph.dims[loops.back().dim].size, nodes);
    loopOver(g.emitter, loops, lanes, [&] {
      Value re = g.emitter.emit(value.re), im = value.im ? g.emitter.emit(value.im) : nullptr;
      g.emitter.store(output(i), kind, offset, re, im);
    });
  }
  return true;
}

bool ScatterEmitter::emitUpdates(Value cell, llvm::Instruction *before) {
  SplitTable none;
  KernelGraph g(function, none);
  Graph &graph = g.graph;
  Indices update;
  llvm::SmallVector<unsigned> dims;
  for (auto [d, size] : llvm::enumerate(updateShape))
    update.push_back(g.builder.loop(nullptr, d, size, &dims));

  // Where the update goes, and whether that is inside.
  Indices scatter, target(operandShape.size(), graph.constant(0));
  for (auto [u, i] : llvm::enumerate(update))
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), static_cast<int64_t>(u)))
      scatter.push_back(i);
  mlir::Value indices = op->getOperand(count);
  int64_t vectorDim = numbers.getIndexVectorDim();
  for (auto [s, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
    Indices at(scatter);
    if (vectorDim < static_cast<int64_t>(shapeOf(indices).size()))
      at.insert(at.begin() + vectorDim, graph.constant(s));
    Node *start = g.builder.scalarInteger(indices, at, nullptr);
    if (!start)
      return false;
    target[d] = graph.node(start);
  }
  for (auto [d, i] :
       llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
    target[d] = graph.add(target[d], scatter[i - (i < vectorDim ? 0 : 1)]);
  for (auto [w, d] : llvm::enumerate(windowOperandDims))
    target[d] = graph.add(target[d], update[numbers.getUpdateWindowDims()[w]]);
  Node *inside = nullptr;
  for (auto [d, size] : llvm::enumerate(operandShape))
    inside = graph.logicalAnd(inside, graph.inRange(target[d], 0, size));
  Index offset = graph.linearise(target, operandShape);

  Reduction reduction;
  if (!g.builder.buildReducer(op->getRegion(0).front(), reduction))
    return false;
  llvm::SmallVector<Node *> old;
  llvm::SmallVector<Index> offsets;
  for (unsigned i = 0; i < count; ++i) {
    Element fresh = g.builder.at(op->getOperand(count + 1 + i), update);
    if (!fresh)
      return false;
    BufferInfo buffer;
    buffer.position = function.inputCount() + outputOf(function, op, i);
    buffer.kind = fresh.re->kind;
    graph.buffers.push_back(buffer);
    Index first = fresh.im ? graph.multiply(offset, 2) : offset;
    offsets.push_back(first);
    for (int part = 0; part < (fresh.im ? 2 : 1); ++part) {
      // Read again for each update: earlier ones may have written there.
      Node *node = graph.load(buffer.kind, graph.buffers.size() - 1, graph.addConstant(first, part),
                              nullptr);
      node->local = true;
      old.push_back(node);
      reduction.inputs.push_back(part ? fresh.im : fresh.re);
    }
  }

  // The window's last dimension goes by vectors when all of its elements are inside or out
  // together.
  Emitter &e = g.emitter;
  e.openBody(before);
  llvm::SmallVector<LoopRange> loops;
  auto addLoop = [&](size_t u) {
    if (updateShape[u] == 1)
      return;
    loops.push_back({dims[u]});
    if (static_cast<int>(u) == splitUpdate)
      std::tie(loops.back().low, loops.back().high) = chunkRange(e, cell, chunk, updateShape[u]);
  };
  for (size_t u = 0; u < updateShape.size(); ++u)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), static_cast<int64_t>(u)))
      addLoop(u);
  for (int64_t u : numbers.getUpdateWindowDims())
    addLoop(u);
  unsigned lanes = 1;
  if (!loops.empty()) {
    unsigned inner = loops.back().dim;
    bool isFree = !inside || !(inside->deps >> inner & 1);
    bool isWindow = llvm::is_contained(numbers.getUpdateWindowDims(), static_cast<int64_t>(inner));
    if (isFree && isWindow && e.stride(offset, inner) == 1)
      lanes = e.chooseLanes(graph.dims[inner].size, Graph::reachable(reduction.inputs));
  }
  function.info.flops += workOf(graph, Graph::reachable(reduction.inputs)).flops;
  loopOver(e, loops, lanes, [&] {
    if (inside)
      e.openIf(e.emit(inside));
    llvm::SmallVector<Value> before, fresh;
    for (auto [node, input] : llvm::zip(old, reduction.inputs)) {
      before.push_back(e.evaluate({node}, {})[0]);
      fresh.push_back(e.splat(e.emit(input), lanes));
    }
    llvm::SmallVector<Value> after = e.combine(reduction, before, fresh);
    for (unsigned i = 0, part = 0; i < count; ++i) {
      bool isComplex = elementType(op->getResult(i).getType())->complex;
      e.store(output(i), old[part]->kind, offsets[i], after[part],
              isComplex ? after[part + 1] : nullptr);
      part += isComplex ? 2 : 1;
    }
    if (inside)
      e.closeLoop();
  });
  return true;
}

bool ScatterEmitter::emitCell(Value cell, llvm::Instruction *before, bool isShared) {
  return (isShared || emitStart(cell, before)) && emitUpdates(cell, before);
}

bool ScatterEmitter::emit() {
  for (unsigned i = 0; i < count; ++i)
    if (outputOf(function, op, i) < 0) {
      op.emitError("every result of a scatter must be an output of its kernel");
      return false;
    }
  mapDimensions();
  bool ok = true;
  auto run = [&](bool isShared) {
    function.forEachCell(cells, [&](Value cell, llvm::Instruction *before) {
      ok = ok && emitCell(cell, before, isShared);
    });
  };
  int64_t input =
      count == 1 ? sharedInput(function, outputOf(function, op, 0), op->getOperand(0)) : -1;
  if (input >= 0)
    function.ifSameBuffer(
        function.buffers[input], output(0), [&] { run(true); }, [&] { run(false); });
  else
    run(false);
  return ok;
}

bool emitScatter(KernelFunction &function, mlir::Operation *op) {
  return ScatterEmitter(function, mlir::cast<ScatterOp>(op)).emit();
}

} // namespace tessera::codegen
