// Products of f16 and bf16 by warpgroups (wgmma, of sm_90a), whose operands come as boxes of tensors to stages
// in shared memory:
//
//   the last warp                              two warpgroups, of 64 rows of the tile each
//     for each slice of k:                       for each slice of k:
//       wait until its stage is empty              wait until its stage is full
//       so many bytes will fill it                 sums += products of this stage, of all columns
//       copy boxes of a and b                      each warp: its stage is empty for me
//
// A box has lines of 128 bytes, along k or along rows or columns as the operand lies in memory, in the
// swizzle of 128 bytes, by which wgmma reads both ways without asking a bank twice. Past an operand's
// end come zeros.
#include "passes/codegen/gpu/CoreSums.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kStages = 4, kLineBytes = 128, kLine = 64; // elements of a line
constexpr int64_t kGroupRows = 64, kTerms = 16;              // of a warpgroup; of one wgmma
constexpr int64_t kMostRank = 5, kBarrierBytes = 8;

// One side's operand, as boxes of it are copied.
struct Boxes {
  OperandMap map;
  llvm::SmallVector<const LoopGroup *> around; // of the dimensions after the first two
  int64_t offset = 0;                          // of the slice in a stage, in bytes
  Value pointer = nullptr;                     // of the map
};

class WarpgroupProducts : public CoreSums {
public:
  using CoreSums::CoreSums;
  bool tryEmit();

private:
  int64_t sliceElements(const SliceSide &side) const override {
    return side.shape.extent * side.shape.depth;
  }
  Value takeStages() override;
  void addSlices() override;
  void multiply(Value stageOffset) override;
  void stageSums(Value group) override;

  std::optional<Boxes> boxesOf(const SliceSide &side, int64_t offset);
  void makeBarriers();
  void bring();
  void copyBoxes(const SliceSide &side, const Boxes &boxes, Value k0, Value stage, Value full);
  void consume();
  Value descriptor(const SliceSide &side, Value offset);
  // Of the slice at k0: its stage's number, and the parity of the phase in which that is filled.
  std::pair<Value, Value> roundOf(Value k0);
  Value barrierOf(Value stage, bool isFull);
  void await(Value barrier, Value parity);
  Value inShared(Value offset) { return b.CreateGEP(b.getInt8Ty(), shared, offset); }
  int64_t consumers() const { return tile.threads() - tile.bringers; }
  Value isConsumer() { return b.CreateICmpSLT(function.thread, constant(consumers())); }

  Boxes ofLeft, ofRight;
};

} // namespace

//===--- Operands ---===//

// Empty: it does not lie as copies of boxes can take it.
std::optional<Boxes> WarpgroupProducts::boxesOf(const SliceSide &side, int64_t offset) {
  if (!side.isCopied || side.groups.size() != 1 || side.k.size() != 1)
    return std::nullopt;
  constexpr int64_t kMostSize = int64_t{1} << 31, kMostStride = int64_t{1} << 40;
  int64_t element = byteSize(storedKind());
  const Node *node = side.node;
  const LoopGroup &inner = side.shape.alongK ? side.k.back() : side.groups.back();
  const LoopGroup &outer = side.shape.alongK ? side.groups.back() : side.k.back();
  Boxes boxes;
  boxes.offset = offset;
  boxes.map.operand = graph.buffers[node->buffer()].position;
  boxes.map.offset = node->index->constant * element;
  boxes.map.isBf16 = isBf16;
  // Sizes are those of whole loops: a loop's part begins at a coordinate of its own.
  boxes.map.sizes = {boundsOf(graph, inner).second};
  boxes.map.box = {kLine, side.shape.alongK ? side.shape.extent : side.shape.depth};
  auto add = [&](const LoopGroup &group, bool mayBeFixed) {
    std::optional<int64_t> stride = strideOf(node->index, group);
    if (!stride || *stride < 0 || (*stride == 0 && !mayBeFixed) || *stride * element >= kMostStride)
      return false;
    if (*stride) {
      boxes.map.sizes.push_back(boundsOf(graph, group).second);
      boxes.map.strides.push_back(*stride * element);
    }
    if (*stride && mayBeFixed) {
      boxes.around.push_back(&group);
      boxes.map.box.push_back(1);
    }
    return true;
  };
  if (!add(outer, /*mayBeFixed=*/false) ||
      !llvm::all_of(loops.outer, [&](const LoopGroup &group) { return add(group, true); }))
    return std::nullopt;
  bool fits = boxes.map.offset >= 0 && boxes.map.sizes.size() <= kMostRank &&
              llvm::all_of(boxes.map.sizes, [](int64_t size) { return size < kMostSize; });
  return fits ? std::optional(std::move(boxes)) : std::nullopt;
}

//===--- Stages ---===//

Value WarpgroupProducts::takeStages() {
  int64_t barriers = 2 * kStages * kBarrierBytes;
  return function.takeSharedOfLaunch(std::max(kStages * stageBytes() + barriers, resultBytes()));
}

std::pair<Value, Value> WarpgroupProducts::roundOf(Value k0) {
  Value step = b.CreateLShr(k0, llvm::Log2_64(tile.depth));
  Value round = b.CreateLShr(step, llvm::Log2_64(kStages));
  return {b.CreateAnd(step, constant(kStages - 1)),
          b.CreateTrunc(b.CreateAnd(round, constant(1)), b.getInt32Ty())};
}

// Those of full stages lie after the stages, and then those of empty ones.
Value WarpgroupProducts::barrierOf(Value stage, bool isFull) {
  int64_t first = kStages * stageBytes() + (isFull ? 0 : kStages * kBarrierBytes);
  return inShared(b.CreateNSWAdd(b.CreateNSWMul(stage, constant(kBarrierBytes)), constant(first)));
}

void WarpgroupProducts::makeBarriers() {
  e.openIf(b.CreateICmpEQ(function.thread, constant(0)));
  for (bool isFull : {true, false})
    for (int64_t stage = 0; stage < kStages; ++stage)
      b.CreateIntrinsic(
          b.getVoidTy(), llvm::Intrinsic::nvvm_mbarrier_init_shared,
          {barrierOf(constant(stage), isFull), b.getInt32(isFull ? 1 : consumers() / kWarp)});
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_fence_mbarrier_init_release_cluster, {});
  e.closeLoop();
  barrier(b);
}

// Until the phase of that parity is over: asks again and again.
static llvm::Function *awaitingFunction(llvm::Module &module) {
  const char *name = "tessera_await";
  if (llvm::Function *known = module.getFunction(name))
    return known;
  llvm::IRBuilder<> b(module.getContext());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(3), b.getInt32Ty()}, false);
  auto *made = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  made->addFnAttr(llvm::Attribute::AlwaysInline);
  made->addFnAttr(llvm::Attribute::Convergent);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  flushSubnormals(*made);
  auto *entry = llvm::BasicBlock::Create(b.getContext(), "entry", made);
  auto *again = llvm::BasicBlock::Create(b.getContext(), "again", made);
  auto *over = llvm::BasicBlock::Create(b.getContext(), "over", made);
  b.SetInsertPoint(entry);
  b.CreateBr(again);
  b.SetInsertPoint(again);
  Value isOver = b.CreateIntrinsic(
      b.getInt1Ty(), llvm::Intrinsic::nvvm_mbarrier_try_wait_parity_scope_cta_space_cta,
      {made->getArg(0), made->getArg(1)});
  b.CreateCondBr(isOver, over, again);
  b.SetInsertPoint(over);
  b.CreateRetVoid();
  return made;
}

void WarpgroupProducts::await(Value barrier, Value parity) {
  b.CreateCall(awaitingFunction(function.module), {barrier, parity});
}

//===--- Copies ---===//

void WarpgroupProducts::copyBoxes(const SliceSide &side, const Boxes &boxes, Value k0, Value stage,
                                  Value full) {
  static constexpr llvm::Intrinsic::ID kCopies[] = {
      llvm::Intrinsic::nvvm_cp_async_bulk_tensor_g2s_tile_2d,
      llvm::Intrinsic::nvvm_cp_async_bulk_tensor_g2s_tile_3d,
      llvm::Intrinsic::nvvm_cp_async_bulk_tensor_g2s_tile_4d,
      llvm::Intrinsic::nvvm_cp_async_bulk_tensor_g2s_tile_5d};
  auto from = [&](Value at, const LoopGroup &group) {
    return b.CreateNSWAdd(at, constant(boundsOf(graph, group).first));
  };
  // Along k a box has all of the tile's rows; along rows it has as many as a line.
  int64_t count = side.shape.alongK ? 1 : side.shape.extent / kLine;
  for (int64_t number = 0; number < count; ++number) {
    Value k = from(k0, side.k.back());
    Value row = from(b.CreateNSWAdd(side.first, constant(number * kLine)), side.groups.back());
    llvm::SmallVector<Value> at = {side.shape.alongK ? k : row, side.shape.alongK ? row : k};
    for (const LoopGroup *group : boxes.around)
      at.push_back(e.variables[group->back()]);
    int64_t offset = boxes.offset + number * tile.depth * kLineBytes;
    Value to =
        inShared(b.CreateNSWAdd(b.CreateNSWMul(stage, constant(stageBytes())), constant(offset)));
    constexpr unsigned kCluster = 7; // address space: of the shared memory of a cluster's blocks
    llvm::SmallVector<Value> given = {b.CreateAddrSpaceCast(to, b.getPtrTy(kCluster)), full,
                                      boxes.pointer};
    for (Value coordinate : at)
      given.push_back(b.CreateTrunc(coordinate, b.getInt32Ty()));
    // To this block only, and without a hint for caches.
    given.append({b.getInt16(0), b.getInt64(0), b.getFalse(), b.getFalse(), b.getInt32(0)});
    b.CreateIntrinsic(b.getVoidTy(), kCopies[at.size() - 2], given);
  }
}

void WarpgroupProducts::bring() {
  e.openIf(b.CreateICmpEQ(function.thread, constant(consumers())));
  Value k0 = e.openLoop(constant(0), constant(loops.kSize), tile.depth, /*mayBeEmpty=*/false);
  auto [stage, parity] = roundOf(k0);
  Value full = barrierOf(stage, /*isFull=*/true);
  // Of the round before: at once in the first.
  await(barrierOf(stage, /*isFull=*/false), b.CreateXor(parity, b.getInt32(1)));
  b.CreateIntrinsic(b.getInt64Ty(),
                    llvm::Intrinsic::nvvm_mbarrier_arrive_expect_tx_scope_cta_space_cta,
                    {full, b.getInt32(static_cast<uint32_t>(stageBytes()))});
  copyBoxes(left, ofLeft, k0, stage, full);
  copyBoxes(right, ofRight, k0, stage, full);
  e.closeLoop();
  e.closeLoop();
}

//===--- Products ---===//

// Where a slice lies, for wgmma: its address, and how far its squares of 8 by 64 lie apart ("PTX ISA",
// asynchronous warpgroup level matrix shared memory layout).
Value WarpgroupProducts::descriptor(const SliceSide &side, Value offset) {
  constexpr uint64_t kUnit = 16, kMask = 0x3fff, kSwizzle128 = 1;
  uint64_t across = 8 * kLineBytes / kUnit;
  // Lines along k stand for whole depths of it; of others there are several beside each other.
  uint64_t along = side.shape.alongK ? 1 : static_cast<uint64_t>(tile.depth * kLineBytes) / kUnit;
  Value address = b.CreateAdd(b.CreatePtrToInt(shared, b.getInt64Ty()), offset);
  Value start = b.CreateAnd(b.CreateLShr(address, llvm::Log2_64(kUnit)), b.getInt64(kMask));
  return b.CreateOr(start, b.getInt64(kSwizzle128 << 62 | across << 32 | along << 16));
}

// All of a stage, as one piece of code: nobody touches a sum before it is there.
void WarpgroupProducts::multiply(Value stageOffset) {
  int64_t element = byteSize(storedKind()), sums = sumsOfThread(), products = tile.depth / kTerms;
  Value base = b.CreateNSWMul(stageOffset, constant(element));
  Value group = b.CreateLShr(warpRow, 2); // of four warps
  Value rows = b.CreateNSWMul(group, constant(kGroupRows * kLineBytes));
  Value a = descriptor(left, b.CreateNSWAdd(base, rows));
  Value c = descriptor(right, b.CreateNSWAdd(base, constant(ofRight.offset)));
  std::string registers, text = "wgmma.fence.sync.aligned;\n", constraints;
  for (int64_t i = 0; i < sums; ++i) {
    registers += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=f,";
  }
  llvm::SmallVector<Value> given;
  for (int64_t i = 0; i < sums; ++i) {
    constraints += std::to_string(i) + ",";
    given.push_back(b.CreateLoad(b.getFloatTy(), parts[i]));
  }
  std::string type = isBf16 ? "bf16" : "f16";
  for (int64_t number = 0; number < products; ++number) {
    auto next = [&](const SliceSide &side, Value from) {
      int64_t bytes = number * kTerms * (side.shape.alongK ? element : kLineBytes);
      constraints += "l,";
      given.push_back(b.CreateAdd(from, constant(bytes / 16)));
      return ", $" + std::to_string(given.size() - 1 + sums);
    };
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(tile.columns) + "k16.f32." + type +
            "." + type + " {" + registers + "}";
    text += next(left, a);
    text += next(right, c);
    text += std::string(", 1, 1, 1, ") + (left.shape.alongK ? "0" : "1") + ", " +
            (right.shape.alongK ? "0" : "1") + ";\n";
  }
  text += "wgmma.commit_group.sync.aligned;\n";
  text += "wgmma.wait_group.sync.aligned 0;";
  constraints += "~{memory}";
  llvm::SmallVector<llvm::Type *> types(sums, b.getFloatTy()), parameters;
  for (Value value : given)
    parameters.push_back(value->getType());
  auto *code = llvm::InlineAsm::get(
      llvm::FunctionType::get(llvm::StructType::get(b.getContext(), types), parameters, false),
      text, constraints, /*hasSideEffects=*/true);
  llvm::CallInst *added = b.CreateCall(code, given);
  added->addFnAttr(llvm::Attribute::Convergent);
  for (int64_t i = 0; i < sums; ++i)
    b.CreateStore(b.CreateExtractValue(added, static_cast<unsigned>(i)), parts[i]);
}

void WarpgroupProducts::consume() {
  e.openIf(isConsumer());
  forSlices([&](Value k0, Value) {
    auto [stage, parity] = roundOf(k0);
    await(barrierOf(stage, /*isFull=*/true), parity);
    multiply(b.CreateNSWMul(stage, constant(stageElements)));
    e.openIf(b.CreateICmpEQ(lane, constant(0)));
    b.CreateIntrinsic(b.getInt64Ty(), llvm::Intrinsic::nvvm_mbarrier_arrive_scope_cta_space_cta,
                      {barrierOf(stage, /*isFull=*/false), b.getInt32(1)});
    e.closeLoop();
  });
  e.closeLoop();
}

void WarpgroupProducts::addSlices() {
  makeBarriers();
  consume();
  bring();
  barrier(b); // the stages are free
}

void WarpgroupProducts::stageSums(Value group) {
  e.openIf(isConsumer());
  CoreSums::stageSums(group);
  e.closeLoop();
}

bool WarpgroupProducts::tryEmit() {
  prepare();
  std::optional<Boxes> a = boxesOf(left, 0);
  std::optional<Boxes> b = boxesOf(right, rightOffset * byteSize(storedKind()));
  if (!a || !b)
    return false;
  ofLeft = std::move(*a), ofRight = std::move(*b);
  llvm::SmallVector<Value> pointers = function.addMaps({ofLeft.map, ofRight.map});
  ofLeft.pointer = pointers[0], ofRight.pointer = pointers[1];
  e.arguments = function.buffers; // of the function that has the maps
  // Each may have its part of all registers, and no more.
  function.function->addFnAttr("nvvm.maxntid", std::to_string(tile.threads()));
  emitTiles();
  return true;
}

bool emitProductByWarpgroups(EntryFunction &function, NestGraph &nest, const ProductLoops &loops) {
  // A slice of which most would be zeros is brought in vain.
  if (loops.kSize < kLine || !loops.mAround.empty() ||
      !suitsWarpgroups(loops.mSize, loops.nSize, loops.outerCount))
    return false;
  bool isInBlocks = loops.kSize > Reduction::tileBlock;
  return WarpgroupProducts(function, nest, loops,
                           isInBlocks ? Multiplier::WarpgroupsInBlocks : Multiplier::Warpgroups)
      .tryEmit();
}

} // namespace tessera::codegen::gpu
