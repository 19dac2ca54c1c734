#include "passes/codegen/gpu/ProductEmitter.h"

#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/NestGraph.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

ProductEmitter::ProductEmitter(EntryFunction &function, NestGraph &nest, const ProductLoops &loops,
                               Multiplier multiplier, const SliceLayout &layout)
    : function(function), nest(nest), loops(loops), graph(nest.g->graph),
      tile(productTile(loops.mSize, loops.nSize, loops.outerCount, multiplier)), layout(layout),
      e(function.emitter(graph)), b(e.b), loader(e, layout, tile.threads()) {}

void ProductEmitter::prepare() {
  llvm::SmallVector<LoopGroup> rows(loops.mAround);
  rows.push_back(loops.m);
  left = loader.sideOf(sourceOf(loops.a), rows, loops.mSize, loops.k, loops.kSize, tile.rows,
                       tile.depth);
  right = loader.sideOf(sourceOf(loops.b), {loops.n}, loops.nSize, loops.k, loops.kSize,
                        tile.columns, tile.depth);
  rightOffset = sliceElements(left);
  stageElements = rightOffset + sliceElements(right);
  e.live = Graph::reachable(nest.rootNodes());
  if (loops.grouped)
    llvm::append_range(e.live, Graph::reachable({loops.b}));
}

//===--- Slices ---===//

Value ProductEmitter::stageOf(Value k0) {
  Value number = b.CreateAnd(b.CreateLShr(k0, llvm::Log2_64(tile.depth)), constant(1));
  return b.CreateNSWMul(number, constant(stageElements));
}

void ProductEmitter::fetch(Value k0) {
  Value stage = stageOf(k0);
  loader.fetch(left, k0, stage);
  loader.fetch(right, k0, b.CreateNSWAdd(stage, constant(rightOffset)));
}

void ProductEmitter::arrive(Value k0) {
  Value stage = stageOf(k0);
  loader.store(left, stage);
  loader.store(right, b.CreateNSWAdd(stage, constant(rightOffset)));
  if (left.isCopied || right.isCopied)
    loader.await();
  barrier(b);
}

// Who is past the barrier knows that all are done with the stage before, to which the next slices go.
void ProductEmitter::addSlice(Value k0, Value end) {
  arrive(k0);
  Value next = b.CreateNSWAdd(k0, constant(tile.depth));
  e.openIf(b.CreateICmpSLT(next, end));
  fetch(next);
  e.closeLoop();
  multiply(stageOf(k0));
}

void ProductEmitter::addSlices() {
  loader.makeRegisters(left);
  loader.makeRegisters(right);
  findTerms();
  fetch(firstTerm);
  forSlices([&](Value k0, Value end) { addSlice(k0, end); });
  barrier(b); // the stages are free
}

void ProductEmitter::findTerms() {
  firstTerm = constant(0), endOfTerms = constant(loops.kSize);
  if (!loops.terms)
    return;
  auto clamped = [&](Node *node, Value low, int64_t high) {
    Value least = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, e.emit(node), low);
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, constant(high));
  };
  int64_t unit = isInBlocks() ? blockOfK() : tile.depth;
  // Where there are none: a slice of zeros.
  if (Node *low = loops.terms->low)
    firstTerm = b.CreateAnd(clamped(low, firstTerm, loops.kSize - 1), constant(-unit));
  if (Node *high = loops.terms->high)
    endOfTerms = clamped(high, b.CreateNSWAdd(firstTerm, constant(1)), loops.kSize);
}

void ProductEmitter::forSlices(llvm::function_ref<void(Value, Value)> add) {
  if (!firstTerm)
    findTerms();
  Value end = endOfTerms;
  if (!isInBlocks()) {
    add(e.openLoop(firstTerm, end, tile.depth, /*mayBeEmpty=*/false), end);
    e.closeLoop();
    return;
  }
  Value block = e.openLoop(firstTerm, end, blockOfK(), /*mayBeEmpty=*/false);
  Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                       b.CreateNSWAdd(block, constant(blockOfK())), end);
  add(e.openLoop(block, last, tile.depth, /*mayBeEmpty=*/false), end);
  e.closeLoop();
  addBlock();
  e.closeLoop();
}

//===--- Sums ---===//

llvm::SmallVector<Value> ProductEmitter::makeSlots(const char *name) {
  llvm::SmallVector<Value> slots;
  for (int64_t i = 0; i < sumsOfThread(); ++i)
    slots.push_back(e.temporary(e.typeOf(sumKind(), 1), name));
  clear(slots);
  return slots;
}

void ProductEmitter::clear(llvm::ArrayRef<Value> slots) {
  for (Value slot : slots)
    b.CreateStore(llvm::Constant::getNullValue(e.typeOf(sumKind(), 1)), slot);
}

// A block of k is done.
void ProductEmitter::addBlock() {
  llvm::Type *type = e.typeOf(sumKind(), 1);
  for (auto [sum, part] : llvm::zip(sums, parts))
    b.CreateStore(b.CreateFAdd(b.CreateLoad(type, sum), b.CreateLoad(type, part)), sum);
  clear(parts);
}

Value ProductEmitter::ofGroup(Value group, int64_t groups,
                              llvm::function_ref<Value(int64_t)> slotOf) {
  llvm::Type *type = e.typeOf(sumKind(), 1);
  Value sum = b.CreateLoad(type, slotOf(0));
  for (int64_t number = 1; number < groups; ++number)
    sum = b.CreateSelect(b.CreateICmpEQ(group, constant(number)),
                         b.CreateLoad(type, slotOf(number)), sum);
  return sum;
}

//===--- Results ---===//

// `lanes` elements of the result, of the group's rows by number.
void ProductEmitter::emitResult(Value number, Value group, int64_t lanes) {
  int64_t inLine = tile.columns / lanes;
  Value row = b.CreateLShr(number, llvm::Log2_64(inLine));
  Value column = b.CreateNSWMul(b.CreateAnd(number, constant(inLine - 1)), constant(lanes));
  Value from = b.CreateNSWAdd(b.CreateNSWMul(row, constant(pitch())), column);
  Value m = b.CreateNSWAdd(left.first, rowOf(group, row));
  Value n = b.CreateNSWAdd(right.first, column);
  Value exists = b.getTrue();
  if (loops.mSize % tile.rows)
    exists = b.CreateAnd(exists, b.CreateICmpSLT(m, constant(loops.mSize)));
  if (loops.nSize % tile.columns)
    exists = b.CreateAnd(exists, b.CreateICmpSLT(n, constant(loops.nSize)));
  if (groups)
    exists = b.CreateAnd(exists, b.CreateICmpEQ(groupOf(rowOf(group, row)), runGroup));
  e.openIf(exists);
  openItem(e, left.groups, m, 1);
  openItem(e, right.groups, lanes > 1 ? b.CreateLShr(n, llvm::Log2_64(lanes)) : n, lanes);
  e.levels.back().values[loops.product] =
      b.CreateAlignedLoad(e.typeOf(sumKind(), lanes), sharedPlace(sumKind(), from),
                          llvm::Align(lanes * byteSize(sumKind())));
  llvm::SmallVector<Value> values;
  for (const Root &root : nest.roots)
    values.push_back(e.emit(root.value.re));
  for (auto [root, value] : llvm::zip(nest.roots, values))
    e.store(function.outputBuffer(root.output), root.kind, root.offset, value);
  closeItem(e);
  closeItem(e);
  e.closeLoop();
}

void ProductEmitter::emitResults() {
  int64_t lanes = lanesOfResults(graph, nest.roots, loops.n, sumKind());
  int64_t items = tile.groupRows() * tile.columns / lanes;
  Value group = e.openLoop(constant(0), constant(tile.rowGroups), 1, /*mayBeEmpty=*/false);
  stageSums(group);
  barrier(b);
  Value number = e.openLoop(function.thread, constant(items), tile.threads(), /*mayBeEmpty=*/true);
  emitResult(number, group, lanes);
  e.closeLoop();
  if (tile.rowGroups > 1)
    barrier(b); // before the next group lies there
  e.closeLoop();
}

//===--- Blocks ---===//

void ProductEmitter::emitTile(Value number, llvm::Instruction *before) {
  e.openBody(before);
  int64_t across = llvm::divideCeil(right.size, tile.columns);
  int64_t down = llvm::divideCeil(left.size, tile.rows);
  right.first = b.CreateNSWMul(takeDigit(e, number, across), constant(tile.columns));
  left.first = b.CreateNSWMul(takeDigit(e, number, down), constant(tile.rows));
  openItem(e, loops.outer, number, 1);
  placeThread();
  if (loops.grouped) {
    emitRuns();
  } else {
    makeSums();
    addSlices();
    emitResults();
  }
  closeItem(e);
}

void ProductEmitter::makeSums() {
  parts = makeSlots("part");
  if (isInBlocks())
    sums = makeSlots("sum");
}

//===--- Groups of rows ---===//

Value ProductEmitter::groupOf(Value row) {
  return b.CreateLoad(b.getInt32Ty(), b.CreateInBoundsGEP(b.getInt32Ty(), groups, row));
}

// Of each row of the tile; -1 where results don't depend on the product.
void ProductEmitter::findGroups() {
  Value row = e.openLoop(function.thread, constant(tile.rows), tile.threads(), /*mayBeEmpty=*/true);
  Value m = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(left.first, row),
                                    constant(loops.mSize - 1));
  openItem(e, left.groups, m, 1);
  Value found = e.emit(loops.grouped->groupOfRow);
  for (Node *condition : loops.grouped->conditions)
    found = b.CreateSelect(e.emit(condition), found, constant(-1));
  closeItem(e);
  b.CreateStore(b.CreateTrunc(found, b.getInt32Ty()),
                b.CreateInBoundsGEP(b.getInt32Ty(), groups, row));
  e.closeLoop();
  barrier(b);
}

void ProductEmitter::emitRuns() {
  findGroups();
  Value row = e.openLoop(constant(0), constant(tile.rows), 1, /*mayBeEmpty=*/false);
  Value before =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNSWSub(row, constant(1)), constant(0));
  runGroup = groupOf(row);
  e.openIf(b.CreateOr(b.CreateICmpEQ(row, constant(0)), b.CreateICmpNE(groupOf(before), runGroup)));
  makeSums();
  e.openIf(b.CreateICmpSGE(runGroup, b.getInt32(0)));
  unsigned dim = loops.grouped->group;
  e.bindLevel(dim, DimSet(1) << dim, b.CreateSExt(runGroup, b.getInt64Ty()), 1, nullptr);
  addSlices();
  e.closeLoop();
  emitResults();
  barrier(b); // before the next run's slices lie there
  e.closeLoop();
  e.closeLoop();
}

Value ProductEmitter::takeStages() {
  int64_t bytes = std::max(2 * stageBytes(), resultBytes());
  return function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), bytes), "_tiles");
}

void ProductEmitter::emitTiles() {
  function.launch.threads = tile.threads();
  shared = takeStages();
  if (loops.grouped)
    groups = function.takeShared(llvm::ArrayType::get(b.getInt32Ty(), tile.rows), "_groups");
  loader.shared = shared;
  loader.thread = function.thread;
  int64_t blocks = llvm::divideCeil(left.size, tile.rows) *
                   llvm::divideCeil(right.size, tile.columns) * loops.outerCount;
  function.addBlocks(blocks,
                     [&](Value number, llvm::Instruction *before) { emitTile(number, before); });
}

void ProductEmitter::emit() {
  prepare();
  emitTiles();
}

} // namespace tessera::codegen::gpu
