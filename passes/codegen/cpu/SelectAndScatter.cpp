// select_and_scatter: each source element is added, by `scatter`, to the place in its window that
// `select` prefers. Windows may overlap, so cells split the dimensions in which windows have size
// one.
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

bool emitSelectAndScatter(KernelFunction &function, mlir::Operation *operation) {
  auto op = mlir::cast<SelectAndScatterOp>(operation);
  auto shape = shapeOf(op->getOperand(0)), sourceShape = shapeOf(op->getOperand(1));
  size_t rank = shape.size();
  std::optional<ElementType> type = elementType(op->getResult(0).getType());
  if (!type || type->complex) {
    op->emitError("no CPU code for select_and_scatter of this element type");
    return false;
  }
  llvm::SmallVector<int64_t> window(rank, 1), strides(rank, 1), low(rank, 0);
  if (auto sizes = op.getWindowDimensions())
    window.assign(sizes->begin(), sizes->end());
  if (auto steps = op.getWindowStrides(); steps && !steps->empty())
    strides.assign(steps->begin(), steps->end());
  if (auto padding = op.getPadding())
    for (auto [i, value] : llvm::enumerate(padding->getValues<int64_t>()))
      if (i % 2 == 0)
        low[i / 2] = value;
  int split = -1;
  for (size_t d = 0; d < rank; ++d)
    if (window[d] == 1 && strides[d] == 1 && low[d] == 0 && sourceShape[d] == shape[d] &&
        shape[d] > (split < 0 ? 1 : 0) && (split < 0 || shape[split] == 1))
      split = d;
  int64_t cells = split < 0 ? 1 : shape[split];
  Value out = function.buffers[function.inputCount() + outputOf(function, op, 0)];
  bool ok = true;

  function.forEachCell(cells, [&](Value cell, llvm::Instruction *before) {
    SplitTable none;
    { // Every place starts from the initial value.
      KernelGraph g(function, none);
      Indices index;
      llvm::SmallVector<LoopRange> loops;
      llvm::SmallVector<unsigned> dims;
      for (auto [d, size] : llvm::enumerate(shape))
        index.push_back(g.builder.loop(nullptr, d, size, &dims));
      Element init = g.builder.at(op->getOperand(2), {});
      ok = ok && init;
      if (!ok)
        return;
      g.emitter.openBody(before);
      for (auto [d, dim] : llvm::enumerate(dims)) {
        if (shape[d] == 1)
          continue;
        loops.push_back({dim});
        if (static_cast<int>(d) == split)
          std::tie(loops.back().low, loops.back().high) = chunkRange(g.emitter, cell, 1, shape[d]);
      }
      bool byVectors = !loops.empty() && static_cast<int>(rank) - 1 != split && shape.back() > 1;
      Index offset = g.graph.linearise(index, shape);
      loopOver(g.emitter, loops, byVectors ? 16 : 1,
               [&] { g.emitter.store(out, type->kind, offset, g.emitter.emit(init.re)); });
    }
    KernelGraph g(function, none);
    Graph &graph = g.graph;
    Indices source, place;
    llvm::SmallVector<unsigned> dims, windowDims;
    Node *inside = nullptr;
    for (auto [d, size] : llvm::enumerate(sourceShape))
      source.push_back(g.builder.loop(nullptr, d, size, &dims));
    for (size_t d = 0; d < rank; ++d) {
      Index at = graph.addConstant(graph.multiply(source[d], strides[d]), -low[d]);
      if (window[d] > 1)
        at = graph.add(at, g.builder.loop(op, d, window[d], &windowDims));
      inside = graph.logicalAnd(inside, graph.inRange(at, 0, shape[d]));
      place.push_back(at);
    }
    Index offset = graph.linearise(place, shape);
    Element candidate = g.builder.at(op->getOperand(0), place, inside);
    Element fresh = g.builder.at(op->getOperand(1), source);
    // select's first argument is the one preferred so far.
    mlir::Block &select = op->getRegion(0).front();
    Node *kept = graph.external(type->kind), *tried = graph.external(type->kind);
    g.builder.bindElement(select.getArgument(0), {kept});
    g.builder.bindElement(select.getArgument(1), {tried});
    Element prefers = g.builder.at(select.getTerminator()->getOperand(0), {});
    Reduction reduction;
    ok = ok && candidate && fresh && prefers &&
         g.builder.buildReducer(op->getRegion(1).front(), reduction);
    if (!ok)
      return;
    reduction.inputs.push_back(fresh.re);
    Node *position = graph.iota(ElementKind::I64, offset);

    Emitter &e = g.emitter;
    e.openBody(before);
    // All features of a place go together when they lie together.
    unsigned lanes = 1;
    int last = static_cast<int>(rank) - 1;
    if (last >= 0 && window[last] == 1 && strides[last] == 1 && low[last] == 0 && last != split &&
        sourceShape[last] >= 4)
      lanes = std::min<int64_t>(16, llvm::PowerOf2Ceil(sourceShape[last]));
    llvm::SmallVector<LoopRange> loops;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (sourceShape[d] == 1)
        continue;
      loops.push_back({dim});
      if (static_cast<int>(d) == split)
        std::tie(loops.back().low, loops.back().high) = chunkRange(e, cell, 1, sourceShape[d]);
    }
    Value bestSlot = e.temporary(e.typeOf(type->kind, lanes));
    Value placeSlot = e.temporary(e.typeOf(ElementKind::I64, lanes));
    loopOver(e, loops, lanes, [&] {
      llvm::Type *i64 = e.typeOf(ElementKind::I64, lanes);
      e.b.CreateStore(llvm::Constant::getNullValue(e.typeOf(type->kind, lanes)), bestSlot);
      e.b.CreateStore(llvm::ConstantInt::getSigned(i64, -1), placeSlot);
      llvm::SmallVector<LoopRange> windowLoops;
      for (unsigned dim : windowDims)
        windowLoops.push_back({dim});
      loopOver(e, windowLoops, 1, [&] {
        Value best = e.b.CreateLoad(e.typeOf(type->kind, lanes), bestSlot);
        Value old = e.b.CreateLoad(i64, placeSlot);
        Value value = e.splat(e.emit(candidate.re), lanes), at = e.splat(e.emit(position), lanes);
        Value keeps = e.splat(e.evaluate({prefers.re}, {{kept, best}, {tried, value}})[0], lanes);
        Value none = e.b.CreateICmpSLT(old, llvm::ConstantInt::getSigned(i64, 0));
        Value takes = e.b.CreateOr(none, e.b.CreateNot(keeps));
        if (inside)
          takes = e.b.CreateAnd(takes, e.splat(e.emit(inside), lanes));
        e.b.CreateStore(e.b.CreateSelect(takes, value, best), bestSlot);
        e.b.CreateStore(e.b.CreateSelect(takes, at, old), placeSlot);
      });
      Value at = e.b.CreateLoad(i64, placeSlot);
      Value exists = e.b.CreateICmpSGE(at, llvm::ConstantInt::getSigned(i64, 0));
      llvm::Type *memory = memoryType(type->kind, e.b.getContext());
      llvm::Align align(byteSize(type->kind));
      if (lanes == 1) {
        e.openIf(exists);
        Value pointer = e.element(out, type->kind, at);
        Value old = e.fromMemory(type->kind, e.b.CreateAlignedLoad(memory, pointer, align));
        Value sum = e.combine(reduction, {old}, {e.emit(fresh.re)})[0];
        e.b.CreateAlignedStore(e.toMemory(type->kind, sum), pointer, align);
        e.closeLoop();
        return;
      }
      if (Value mask = e.vectorLevel()->laneMask)
        exists = e.b.CreateAnd(exists, mask);
      Value pointers = e.b.CreateGEP(memory, out, at);
      llvm::Type *wide = llvm::FixedVectorType::get(memory, lanes);
      Value stored =
          e.b.CreateMaskedGather(wide, pointers, align, exists, llvm::Constant::getNullValue(wide));
      Value sum = e.combine(reduction, {e.fromMemory(type->kind, stored)},
                            {e.splat(e.emit(fresh.re), lanes)})[0];
      e.b.CreateMaskedScatter(e.toMemory(type->kind, sum), pointers, align, exists);
    });
  });
  return ok;
}

} // namespace tessera::codegen
