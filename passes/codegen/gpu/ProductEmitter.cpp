#include "passes/codegen/gpu/ProductEmitter.h"

#include "passes/codegen/cpu/LoopNest.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/NestGraph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

ProductEmitter::ProductEmitter(EntryFunction &function, NestGraph &nest,
                               const ContractionLoops &loops, Multiplier multiplier)
    : function(function), nest(nest), loops(loops), graph(nest.g->graph),
      tile(productTile(loops.mSize, loops.nSize, loops.outerCount, multiplier)),
      e(function.emitter(graph)), b(e.b) {}

void ProductEmitter::prepare() {
  llvm::SmallVector<LoopGroup> rows(loops.mAround);
  rows.push_back(loops.m);
  left = sideOf(sourceOf(loops.a), rows, loops.mSize, tile.rows);
  right = sideOf(sourceOf(loops.b), {loops.n}, loops.nSize, tile.columns);
  right.offset = sliceElements(left);
  stageElements = right.offset + sliceElements(right);
  e.live = Graph::reachable(nest.rootNodes());
}

// Fetched by runs along k where it lies so, else along its rows, else one by one: along k too if that is
// how it lies but for single elements.
ProductSide ProductEmitter::sideOf(Node *node, llvm::ArrayRef<LoopGroup> groups, int64_t size,
                                   int64_t extent) {
  ProductSide side{node, llvm::SmallVector<LoopGroup>(groups), size, extent};
  std::vector<Node *> nodes = Graph::reachable({node});
  int64_t most = kAccessBytes / byteSize(storedKind());
  auto lanesAlong = [&](const LoopGroup &group) {
    std::optional<int64_t> widest = widestRun(nodes, group);
    return widest ? std::min(elementsOfThread(boundsOf(graph, group).second, *widest), most) : 1;
  };
  int64_t rows = lanesAlong(groups.back()), k = lanesAlong(loops.k.back());
  side.alongK = k > rows || (k == rows && isAlong(node, loops.k.back()));
  side.lanes = side.alongK ? k : rows;
  side.isCopied = canBeCopied(side);
  return side;
}

// As it lies, by whole accesses.
bool ProductEmitter::canBeCopied(const ProductSide &side) const {
  const Node *node = side.node;
  if (!isRun(side) || node->op != Op::Load || node->mask || !node->operands.empty() ||
      node->kind != storedKind() || side.lanes * byteSize(node->kind) != kAccessBytes ||
      graph.buffers[node->buffer()].source != BufferInfo::Argument)
    return false;
  llvm::ArrayRef<unsigned> inner = side.alongK ? loops.k.back() : side.groups.back();
  auto isWhole = [&](const std::pair<unsigned, int64_t> &term) {
    return llvm::is_contained(inner, term.first) || term.second % side.lanes == 0;
  };
  return strideOf(node->index, inner) == 1 && node->index->nodes.empty() &&
         node->index->constant % side.lanes == 0 && llvm::all_of(node->index->dims, isWhole);
}

//===--- Slices ---===//

// Row and k of a thread's chunk, within the tile's slice. Threads side by side have chunks side by side.
std::pair<Value, Value> ProductEmitter::placeOf(const ProductSide &side, int64_t number) {
  Value id = b.CreateNSWAdd(function.thread, constant(number * tile.threads()));
  int64_t inner = (side.alongK ? tile.depth : side.extent) / side.lanes;
  Value low = b.CreateAnd(id, constant(inner - 1)), high = b.CreateLShr(id, llvm::Log2_64(inner));
  if (side.lanes > 1)
    low = b.CreateNSWMul(low, constant(side.lanes));
  return side.alongK ? std::pair(high, low) : std::pair(low, high);
}

// Opens levels at a chunk; returns whether it exists along k (null: it does).
Value ProductEmitter::openChunk(const ProductSide &side, Value row, Value k) {
  auto last = [&](Value at, int64_t size, int64_t step) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, constant(size - step));
  };
  int64_t rowLanes = side.alongK ? 1 : side.lanes, kLanes = side.alongK ? side.lanes : 1;
  Value exists = nullptr;
  if (side.size % side.extent)
    row = last(row, side.size, rowLanes);
  if (loops.kSize % tile.depth) {
    exists = b.CreateICmpSLT(k, constant(loops.kSize));
    k = last(k, loops.kSize, kLanes);
  }
  auto item = [&](Value at, int64_t lanes) {
    return lanes > 1 ? b.CreateLShr(at, llvm::Log2_64(lanes)) : at;
  };
  openItem(e, side.alongK ? side.groups : loops.k, side.alongK ? item(row, 1) : item(k, 1), 1);
  openItem(e, side.alongK ? loops.k : side.groups,
           side.alongK ? item(k, kLanes) : item(row, rowLanes), side.lanes);
  return exists;
}

void ProductEmitter::closeChunk() {
  closeItem(e);
  closeItem(e);
}

void ProductEmitter::load(ProductSide &side, Value k0) {
  for (auto [number, slot] : llvm::enumerate(side.registers)) {
    auto [row, k] = placeOf(side, number);
    Value exists = openChunk(side, b.CreateNSWAdd(side.first, row), b.CreateNSWAdd(k0, k));
    Value value = e.toMemory(storedKind(), e.splat(e.emit(side.node), side.lanes));
    closeChunk();
    if (exists)
      value = b.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
    b.CreateStore(value, slot);
  }
}

Value ProductEmitter::stageOf(Value k0) {
  Value number = b.CreateAnd(b.CreateLShr(k0, llvm::Log2_64(tile.depth)), constant(1));
  return b.CreateNSWMul(number, constant(stageElements));
}

Value ProductEmitter::inStage(const ProductSide &side, Value k0, Value row, Value k) {
  Value slice = b.CreateNSWAdd(stageOf(k0), constant(side.offset));
  return sharedPlace(storedKind(), b.CreateNSWAdd(slice, placeInSlice(side, row, k)));
}

void ProductEmitter::copy(ProductSide &side, Value k0) {
  for (int64_t number = 0; number < chunks(side); ++number) {
    auto [row, k] = placeOf(side, number);
    Value exists = openChunk(side, b.CreateNSWAdd(side.first, row), b.CreateNSWAdd(k0, k));
    Value from = e.element(e.bufferPointer(side.node->buffer()), storedKind(),
                           e.emitIndex(side.node->index));
    closeChunk();
    Value to = inStage(side, k0, row, k);
    if (!exists) {
      b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                        {to, from});
      continue;
    }
    // Zeros where nothing is read.
    Value bytes = b.CreateSelect(exists, b.getInt32(kAccessBytes), b.getInt32(0));
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s,
                      {to, from, bytes});
  }
}

void ProductEmitter::store(const ProductSide &side, Value k0) {
  int64_t bytes = byteSize(storedKind());
  for (auto [number, slot] : llvm::enumerate(side.registers)) {
    auto [row, k] = placeOf(side, number);
    Value value = b.CreateLoad(llvm::cast<llvm::AllocaInst>(slot)->getAllocatedType(), slot);
    if (isRun(side)) {
      b.CreateAlignedStore(value, inStage(side, k0, row, k), llvm::Align(side.lanes * bytes));
      continue;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane)
      b.CreateAlignedStore(b.CreateExtractElement(value, lane),
                           inStage(side, k0, row, b.CreateNSWAdd(k, constant(lane))),
                           llvm::Align(bytes));
  }
}

void ProductEmitter::fetch(Value k0) {
  for (ProductSide *side : {&left, &right})
    side->isCopied ? copy(*side, k0) : load(*side, k0);
}

void ProductEmitter::arrive(Value k0) {
  for (ProductSide *side : {&left, &right})
    if (!side->isCopied)
      store(*side, k0);
  if (left.isCopied || right.isCopied)
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_wait_all, {});
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
  fetch(constant(0));
  Value end = constant(loops.kSize);
  if (!isInBlocks()) {
    addSlice(e.openLoop(constant(0), end, tile.depth, /*mayBeEmpty=*/false), end);
    e.closeLoop();
  } else {
    Value block = e.openLoop(constant(0), end, blockOfK(), /*mayBeEmpty=*/false);
    Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                         b.CreateNSWAdd(block, constant(blockOfK())), end);
    addSlice(e.openLoop(block, last, tile.depth, /*mayBeEmpty=*/false), end);
    e.closeLoop();
    addBlock();
    e.closeLoop();
  }
  barrier(b); // the stages are free
}

//===--- Sums ---===//

llvm::SmallVector<Value> ProductEmitter::makeSlots(int64_t count, const char *name) {
  llvm::SmallVector<Value> slots;
  for (int64_t i = 0; i < count; ++i)
    slots.push_back(e.temporary(e.typeOf(sumKind(), 1), name));
  clear(slots);
  return slots;
}

void ProductEmitter::clear(llvm::ArrayRef<Value> slots) {
  for (Value slot : slots)
    b.CreateStore(llvm::Constant::getNullValue(e.typeOf(sumKind(), 1)), slot);
}

void ProductEmitter::addAndClear(llvm::ArrayRef<Value> sums, llvm::ArrayRef<Value> parts) {
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

// As many columns at a time as one access moves, where all that goes with them lies side by side.
int64_t ProductEmitter::resultLanes() {
  std::vector<Node *> around;
  for (Node *node : e.live)
    if (node->op != Op::Reduced && !(node->deps & loops.product->reduction->ownDims))
      around.push_back(node);
  std::optional<int64_t> widest = widestRun(around, loops.n);
  if (!widest)
    return 1;
  for (const Root &root : nest.roots)
    widest = std::max(*widest, byteSize(root.kind));
  int64_t most = kAccessBytes / byteSize(sumKind());
  return std::min(elementsOfThread(loops.nSize, *widest), most);
}

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
  int64_t lanes = resultLanes(), items = tile.groupRows() * tile.columns / lanes;
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
  int64_t across = llvm::divideCeil(right.size, right.extent);
  int64_t down = llvm::divideCeil(left.size, left.extent);
  right.first = b.CreateNSWMul(takeDigit(e, number, across), constant(right.extent));
  left.first = b.CreateNSWMul(takeDigit(e, number, down), constant(left.extent));
  openItem(e, loops.outer, number, 1);
  for (ProductSide *side : {&left, &right})
    for (int64_t i = 0; !side->isCopied && i < chunks(*side); ++i)
      side->registers.push_back(e.temporary(
          side->lanes == 1
              ? memoryType(storedKind(), b.getContext())
              : llvm::FixedVectorType::get(memoryType(storedKind(), b.getContext()), side->lanes),
          "slice"));
  makeSums();
  addSlices();
  emitResults();
  closeItem(e);
}

void ProductEmitter::emit() {
  prepare();
  function.launch.threads = tile.threads();
  // Two stages, and after them a group of rows of the result.
  int64_t bytes = std::max(2 * stageElements * byteSize(storedKind()),
                           tile.groupRows() * pitch() * byteSize(sumKind()));
  shared = function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), bytes), "_tiles");
  int64_t blocks = llvm::divideCeil(left.size, left.extent) *
                   llvm::divideCeil(right.size, right.extent) * loops.outerCount;
  function.addBlocks(blocks,
                     [&](Value number, llvm::Instruction *before) { emitTile(number, before); });
}

} // namespace tessera::codegen::gpu
