// select_and_scatter: each source element is added, by `scatter`, to the place in its window that
// `select` prefers. Windows may overlap, so cells split the dimensions in which windows have size
// one.
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/LoopNest.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

namespace {

class SelectAndScatterEmitter {
public:
  SelectAndScatterEmitter(KernelFunction &function, SelectAndScatterOp op, ElementKind kind)
      : function(function), op(op), kind(kind), shape(shapeOf(op->getOperand(0))),
        sourceShape(shapeOf(op->getOperand(1))), window(shape.size(), 1), strides(shape.size(), 1),
        low(shape.size(), 0), out(function.outputBuffer(function.kernel.outputOf(op, 0))) {}
  bool emit();

private:
  // The graph of what a source element's window holds.
  struct Windows {
    Windows(KernelFunction &function, const SplitTable &splits) : g(function, splits) {}
    EmittedGraph g;
    llvm::SmallVector<unsigned> dims, windowDims; // of the source, of a window
    Node *inside = nullptr, *position = nullptr;
    Node *candidate = nullptr, *fresh = nullptr;
    Node *kept = nullptr, *tried = nullptr, *prefers = nullptr; // select and its arguments
    Reduction reduction;
  };
  void readAttributes();
  bool emitStart(Value cell, llvm::Instruction *before);
  bool buildWindows(Windows &to);
  bool emitSelected(Value cell, llvm::Instruction *before);
  Value choosePlace(Windows &from, unsigned lanes);
  void scatter(Windows &from, Value at, unsigned lanes);
  void scatterInTurn(Windows &from, Value at, unsigned lanes);
  void addOne(Windows &from, Value at, Value fresh);
  bool lanesAreApart() const;
  unsigned sourceLanes() const;
  llvm::SmallVector<LoopRange> loopsOf(Emitter &e, llvm::ArrayRef<unsigned> dims,
                                       llvm::ArrayRef<int64_t> sizes, Value cell) const;

  KernelFunction &function;
  SelectAndScatterOp op;
  ElementKind kind;
  llvm::ArrayRef<int64_t> shape, sourceShape;
  llvm::SmallVector<int64_t> window, strides, low;
  Value out;
  int split = -1;                                // the dimension that cells divide
  Value bestSlot = nullptr, placeSlot = nullptr; // the preferred element, and where it is
  Value freshSlot = nullptr;                     // what is added there
};

} // namespace

void SelectAndScatterEmitter::readAttributes() {
  if (auto sizes = op.getWindowDimensions())
    window.assign(sizes->begin(), sizes->end());
  if (auto steps = op.getWindowStrides(); steps && !steps->empty())
    strides.assign(steps->begin(), steps->end());
  if (auto padding = op.getPadding())
    for (auto [i, value] : llvm::enumerate(padding->getValues<int64_t>()))
      if (i % 2 == 0)
        low[i / 2] = value;
  for (size_t d = 0; d < shape.size(); ++d)
    if (window[d] == 1 && strides[d] == 1 && low[d] == 0 && sourceShape[d] == shape[d] &&
        shape[d] > (split < 0 ? 1 : 0) && (split < 0 || shape[split] == 1))
      split = d;
}

// Loops over dimensions of `sizes`, one index of the dimension that cells divide.
llvm::SmallVector<LoopRange> SelectAndScatterEmitter::loopsOf(Emitter &e,
                                                              llvm::ArrayRef<unsigned> dims,
                                                              llvm::ArrayRef<int64_t> sizes,
                                                              Value cell) const {
  llvm::SmallVector<LoopRange> loops;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (sizes[d] == 1)
      continue;
    loops.push_back({dim});
    if (static_cast<int>(d) == split)
      std::tie(loops.back().low, loops.back().high) = chunkRange(e, cell, 1, sizes[d]);
  }
  return loops;
}

// Every place starts from the initial value.
bool SelectAndScatterEmitter::emitStart(Value cell, llvm::Instruction *before) {
  SplitTable none;
  EmittedGraph g(function, none);
  Indices index;
  llvm::SmallVector<unsigned> dims;
  for (auto [d, size] : llvm::enumerate(shape))
    index.push_back(g.builder.loop(nullptr, d, size, &dims));
  Element init = g.builder.at(op->getOperand(2), {});
  if (!init)
    return false;
  g.emitter.openBody(before);
  auto loops = loopsOf(g.emitter, dims, shape, cell);
  bool byVectors =
      !loops.empty() && static_cast<int>(shape.size()) - 1 != split && shape.back() > 1;
  Index offset = g.graph.linearise(index, shape);
  loopOver(g.emitter, loops, byVectors ? 16 : 1,
           [&] { g.emitter.store(out, kind, offset, g.emitter.emit(init.re)); });
  return true;
}

bool SelectAndScatterEmitter::buildWindows(Windows &to) {
  Graph &graph = to.g.graph;
  GraphBuilder &builder = to.g.builder;
  Indices source, place;
  for (auto [d, size] : llvm::enumerate(sourceShape))
    source.push_back(builder.loop(nullptr, d, size, &to.dims));
  for (size_t d = 0; d < shape.size(); ++d) {
    Index at = graph.addConstant(graph.multiply(source[d], strides[d]), -low[d]);
    if (window[d] > 1)
      at = graph.add(at, builder.loop(op, d, window[d], &to.windowDims));
    to.inside = graph.logicalAnd(to.inside, graph.inRange(at, 0, shape[d]));
    place.push_back(at);
  }
  Index offset = graph.linearise(place, shape);
  to.candidate = builder.at(op->getOperand(0), place, to.inside).re;
  to.fresh = builder.at(op->getOperand(1), source).re;
  // select's first argument is the one preferred so far.
  mlir::Block &select = op->getRegion(0).front();
  to.kept = graph.external(kind);
  to.tried = graph.external(kind);
  builder.bindElement(select.getArgument(0), {to.kept});
  builder.bindElement(select.getArgument(1), {to.tried});
  to.prefers = builder.at(select.getTerminator()->getOperand(0), {}).re;
  if (!to.candidate || !to.fresh || !to.prefers ||
      !builder.buildReducer(op->getRegion(1).front(), to.reduction))
    return false;
  to.reduction.inputs.push_back(to.fresh);
  to.position = graph.iota(ElementKind::I64, offset);
  return true;
}

// Whether no two windows along the last dimension have a place in common: of features that lie together.
bool SelectAndScatterEmitter::lanesAreApart() const { return window.back() <= strides.back(); }

unsigned SelectAndScatterEmitter::sourceLanes() const {
  int last = static_cast<int>(shape.size()) - 1;
  if (last < 0 || last == split || sourceShape[last] < 4)
    return 1;
  if (bitWidth(kind) < 8 && !lanesAreApart()) // which lie together in memory
    return 1;
  return std::min<int64_t>(16, llvm::PowerOf2Ceil(sourceShape[last]));
}

// The place in the window that is preferred; -1 where none of it is inside.
Value SelectAndScatterEmitter::choosePlace(Windows &from, unsigned lanes) {
  Emitter &e = from.g.emitter;
  llvm::Type *i64 = e.typeOf(ElementKind::I64, lanes);
  e.b.CreateStore(llvm::Constant::getNullValue(e.typeOf(kind, lanes)), bestSlot);
  e.b.CreateStore(llvm::ConstantInt::getSigned(i64, -1), placeSlot);
  llvm::SmallVector<LoopRange> loops;
  for (unsigned dim : from.windowDims)
    loops.push_back({dim});
  loopOver(e, loops, 1, [&] {
    Value best = e.b.CreateLoad(e.typeOf(kind, lanes), bestSlot);
    Value old = e.b.CreateLoad(i64, placeSlot);
    Value value = e.splat(e.emit(from.candidate), lanes);
    Value at = e.splat(e.emit(from.position), lanes);
    Value keeps =
        e.splat(e.evaluate({from.prefers}, {{from.kept, best}, {from.tried, value}})[0], lanes);
    Value none = e.b.CreateICmpSLT(old, llvm::ConstantInt::getSigned(i64, 0));
    Value takes = e.b.CreateOr(none, e.b.CreateNot(keeps));
    if (from.inside)
      takes = e.b.CreateAnd(takes, e.splat(e.emit(from.inside), lanes));
    e.b.CreateStore(e.b.CreateSelect(takes, value, best), bestSlot);
    e.b.CreateStore(e.b.CreateSelect(takes, at, old), placeSlot);
  });
  return e.b.CreateLoad(i64, placeSlot);
}

void SelectAndScatterEmitter::addOne(Windows &from, Value at, Value fresh) {
  Emitter &e = from.g.emitter;
  llvm::Align align(byteSize(kind));
  e.openIf(e.b.CreateICmpSGE(at, e.i64(0)));
  Value pointer = e.element(out, kind, at);
  llvm::Type *memory = memoryType(kind, e.b.getContext());
  Value old = e.fromMemory(kind, e.b.CreateAlignedLoad(memory, pointer, align));
  Value sum = e.combine(from.reduction, {old}, {fresh})[0];
  e.b.CreateAlignedStore(e.toMemory(kind, sum), pointer, align);
  e.closeLoop();
}

// Windows that overlap may prefer one place: their elements are added one after the other.
void SelectAndScatterEmitter::scatterInTurn(Windows &from, Value at, unsigned lanes) {
  Emitter &e = from.g.emitter;
  if (Value mask = e.vectorLevel()->laneMask)
    at = e.b.CreateSelect(mask, at, llvm::ConstantInt::getSigned(at->getType(), -1));
  Value fresh = e.splat(e.emit(from.fresh), lanes);
  e.b.CreateStore(at, placeSlot);
  e.b.CreateStore(fresh, freshSlot);
  Value lane = e.openLoop(e.i64(0), e.i64(lanes), 1, false);
  auto read = [&](Value slot, llvm::Type *type) {
    return e.b.CreateLoad(type, e.b.CreateInBoundsGEP(type, slot, lane));
  };
  addOne(from, read(placeSlot, e.b.getInt64Ty()), read(freshSlot, e.typeOf(kind, 1)));
  e.closeLoop();
}

// Adds the source's elements where they belong.
void SelectAndScatterEmitter::scatter(Windows &from, Value at, unsigned lanes) {
  Emitter &e = from.g.emitter;
  if (lanes == 1)
    return addOne(from, at, e.emit(from.fresh));
  if (!lanesAreApart())
    return scatterInTurn(from, at, lanes);
  Value exists = e.b.CreateICmpSGE(at, llvm::ConstantInt::getSigned(at->getType(), 0));
  llvm::Type *memory = memoryType(kind, e.b.getContext());
  llvm::Align align(byteSize(kind));
  if (Value mask = e.vectorLevel()->laneMask)
    exists = e.b.CreateAnd(exists, mask);
  Value pointers = e.b.CreateGEP(memory, out, at);
  llvm::Type *wide = llvm::FixedVectorType::get(memory, lanes);
  Value stored =
      e.b.CreateMaskedGather(wide, pointers, align, exists, llvm::Constant::getNullValue(wide));
  Value sum = e.combine(from.reduction, {e.fromMemory(kind, stored)},
                        {e.splat(e.emit(from.fresh), lanes)})[0];
  e.b.CreateMaskedScatter(e.toMemory(kind, sum), pointers, align, exists);
}

bool SelectAndScatterEmitter::emitSelected(Value cell, llvm::Instruction *before) {
  SplitTable none;
  Windows windows(function, none);
  if (!buildWindows(windows))
    return false;
  Emitter &e = windows.g.emitter;
  e.openBody(before);
  unsigned lanes = sourceLanes();
  auto loops = loopsOf(e, windows.dims, sourceShape, cell);
  bestSlot = e.temporary(e.typeOf(kind, lanes));
  placeSlot = e.temporary(e.typeOf(ElementKind::I64, lanes));
  freshSlot = e.temporary(e.typeOf(kind, lanes));
  loopOver(e, loops, lanes, [&] { scatter(windows, choosePlace(windows, lanes), lanes); });
  return true;
}

bool SelectAndScatterEmitter::emit() {
  readAttributes();
  bool ok = true;
  function.forEachCell(split < 0 ? 1 : shape[split], [&](Value cell, llvm::Instruction *before) {
    ok = emitStart(cell, before) && emitSelected(cell, before);
  });
  return ok;
}

bool emitSelectAndScatter(KernelFunction &function, mlir::Operation *operation) {
  auto op = mlir::cast<SelectAndScatterOp>(operation);
  std::optional<ElementType> type = elementType(op->getResult(0).getType());
  if (!type || type->complex) {
    op->emitError("no CPU code for select_and_scatter of this element type");
    return false;
  }
  return SelectAndScatterEmitter(function, op, type->kind).emit();
}

} // namespace tessera::codegen
