// Sums of a window's positions that are held at a time (kernel/WindowSums.h): a cell has some lanes of
// the innermost loop, and goes through the terms once.
#include "passes/codegen/kernel/WindowSums.h"
#include "passes/codegen/cpu/Contraction.h"
#include "passes/codegen/cpu/LoopNest.h"

namespace tessera::codegen {

namespace {

class WindowSumsEmitter {
public:
  WindowSumsEmitter(KernelFunction &function, NestGraph &nest, const WindowSums &sums,
                    Emitter &emitter)
      : function(function), nest(nest), sums(sums), e(emitter), b(e.b),
        type(e.typeOf(sums.product->kind, lanes())) {
    e.live = Graph::reachable(nest.rootNodes());
  }

  void emitCell(Value cell, llvm::Instruction *before);

private:
  unsigned lanes() const {
    return std::min<int64_t>(WindowSums::lanes, llvm::PowerOf2Ceil(sums.nSize));
  }
  llvm::SmallVector<Value> cleared(const char *name) {
    llvm::SmallVector<Value> slots;
    for (int64_t row = 0; row < sums.rowCount; ++row)
      slots.push_back(e.temporary(type, name));
    clear(slots);
    return slots;
  }
  void clear(llvm::ArrayRef<Value> slots) {
    for (Value slot : slots)
      b.CreateStore(llvm::Constant::getNullValue(type), slot);
  }
  void addTerms(llvm::ArrayRef<Value> into);
  void store(llvm::ArrayRef<Value> values);

  KernelFunction &function;
  NestGraph &nest;
  const WindowSums &sums;
  Emitter &e;
  llvm::IRBuilder<> &b;
  llvm::Type *type;
};

} // namespace

// One term of each row.
void WindowSumsEmitter::addTerms(llvm::ArrayRef<Value> into) {
  Value right = e.splat(e.emit(sums.b), lanes());
  for (auto [row, slot] : llvm::enumerate(into)) {
    e.openBlock();
    e.bindLoop(sums.rows, e.i64(int64_t(row)));
    Value left = e.splat(e.emit(sums.a), lanes()), old = b.CreateLoad(type, slot);
    b.CreateStore(b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {left, right, old}), slot);
    e.closeBlock();
  }
}

void WindowSumsEmitter::store(llvm::ArrayRef<Value> values) {
  for (auto [row, slot] : llvm::enumerate(values)) {
    e.openBlock();
    e.bindLoop(sums.rows, e.i64(int64_t(row)));
    e.levels.back().values[sums.product] = b.CreateLoad(type, slot);
    llvm::SmallVector<Value> results;
    for (const Root &root : nest.roots)
      results.push_back(e.emit(root.value.re));
    for (auto [root, value] : llvm::zip(nest.roots, results))
      e.store(function.outputBuffer(root.output), root.kind, root.offset, value);
    e.closeBlock();
  }
}

void WindowSumsEmitter::emitCell(Value cell, llvm::Instruction *before) {
  e.openBody(before);
  int64_t chunks = llvm::divideCeil(sums.nSize, lanes());
  Value rest = cell, low = b.CreateNSWMul(takeDigit(e, rest, chunks), e.i64(lanes()));
  e.openBlock();
  for (const LoopGroup &group : llvm::reverse(sums.outer))
    e.bindLevel(group.back(), setOf(group),
                takeDigit(e, rest, boundsOf(nest.g->graph, group).second), 1, nullptr);
  e.openBlock();
  Value mask = nullptr;
  if (sums.nSize % lanes()) {
    llvm::Type *index = llvm::FixedVectorType::get(b.getInt64Ty(), lanes());
    mask = b.CreateICmpULT(b.CreateStepVector(index),
                           e.splat(b.CreateNSWSub(e.i64(sums.nSize), low), lanes()));
  }
  e.bindLevel(sums.n.back(), setOf(sums.n), low, lanes(), mask);
  const Reduction &reduction = *sums.product->reduction;
  llvm::SmallVector<Value> whole = cleared("sum"), parts = cleared("part");
  auto [first, last] = e.openBlocks(reduction);
  clear(parts);
  e.overRuns(reduction.dims, first, last, [&] { addTerms(parts); });
  for (auto [sum, part] : llvm::zip(whole, parts))
    b.CreateStore(b.CreateFAdd(b.CreateLoad(type, sum), b.CreateLoad(type, part)), sum);
  e.closeLoop();
  e.resumeInsertion();
  store(whole);
  e.closeBlock();
  e.closeBlock();
}

bool emitWindowSums(KernelFunction &function, NestGraph &nest) {
  std::optional<WindowSums> sums = findWindowSums(nest);
  if (!sums || (sums->product->reduction->isOfBf16 && function.features.bf16Tiles))
    return false;
  function.forEachCell(sums->cells(), [&](Value cell, llvm::Instruction *before) {
    Emitter emitter = function.emitter(nest.g->graph);
    WindowSumsEmitter(function, nest, *sums, emitter).emitCell(cell, before);
  });
  return true;
}

} // namespace tessera::codegen
