#include "passes/codegen/gpu/SliceLoader.h"

#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/kernel/ContractionLoops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

// Fetched by runs along k where it lies so, else along its rows, else one by one: along k too if that is
// how it lies but for single elements.
SliceSide SliceLoader::sideOf(Node *node, llvm::ArrayRef<LoopGroup> groups, int64_t size,
                              llvm::ArrayRef<LoopGroup> k, int64_t kSize, int64_t extent,
                              int64_t depth) const {
  SliceSide side;
  side.node = node;
  side.groups.assign(groups.begin(), groups.end());
  side.k.assign(k.begin(), k.end());
  side.size = size;
  side.kSize = kSize;
  side.kStep = depth;
  std::vector<Node *> nodes = Graph::reachable({node});
  int64_t most = kAccessBytes / byteSize(layout.kind());
  auto lanesAlong = [&](const LoopGroup &group) {
    std::optional<int64_t> widest = widestRun(nodes, group);
    return widest ? std::min(elementsOfThread(boundsOf(e.graph, group).second, *widest), most) : 1;
  };
  int64_t ofRows = lanesAlong(groups.back()), ofK = lanesAlong(k.back());
  bool alongK = ofK > ofRows || (ofK == ofRows && isAlong(node, k.back()));
  side.shape = {extent, depth, alongK};
  side.lanes = alongK ? ofK : ofRows;
  side.isCopied = canBeCopied(side);
  // Of small slices each thread has fewer, but none stands aside.
  while (!side.isCopied && side.lanes > 1 && items(side) < threads)
    side.lanes /= 2;
  return side;
}

// As it lies, by whole accesses.
bool SliceLoader::canBeCopied(const SliceSide &side) const {
  const Node *node = side.node;
  if (!layout.isRun(side.shape, side.lanes) || node->op != Op::Load || node->mask ||
      !node->operands.empty() || node->kind != layout.kind() ||
      side.lanes * byteSize(node->kind) != kAccessBytes ||
      e.graph.buffers[node->buffer()].source != BufferInfo::Argument)
    return false;
  llvm::ArrayRef<unsigned> inner = side.shape.alongK ? side.k.back() : side.groups.back();
  auto isWhole = [&](const std::pair<unsigned, int64_t> &term) {
    return llvm::is_contained(inner, term.first) || term.second % side.lanes == 0;
  };
  return strideOf(node->index, inner) == 1 && node->index->nodes.empty() &&
         node->index->constant % side.lanes == 0 && llvm::all_of(node->index->dims, isWhole);
}

void SliceLoader::makeRegisters(SliceSide &side) {
  llvm::Type *type = memoryType(layout.kind(), b.getContext());
  if (side.lanes > 1)
    type = llvm::FixedVectorType::get(type, side.lanes);
  for (int64_t i = 0; !side.isCopied && i < chunks(side); ++i)
    side.registers.push_back(e.temporary(type, "slice"));
}

// Lines of 64 bytes that lie 80 apart (WarpMatrices.h): what two that follow each other have at their ends meets in
// four banks, and what two have that are four lines apart does not. So these are stored side by side.
static Value fourLinesApart(llvm::IRBuilder<> &b, Value line) {
  auto moved = [&](int64_t mask, int64_t by) {
    Value bits = b.CreateAnd(line, b.getInt64(mask));
    return by < 0 ? b.CreateLShr(bits, -by) : by ? b.CreateShl(bits, by) : bits;
  };
  return b.CreateOr(b.CreateOr(moved(~7, 0), moved(6, -1)), moved(1, 2));
}

// Row and k of a thread's chunks, within the slice. Threads side by side have chunks side by side, along k so
// many as the layout says; then come those of all rows, and what is left along k.
void SliceLoader::overChunks(const SliceSide &side,
                             llvm::function_ref<void(int64_t, Value, Value)> body) {
  int64_t terms = layout.termsTogether(side.shape);
  int64_t inner = (side.shape.alongK ? terms : side.shape.extent) / side.lanes;
  for (int64_t number = 0; number < chunks(side); ++number) {
    Value id = b.CreateNSWAdd(thread, constant(number * threads));
    bool isPartial = (number + 1) * threads > items(side);
    if (isPartial)
      e.openIf(b.CreateICmpSLT(id, constant(items(side))));
    Value low = b.CreateAnd(id, constant(inner - 1)), high = b.CreateLShr(id, llvm::Log2_64(inner));
    if (side.lanes > 1)
      low = b.CreateNSWMul(low, constant(side.lanes));
    if (!side.isCopied && inner * side.lanes * byteSize(layout.kind()) == 64)
      high = fourLinesApart(b, high);
    if (side.shape.alongK && terms < side.shape.depth) {
      Value part = b.CreateLShr(high, llvm::Log2_64(side.shape.extent));
      low = b.CreateNSWAdd(low, b.CreateNSWMul(part, constant(terms)));
      high = b.CreateAnd(high, constant(side.shape.extent - 1));
    }
    side.shape.alongK ? body(number, high, low) : body(number, low, high);
    if (isPartial)
      e.closeLoop();
  }
}

// Opens levels at a chunk; returns whether it exists along k (null: it does).
Value SliceLoader::openChunk(const SliceSide &side, Value row, Value k) {
  auto last = [&](Value at, int64_t size, int64_t step) {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, constant(size - step));
  };
  bool alongK = side.shape.alongK;
  int64_t rowLanes = alongK ? 1 : side.lanes, kLanes = alongK ? side.lanes : 1;
  Value exists = nullptr;
  if (side.size % side.shape.extent)
    row = last(row, side.size, rowLanes);
  if (side.kSize % side.kStep) {
    exists = b.CreateICmpSLT(k, constant(side.kSize));
    k = last(k, side.kSize, kLanes);
  }
  auto item = [&](Value at, int64_t lanes) {
    return lanes > 1 ? b.CreateLShr(at, llvm::Log2_64(lanes)) : at;
  };
  openItem(e, alongK ? side.groups : side.k, alongK ? item(row, 1) : item(k, 1), 1);
  openItem(e, alongK ? side.k : side.groups, alongK ? item(k, kLanes) : item(row, rowLanes),
           side.lanes);
  return exists;
}

void SliceLoader::closeChunk() {
  closeItem(e);
  closeItem(e);
}

void SliceLoader::load(SliceSide &side, Value k0) {
  overChunks(side, [&](int64_t number, Value row, Value k) {
    Value exists = openChunk(side, b.CreateNSWAdd(side.first, row), b.CreateNSWAdd(k0, k));
    Value value = e.toMemory(layout.kind(), e.splat(e.emit(side.node), side.lanes));
    closeChunk();
    if (exists)
      value = b.CreateSelect(exists, value, llvm::Constant::getNullValue(value->getType()));
    b.CreateStore(value, side.registers[number]);
  });
}

void SliceLoader::copy(SliceSide &side, Value k0, Value place) {
  overChunks(side, [&](int64_t, Value row, Value k) {
    Value exists = openChunk(side, b.CreateNSWAdd(side.first, row), b.CreateNSWAdd(k0, k));
    Value from = e.element(e.bufferPointer(side.node->buffer()), layout.kind(),
                           e.emitIndex(side.node->index));
    closeChunk();
    Value to = at(side, place, row, k);
    if (!exists) {
      b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16,
                        {to, from});
      return;
    }
    // Zeros where nothing is read.
    Value bytes = b.CreateSelect(exists, b.getInt32(kAccessBytes), b.getInt32(0));
    b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s,
                      {to, from, bytes});
  });
}

void SliceLoader::fetch(SliceSide &side, Value k0, Value place) {
  side.isCopied ? copy(side, k0, place) : load(side, k0);
}

void SliceLoader::store(const SliceSide &side, Value place) {
  if (side.isCopied)
    return;
  int64_t bytes = byteSize(layout.kind());
  overChunks(side, [&](int64_t number, Value row, Value k) {
    auto *slot = llvm::cast<llvm::AllocaInst>(side.registers[number]);
    Value value = b.CreateLoad(slot->getAllocatedType(), slot);
    if (layout.isRun(side.shape, side.lanes)) {
      b.CreateAlignedStore(value, at(side, place, row, k), llvm::Align(side.lanes * bytes));
      return;
    }
    for (int64_t lane = 0; lane < side.lanes; ++lane)
      b.CreateAlignedStore(b.CreateExtractElement(value, lane),
                           at(side, place, row, b.CreateNSWAdd(k, constant(lane))),
                           llvm::Align(bytes));
  });
}

void SliceLoader::await() {
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_cp_async_wait_all, {});
}

} // namespace tessera::codegen::gpu
