// scatter: start from the operand, then apply the updates one after the other.
//
// Updates may meet, so a cell owns all of the places that its updates can reach: cells split a
// dimension in which every update keeps its own index (a full window dimension or a batching one).
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

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
  int64_t stripOf(int64_t row) const;
  bool streamsStart(const Node *value, unsigned lanes, unsigned result) const;
  bool emitCell(Value cell, llvm::Instruction *before, bool isShared);
  bool emitStart(Value cell, llvm::Instruction *before);
  // The updates' values and places as functions of a loop over each dimension of the updates.
  struct Updates {
    Updates(KernelFunction &function, const SplitTable &splits) : g(function, splits) {}
    EmittedGraph g;
    Indices update;
    llvm::SmallVector<unsigned> dims;
    Node *inside = nullptr;
    Index offset = nullptr; // in the operand
    Reduction reduction;
    llvm::SmallVector<Node *> old;    // of each input of the reduction
    llvm::SmallVector<Index> offsets; // of each result, in numbers
  };
  bool buildTarget(Updates &to);
  bool buildValues(Updates &to);
  llvm::SmallVector<LoopRange> updateLoops(Updates &from, Value cell);
  void emitUpdate(Updates &from, unsigned lanes);
  bool emitUpdates(Value cell, llvm::Instruction *before);
  bool isWindow(int64_t dim) const {
    return llvm::is_contained(numbers.getUpdateWindowDims(), dim);
  }
  Value output(unsigned i) { return function.outputBuffer(function.kernel.outputOf(op, i)); }

  KernelFunction &function;
  ScatterOp op;
  ScatterDimensionNumbersAttr numbers;
  unsigned count;
  llvm::ArrayRef<int64_t> operandShape, updateShape;
  llvm::SmallVector<int64_t> windowOperandDims; // operand dimension of each update window dimension
  int splitOperand = -1, splitUpdate = -1;      // the dimension that cells divide
  int64_t chunk = 1, cells = 1;
  bool isStreamed = false; // something is written past the caches
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
  int64_t step = isLast ? stripOf(best) : 1;
  chunk = std::max<int64_t>(best / std::max<int64_t>(points / 16384, 1), 1);
  chunk = std::min<int64_t>(best, llvm::alignTo(chunk, step));
  cells = llvm::divideCeil(best, chunk);
}

// Elements of a row that a cell takes. Each update is a stream of its own: of less than 512 bytes it is
// over before the memory gives what it can.
int64_t ScatterEmitter::stripOf(int64_t row) const {
  constexpr int64_t least = 64, bytes = 512, leastCells = 8;
  int64_t strip = bytes / elementType(op->getResult(0).getType())->bytes();
  return std::max(least, std::min(strip, row / leastCells / least * least));
}

// Whether what updates are added to goes past the caches, in whole lines: of a large array nothing is
// left there for them.
bool ScatterEmitter::streamsStart(const Node *value, unsigned lanes, unsigned result) const {
  constexpr int64_t line = 64;
  int64_t bytes = byteSize(value->kind), elements = 1;
  for (int64_t size : operandShape)
    elements *= size;
  bool isInLines =
      lanes * bytes % line == 0 && operandShape.back() * bytes % line == 0 &&
      (splitOperand + 1 < static_cast<int>(operandShape.size()) || chunk * bytes % line == 0);
  return isInLines && elements * bytes >= leastStreamed &&
         !elementType(op->getResult(result).getType())->complex &&
         function.kernel.inplaceOf(function.kernel.outputOf(op, result)) < 0;
}

bool ScatterEmitter::emitStart(Value cell, llvm::Instruction *before) {
  for (unsigned i = 0; i < count; ++i) {
    SplitTable none;
    EmittedGraph g(function, none);
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
    bool streams = !loops.empty() && streamsStart(value.re, lanes, i);
    isStreamed |= streams;
    loopOver(g.emitter, loops, lanes, [&] {
      Value re = g.emitter.emit(value.re), im = value.im ? g.emitter.emit(value.im) : nullptr;
      g.emitter.streams = streams;
      g.emitter.store(output(i), kind, offset, re, im);
      g.emitter.streams = false;
    });
  }
  return true;
}

// Where an update goes, and whether that is inside.
bool ScatterEmitter::buildTarget(Updates &to) {
  Graph &graph = to.g.graph;
  for (auto [d, size] : llvm::enumerate(updateShape))
    to.update.push_back(to.g.builder.loop(nullptr, d, size, &to.dims));
  Indices scatter, target(operandShape.size(), graph.constant(0));
  for (auto [u, i] : llvm::enumerate(to.update))
    if (!isWindow(u))
      scatter.push_back(i);
  mlir::Value indices = op->getOperand(count);
  int64_t vectorDim = numbers.getIndexVectorDim();
  for (auto [s, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
    Indices at(scatter);
    if (vectorDim < static_cast<int64_t>(shapeOf(indices).size()))
      at.insert(at.begin() + vectorDim, graph.constant(s));
    Node *start = to.g.builder.scalarInteger(indices, at, nullptr);
    if (!start)
      return false;
    target[d] = graph.node(start);
  }
  for (auto [d, i] :
       llvm::zip(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims()))
    target[d] = graph.add(target[d], scatter[i - (i < vectorDim ? 0 : 1)]);
  for (auto [w, d] : llvm::enumerate(windowOperandDims))
    target[d] = graph.add(target[d], to.update[numbers.getUpdateWindowDims()[w]]);
  for (auto [d, size] : llvm::enumerate(operandShape))
    to.inside = graph.logicalAnd(to.inside, graph.inRange(target[d], 0, size));
  to.offset = graph.linearise(target, operandShape);
  return true;
}

// What is there and what comes.
bool ScatterEmitter::buildValues(Updates &to) {
  Graph &graph = to.g.graph;
  if (!to.g.builder.buildReducer(op->getRegion(0).front(), to.reduction))
    return false;
  for (unsigned i = 0; i < count; ++i) {
    Element fresh = to.g.builder.at(op->getOperand(count + 1 + i), to.update);
    if (!fresh)
      return false;
    BufferInfo buffer;
    buffer.position = function.inputCount() + function.kernel.outputOf(op, i);
    buffer.kind = fresh.re->kind;
    graph.buffers.push_back(buffer);
    Index first = fresh.im ? graph.multiply(to.offset, 2) : to.offset;
    to.offsets.push_back(first);
    for (int part = 0; part < (fresh.im ? 2 : 1); ++part) {
      // Read again for each update: earlier ones may have written there.
      Node *node = graph.load(buffer.kind, graph.buffers.size() - 1, graph.addConstant(first, part),
                              nullptr);
      node->local = true;
      to.old.push_back(node);
      to.reduction.inputs.push_back(part ? fresh.im : fresh.re);
    }
  }
  return true;
}

// Of the updates: scatter dimensions outside, the window's inside.
llvm::SmallVector<LoopRange> ScatterEmitter::updateLoops(Updates &from, Value cell) {
  llvm::SmallVector<LoopRange> loops;
  auto addLoop = [&](size_t u) {
    if (updateShape[u] == 1)
      return;
    loops.push_back({from.dims[u]});
    if (static_cast<int>(u) == splitUpdate)
      std::tie(loops.back().low, loops.back().high) =
          chunkRange(from.g.emitter, cell, chunk, updateShape[u]);
  };
  for (size_t u = 0; u < updateShape.size(); ++u)
    if (!isWindow(u))
      addLoop(u);
  for (int64_t u : numbers.getUpdateWindowDims())
    addLoop(u);
  return loops;
}

void ScatterEmitter::emitUpdate(Updates &from, unsigned lanes) {
  Emitter &e = from.g.emitter;
  if (from.inside)
    e.openIf(e.emit(from.inside));
  llvm::SmallVector<Value> before, fresh;
  for (auto [node, input] : llvm::zip(from.old, from.reduction.inputs)) {
    before.push_back(e.evaluate({node}, {})[0]);
    fresh.push_back(e.splat(e.emit(input), lanes));
  }
  llvm::SmallVector<Value> after = e.combine(from.reduction, before, fresh);
  for (unsigned i = 0, part = 0; i < count; ++i) {
    bool isComplex = elementType(op->getResult(i).getType())->complex;
    e.store(output(i), from.old[part]->kind, from.offsets[i], after[part],
            isComplex ? after[part + 1] : nullptr);
    part += isComplex ? 2 : 1;
  }
  if (from.inside)
    e.closeLoop();
}

bool ScatterEmitter::emitUpdates(Value cell, llvm::Instruction *before) {
  SplitTable none;
  Updates updates(function, none);
  if (!buildTarget(updates) || !buildValues(updates))
    return false;
  Emitter &e = updates.g.emitter;
  e.openBody(before);
  llvm::SmallVector<LoopRange> loops = updateLoops(updates, cell);
  std::vector<Node *> values = Graph::reachable(updates.reduction.inputs);
  // The window's last dimension goes by vectors when all of its elements are inside or out
  // together.
  unsigned lanes = 1;
  if (!loops.empty()) {
    unsigned inner = loops.back().dim;
    bool isFree = !updates.inside || !(updates.inside->deps >> inner & 1);
    if (isFree && isWindow(inner) && strideOf(updates.offset, inner) == 1)
      lanes = e.chooseLanes(e.graph.dims[inner].size, values);
  }
  loopOver(e, loops, lanes, [&] { emitUpdate(updates, lanes); });
  return true;
}

bool ScatterEmitter::emitCell(Value cell, llvm::Instruction *before, bool isShared) {
  return (isShared || emitStart(cell, before)) && emitUpdates(cell, before);
}

bool ScatterEmitter::emit() {
  for (unsigned i = 0; i < count; ++i)
    if (function.kernel.outputOf(op, i) < 0) {
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
      count == 1 ? function.kernel.sharedInput(function.kernel.outputOf(op, 0), op->getOperand(0))
                 : -1;
  if (input >= 0)
    function.ifSameBuffer(
        function.buffers[input], output(0), [&] { run(true); }, [&] { run(false); });
  else
    run(false);
  if (isStreamed)
    function.endStreams();
  return ok;
}

bool emitScatter(KernelFunction &function, mlir::Operation *op) {
  return ScatterEmitter(function, mlir::cast<ScatterOp>(op)).emit();
}

} // namespace tessera::codegen
