// sort: each row along the dimension is sorted in the scratch, stably: by keys where the comparator
// orders by one number (KeyedSort.h), else merged, by the comparator inline.
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/KeyedSort.h"
#include "passes/codegen/cpu/LoopNest.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;
using Indices = llvm::SmallVector<Index, 6>;

namespace {

// One number of each element: an operand, or half of a complex one. Rows lie at two places in the
// scratch in turn.
struct Column {
  ElementKind kind;
  Node *value; // what is sorted, at the loops' index
  Node *left, *right;
  int64_t scratch[2];
};

struct RowSorter {
  Emitter &e;
  llvm::ArrayRef<Column> columns;
  Node *comparator;
  int64_t size;

  Value slot(const Column &column, Value second, Value index) {
    Value place = second
                      ? e.b.CreateSelect(second, e.i64(column.scratch[1]), e.i64(column.scratch[0]))
                      : e.i64(column.scratch[0]);
    return e.element(e.b.CreateGEP(e.b.getInt8Ty(), e.scratch, place), column.kind, index);
  }
  Value read(const Column &column, Value second, Value index) {
    llvm::Type *type = memoryType(column.kind, e.b.getContext());
    return e.fromMemory(column.kind, e.b.CreateLoad(type, slot(column, second, index)));
  }
  // Merges runs of 1, 2, 4, .. until one is left; the place of the result is returned.
  int sort();
  void mergeStep(Value from, Value to, Value leftSlot, Value rightSlot, Value middle, Value high,
                 Value k);
};

} // namespace

// The next of two sorted runs goes to position k: the left one's, unless the right one's comes
// before it.
void RowSorter::mergeStep(Value from, Value to, Value leftSlot, Value rightSlot, Value middle,
                          Value high, Value k) {
  auto &b = e.b;
  Value i = b.CreateLoad(b.getInt64Ty(), leftSlot), j = b.CreateLoad(b.getInt64Ty(), rightSlot);
  Value last = e.i64(size - 1);
  Value iRead = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, last);
  Value jRead = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, j, last);
  llvm::SmallVector<std::pair<Node *, Value>> given;
  llvm::SmallVector<Value> left, right;
  for (const Column &column : columns) {
    left.push_back(read(column, from, iRead));
    right.push_back(read(column, from, jRead));
    // Is the right one less? Equal ones keep their order.
    given.push_back({column.left, right.back()});
    given.push_back({column.right, left.back()});
  }
  Value rightIsLess = e.evaluate({comparator}, given)[0];
  Value leftIsDone = b.CreateICmpSGE(i, middle), rightIsLeft = b.CreateICmpSLT(j, high);
  Value takesRight = b.CreateOr(leftIsDone, b.CreateAnd(rightIsLeft, rightIsLess));
  for (auto [column, l, r] : llvm::zip(columns, left, right))
    b.CreateStore(e.toMemory(column.kind, b.CreateSelect(takesRight, r, l)), slot(column, to, k));
  Value step = b.CreateZExt(takesRight, b.getInt64Ty());
  b.CreateStore(b.CreateAdd(j, step), rightSlot);
  b.CreateStore(b.CreateAdd(i, b.CreateSub(e.i64(1), step)), leftSlot);
}

int RowSorter::sort() {
  auto &b = e.b;
  int passes = llvm::Log2_64_Ceil(size);
  if (passes == 0)
    return 0;
  Value leftSlot = e.temporary(b.getInt64Ty()), rightSlot = e.temporary(b.getInt64Ty());
  Value pass = e.openLoop(e.i64(0), e.i64(passes), 1, false);
  Value width = b.CreateShl(e.i64(1), pass), twice = b.CreateShl(e.i64(2), pass);
  Value from = b.CreateTrunc(pass, b.getInt1Ty()), to = b.CreateNot(from);
  Value count = b.CreateUDiv(b.CreateAdd(e.i64(size - 1), twice), twice);
  Value number = e.openLoop(e.i64(0), count, 1, false);
  Value start = b.CreateMul(number, twice), n = e.i64(size);
  auto clamped = [&](Value x) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, n); };
  Value middle = clamped(b.CreateAdd(start, width)), high = clamped(b.CreateAdd(start, twice));
  b.CreateStore(start, leftSlot);
  b.CreateStore(middle, rightSlot);
  Value k = e.openLoop(start, high, 1, false);
  mergeStep(from, to, leftSlot, rightSlot, middle, high, k);
  e.closeLoop();
  e.closeLoop();
  e.closeLoop();
  return passes % 2;
}

namespace {

// A sort's rows, and the loops over them that cells divide.
class SortEmitter {
public:
  SortEmitter(KernelFunction &function, SortOp op)
      : function(function), op(op),
        shape(mlir::cast<mlir::ShapedType>(op->getOperand(0).getType()).getShape()),
        dimension(sortedDimensionOf(op)), size(shape[dimension]) {
    kept = sortedRowsOf(function.kernel, op);
    order = sortOrderOf(op);
  }
  bool emit();

private:
  void divide(int64_t rows);
  bool buildColumns(EmittedGraph &g, llvm::ArrayRef<Index> index);
  bool emitCell(Value cell, llvm::Instruction *before);
  bool emitMerged(EmittedGraph &g, llvm::ArrayRef<Index> index, llvm::ArrayRef<LoopRange> loops,
                  unsigned along);
  void writeRow(EmittedGraph &g, RowSorter &sorter, Value second, Index position, Index offset);

  KernelFunction &function;
  SortOp op;
  llvm::ArrayRef<int64_t> shape;
  int64_t dimension, size;
  int64_t kept; // the first rows that are wanted
  std::optional<SortOrder> order;
  int split = -1; // the dimension that cells divide
  int64_t chunk = 1, cells = 1;
  llvm::SmallVector<Column> columns;
};

} // namespace

void SortEmitter::divide(int64_t rows) {
  for (int64_t d = 0, rank = shape.size(); d < rank; ++d)
    if (d != dimension && (split < 0 || shape[d] > shape[split]))
      split = d;
  if (split < 0)
    return;
  int64_t steps = rows * size * (1 + llvm::Log2_64_Ceil(size));
  int64_t most = std::max<int64_t>(1, shape[split] / function.features.leastCells);
  chunk = std::clamp<int64_t>(shape[split] * 8192 / steps, 1, most);
  cells = llvm::divideCeil(shape[split], chunk);
}

// The operands as columns, and the comparator's arguments bound to theirs.
bool SortEmitter::buildColumns(EmittedGraph &g, llvm::ArrayRef<Index> index) {
  mlir::Block &body = op->getRegion(0).front();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Element value = g.builder.at(op->getOperand(i), index);
    if (!value)
      return false;
    Element sides[2];
    for (int side = 0; side < 2; ++side) {
      sides[side].re = g.graph.external(value.re->kind);
      if (value.im)
        sides[side].im = g.graph.external(value.im->kind);
      g.builder.bindElement(body.getArgument(2 * i + side), sides[side]);
    }
    auto add = [&](Node *node, Node *left, Node *right) {
      int64_t bytes = size * byteSize(node->kind);
      int64_t first = function.reserveScratch(bytes), second = function.reserveScratch(bytes);
      columns.push_back({node->kind, node, left, right, {first, second}});
    };
    add(value.re, sides[0].re, sides[1].re);
    if (value.im)
      add(value.im, sides[0].im, sides[1].im);
  }
  return true;
}

// A sorted row from the scratch to the outputs that take it.
void SortEmitter::writeRow(EmittedGraph &g, RowSorter &sorter, Value second, Index position,
                           Index offset) {
  Value at = g.emitter.emitIndex(position);
  unsigned next = 0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    bool isComplex = elementType(op->getOperand(i).getType())->complex;
    const Column &column = columns[next++];
    Value re = sorter.read(column, second, at);
    Value im = isComplex ? sorter.read(columns[next++], second, at) : nullptr;
    int output = sortOutputOf(function.kernel, op, i);
    if (output >= 0)
      g.emitter.store(function.outputBuffer(output), column.kind,
                      isComplex ? g.graph.multiply(offset, 2) : offset, re, im);
  }
}

bool SortEmitter::emitCell(Value cell, llvm::Instruction *before) {
  SplitTable none;
  EmittedGraph g(function, none);
  Indices index;
  llvm::SmallVector<unsigned> dims;
  for (auto [d, n] : llvm::enumerate(shape))
    index.push_back(g.builder.loop(nullptr, d, n, &dims));
  std::optional<KeyedSort> keyed;
  if (order) {
    keyed.emplace(function, g, op, *order, index, dimension, kept);
    if (!keyed->build())
      return false;
  }
  Emitter &e = g.emitter;
  e.openBody(before);
  llvm::SmallVector<LoopRange> loops;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (shape[d] == 1 || static_cast<int64_t>(d) == dimension)
      continue;
    loops.push_back({dim});
    if (static_cast<int>(d) == split)
      std::tie(loops.back().low, loops.back().high) = chunkRange(e, cell, chunk, shape[d]);
  }
  if (!keyed)
    return emitMerged(g, index, loops, dims[dimension]);
  loopOver(e, loops, 1, [&] { keyed->emitRow(dims[dimension]); });
  return true;
}

bool SortEmitter::emitMerged(EmittedGraph &g, llvm::ArrayRef<Index> index,
                             llvm::ArrayRef<LoopRange> loops, unsigned along) {
  if (!buildColumns(g, index))
    return false;
  Element comparator = g.builder.at(op->getRegion(0).front().getTerminator()->getOperand(0), {});
  if (!comparator)
    return false;
  Emitter &e = g.emitter;
  RowSorter sorter{e, columns, comparator.re, size};
  unsigned outDim = g.graph.addDim(kept);
  e.variables.resize(g.graph.dims.size());
  Indices to(index);
  to[dimension] = g.graph.dim(outDim);
  llvm::SmallVector<int64_t> outShape(shape);
  outShape[dimension] = kept;
  Index position = index[dimension], offset = g.graph.linearise(to, outShape);
  loopOver(e, loops, 1, [&] {
    loopOver(e, {{along}}, 1, [&] {
      for (const Column &column : columns)
        e.b.CreateStore(e.toMemory(column.kind, e.emit(column.value)),
                        sorter.slot(column, nullptr, e.emitIndex(position)));
    });
    Value second = e.b.getInt1(sorter.sort());
    loopOver(e, {{outDim}}, 1, [&] { writeRow(g, sorter, second, to[dimension], offset); });
  });
  return true;
}

bool SortEmitter::emit() {
  int64_t rows = 1;
  for (auto [d, n] : llvm::enumerate(shape))
    rows *= static_cast<int64_t>(d) == dimension ? 1 : n;
  if (rows * size == 0)
    return true;
  divide(rows);
  bool ok = true;
  function.forEachCell(cells,
                       [&](Value cell, llvm::Instruction *before) { ok = emitCell(cell, before); });
  return ok;
}

bool emitSort(KernelFunction &function, mlir::Operation *operation) {
  return SortEmitter(function, mlir::cast<SortOp>(operation)).emit();
}

} // namespace tessera::codegen
