// The order is that of columns in OrderedSums.cpp, with a row of sums where that has a register:
//
//   for each four of a part's rows:   for each row:   the nest's results, fours[c] += term[c]
//                                     sums[c] += fours[c]
//
// so each element is read once, where the nest reads it anyhow. What a row of sums has first is stored,
// not added to zeros: the sum of the parts starts from a zero.
#include "passes/codegen/cpu/PartSums.h"

#include "passes/codegen/cpu/SumSlots.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// Rows of sums end with whole vectors.
static constexpr int64_t kPadded = 64;

PartSums::PartSums(KernelFunction &function, const NestGraph &nest, Emitter &e)
    : function(function), nest(nest), sums(*nest.sums), e(e), b(e.b) {
  for (const Root &root : nest.roots)
    if (root.isPart)
      roots.push_back(&root);
  for (unsigned dim = 0; dim < sums.outer; ++dim)
    if (sums.window[dim] > 1)
      summed.push_back(dim);
}

PartSums::Sums PartSums::makeSums() {
  Sums made;
  int64_t columns = llvm::alignTo(sums.columns(), kPadded);
  for (const Root *root : roots) {
    BufferInfo buffer;
    buffer.source = BufferInfo::Scratch;
    buffer.kind = root->kind;
    buffer.elements = columns;
    buffer.position = function.reserveScratch(columns * byteSize(root->kind));
    made.buffers.push_back(static_cast<int>(e.graph.buffers.size()));
    e.graph.buffers.push_back(buffer);
  }
  made.first = b.getTrue();
  return made;
}

void PartSums::add(const Root &root, Value value) {
  size_t number = llvm::find(roots, &root) - roots.begin();
  int buffer = current.buffers[number];
  Value before = e.emit(e.graph.load(root.kind, buffer, root.offset, nullptr));
  Value sum = e.arithmetic(Op::Add, root.kind, {before, e.splat(value, e.lanes())});
  e.store(e.bufferPointer(buffer), root.kind, root.offset,
          b.CreateSelect(current.first, e.splat(value, e.lanes()), sum));
}

void PartSums::overColumns(int64_t columns, ElementKind kind,
                           llvm::function_ref<void(Value, llvm::Type *, Value)> body) {
  int64_t lanes = std::max<int64_t>(e.features.bytes / byteSize(kind), 4);
  int64_t whole = columns / lanes * lanes;
  llvm::Type *type = e.typeOf(kind, lanes);
  if (whole) {
    body(e.openLoop(e.i64(0), e.i64(whole), lanes, /*mayBeEmpty=*/false), type, nullptr);
    e.closeLoop();
  }
  if (whole == columns)
    return;
  llvm::SmallVector<llvm::Constant *> exists;
  for (int64_t lane = 0; lane < lanes; ++lane)
    exists.push_back(b.getInt1(whole + lane < columns));
  e.openBlock();
  body(e.i64(whole), type, llvm::ConstantVector::get(exists));
  e.closeBlock();
}

void PartSums::addSums(const Sums &into, const Sums &from) {
  for (auto [i, root] : llvm::enumerate(roots)) {
    Value to = e.bufferPointer(into.buffers[i]), other = e.bufferPointer(from.buffers[i]);
    llvm::Align align(byteSize(root->kind));
    overColumns(llvm::alignTo(sums.columns(), kPadded), root->kind,
                [&](Value at, llvm::Type *type, Value) {
                  Value place = e.element(to, root->kind, at);
                  Value term = b.CreateAlignedLoad(type, e.element(other, root->kind, at), align);
                  Value before = b.CreateAlignedLoad(type, place, align);
                  Value sum = e.arithmetic(Op::Add, root->kind, {before, term});
                  b.CreateAlignedStore(b.CreateSelect(into.first, term, sum), place, align);
                });
  }
}

void PartSums::addTerms(size_t depth, Value low, Value high, const Sums &into) {
  Value at = e.openLoop(low, high, 1, /*mayBeEmpty=*/false);
  e.bindLoop(nest.dims[summed[depth]], at);
  Sums to = into;
  to.first = b.CreateAnd(into.first, b.CreateICmpEQ(at, low));
  if (depth + 1 == summed.size()) {
    current = to;
    emitRow();
  } else {
    Sums inner = makeSums();
    int64_t size = sums.shape[summed[depth + 1]];
    addLoop(depth + 1, e.i64(0), e.i64(size), size, inner);
    addSums(to, inner);
  }
  e.closeLoop();
}

// `low` and `high` number fours; the loop's own end is `end`.
void PartSums::addFours(size_t depth, Value low, Value high, int64_t most, Value end,
                        const Sums &into) {
  int64_t block = blockOfSixteens(most);
  Value start = e.openLoop(low, high, block, /*mayBeEmpty=*/false);
  Sums part = makeSums(), to = into;
  to.first = b.CreateAnd(into.first, b.CreateICmpEQ(start, low));
  if (block == 1) {
    Value from = b.CreateShl(start, 2);
    addTerms(depth, from,
             b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(from, e.i64(4)), end),
             part);
  } else {
    Value last =
        b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(start, e.i64(block)), high);
    addFours(depth, start, last, block, end, part);
  }
  addSums(to, part);
  e.closeLoop();
}

// The sum of [low, high), of which there are `most`; it begins with a four.
void PartSums::addLoop(size_t depth, Value low, Value high, int64_t most, const Sums &into) {
  if (most <= 4)
    return addTerms(depth, low, high, into);
  Value first = b.CreateLShr(low, 2), last = b.CreateLShr(b.CreateNSWAdd(high, e.i64(3)), 2);
  addFours(depth, first, last, llvm::divideCeil(most, 4), high, into);
}

void PartSums::writePart(const Sums &made) {
  // The part's number, as its array has them.
  Value number = e.i64(0);
  for (unsigned dim = 0; dim < sums.outer; ++dim) {
    int64_t parts = llvm::divideCeil(sums.shape[dim], sums.window[dim]);
    if (parts == 1)
      continue;
    Value at = sums.window[dim] == 1 ? e.variables[nest.dims[dim]]
                                     : b.CreateUDiv(range.first, e.i64(sums.window[dim]));
    number = b.CreateNSWAdd(b.CreateNSWMul(number, e.i64(parts)), at);
  }
  Value offset = b.CreateNSWMul(number, e.i64(sums.columns()));
  for (auto [i, root] : llvm::enumerate(roots)) {
    Value from = e.bufferPointer(made.buffers[i]);
    Value to = e.element(function.outputBuffer(root->output), root->kind, offset);
    llvm::Align align(byteSize(root->kind));
    overColumns(sums.columns(), root->kind, [&](Value at, llvm::Type *type, Value mask) {
      Value value = b.CreateAlignedLoad(type, e.element(from, root->kind, at), align);
      Value place = e.element(to, root->kind, at);
      if (mask)
        b.CreateMaskedStore(value, place, align, mask);
      else
        b.CreateAlignedStore(value, place, align);
    });
  }
}

void PartSums::emitPart() {
  Sums made = makeSums();
  unsigned first = summed.front();
  bool isDivided = sums.divided() == first;
  Value low = isDivided ? range.first : e.i64(0);
  Value high = isDivided ? range.second : e.i64(sums.shape[first]);
  addLoop(0, low, high, sums.window[first], made);
  writePart(made);
}

void PartSums::emit(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low,
                    Value high, llvm::function_ref<void()> row) {
  emitRow = row;
  if (loops.empty())
    return emitPart();
  const GridLoop &loop = loops.front();
  bool isChunked = chunked == loop.dim;
  Value from = isChunked ? low : e.i64(0), to = isChunked ? high : e.i64(loop.size);
  Value at = e.openLoop(from, to, loop.step, isChunked);
  if (loop.step == 1) {
    e.bindLoop(loop.dim, at);
  } else {
    Value last = b.CreateNSWAdd(at, e.i64(loop.step));
    range = {at, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, to)};
  }
  emit(loops.drop_front(), chunked, low, high, row);
  e.closeLoop();
}

} // namespace tessera::codegen
