// The order is that of columns in OrderedSums.cpp, with a row of sums where that has a register:
//
//   for each four of a part's rows:   for each row:   the nest's results, fours[c] += term[c]
//                                     sums[c] += fours[c]
//
// so each element is read once, where the nest reads it anyhow. What a row of sums has first is stored,
// not added to zeros: the sum of the parts starts from a zero. Where rows need not be taken one after
// the other, columns are taken by vectors instead, and what is of columns alone is read once for four rows:
//
//   for each four of a part's rows:   for each vector c:   four = -0
//                                                          for each row:   the results, four += term[c]
//                                                          sums[c] += four
//
// Adding to -0 leaves each number as it is.
#include "passes/codegen/cpu/PartSums.h"

#include "passes/codegen/cpu/SumSlots.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

// Rows of sums end with whole vectors.
static constexpr int64_t kPadded = 64;

bool PartSums::canTakeFours(const NestGraph &nest, const LoopGroup &columns,
                            llvm::ArrayRef<Node *> live) {
  // Longer ones are streams of their own, and what is written past the caches goes row by row.
  constexpr int64_t mostOfRow = 2 << 10;
  DimSet rows = 0;
  for (unsigned dim = 0; dim < nest.sums->outer; ++dim)
    rows |= DimSet(1) << nest.dims[dim];
  llvm::SmallDenseSet<int> arrays;
  for (Node *node : live) {
    bool isOfRows = (node->deps & rows) && !(node->deps & setOf(columns));
    bool isDear = isOfRows && (node->op == Op::Div || isFunction(node->op));
    if (isDear || node->op == Op::Reduced || node->op == Op::Keep)
      return false;
    if (node->op == Op::Load && (node->deps & rows))
      arrays.insert(node->buffer());
  }
  // Of as many arrays as sums, memory takes longer than the rows of sums.
  return nest.roots.size() > arrays.size() && llvm::all_of(nest.roots, [&](const Root &root) {
           int64_t bytes = byteSize(root.kind);
           return root.isPart && !root.value.im && bytes >= 4 &&
                  nest.sums->columns() * bytes <= mostOfRow;
         });
}

PartSums::PartSums(KernelFunction &function, const NestGraph &nest, Emitter &e, bool takesFours)
    : function(function), nest(nest), sums(*nest.sums), e(e), b(e.b), inRegisters(takesFours) {
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

// What is in `buffer` at the nest's columns, with `term` added.
Value PartSums::sumOf(const Root &root, int buffer, Value first, Value term) {
  Value before = e.emit(e.graph.load(root.kind, buffer, root.offset, nullptr));
  return b.CreateSelect(first, term, e.arithmetic(Op::Add, root.kind, {before, term}));
}

void PartSums::add(const Root &root, Value value) {
  size_t number = llvm::find(roots, &root) - roots.begin();
  Value term = e.splat(value, e.lanes());
  if (inRegisters) {
    Value before = b.CreateLoad(term->getType(), registers[number]);
    b.CreateStore(e.arithmetic(Op::Add, root.kind, {before, term}), registers[number]);
    return;
  }
  int buffer = current.buffers[number];
  e.store(e.bufferPointer(buffer), root.kind, root.offset,
          sumOf(root, buffer, current.first, term));
}

void PartSums::overRows(llvm::function_ref<void()> body) {
  registers.clear();
  for (const Root *root : roots) {
    llvm::Type *type = e.typeOf(root->kind, e.lanes());
    registers.push_back(e.temporary(type, "four"));
    b.CreateStore(isFloat(root->kind) ? llvm::ConstantFP::getNegativeZero(type)
                                      : llvm::Constant::getNullValue(type),
                  registers.back());
  }
  e.bindLoop(nest.dims[summed.back()], e.openLoop(four.first, four.second, 1, false));
  body();
  e.closeLoop();
  for (auto [i, root] : llvm::enumerate(roots)) {
    Value sum = b.CreateLoad(e.typeOf(root->kind, e.lanes()), registers[i]);
    e.store(e.bufferPointer(current.buffers[i]), root->kind, root->offset,
            sumOf(*root, current.buffers[i], current.first, sum));
  }
}

unsigned PartSums::lanesOfFours(unsigned lanes) const {
  // A quarter of them: the rest is for what is of columns, terms, and what these are made of.
  int64_t mostBytes = (e.features.masks ? 32 : 16) / 4 * e.features.bytes, bytes = 0;
  for (const Root *root : roots)
    bytes += byteSize(root->kind);
  while (lanes * bytes > mostBytes && lanes * byteSize(roots[0]->kind) > e.features.bytes)
    lanes /= 2;
  return lanes;
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

// The same of the innermost rows, four at most: the nest goes along them by itself.
void PartSums::addRows(Value low, Value high, const Sums &into) {
  four = {low, high};
  current = into;
  emitRow();
}

// `low` and `high` number fours; the loop's own end is `end`.
void PartSums::addFours(size_t depth, Value low, Value high, int64_t most, Value end,
                        const Sums &into) {
  int64_t block = blockOfSixteens(most);
  Value start = e.openLoop(low, high, block, /*mayBeEmpty=*/false);
  Sums to = into;
  to.first = b.CreateAnd(into.first, b.CreateICmpEQ(start, low));
  auto atMost = [&](Value value, Value limit) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, limit);
  };
  Value from = b.CreateShl(start, 2), after = atMost(b.CreateNSWAdd(from, e.i64(4)), end);
  if (block == 1 && isOfRegisters(depth)) {
    addRows(from, after, to);
  } else {
    Sums part = makeSums();
    if (block == 1)
      addTerms(depth, from, after, part);
    else
      addFours(depth, start, atMost(b.CreateNSWAdd(start, e.i64(block)), high), block, end, part);
    addSums(to, part);
  }
  e.closeLoop();
}

// The sum of [low, high), of which there are `most`; it begins with a four.
void PartSums::addLoop(size_t depth, Value low, Value high, int64_t most, const Sums &into) {
  if (most <= 4)
    return isOfRegisters(depth) ? addRows(low, high, into) : addTerms(depth, low, high, into);
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
