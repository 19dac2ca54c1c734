// Operations that are no function of an index: a thread has a cell of the cpu's code for them.
//
//   int32_t k_cells(const TesseraKernelArgs *, uint32_t begin, uint32_t end)      as on the cpu
//   .entry k(..) { cell = block * threads + thread;  if (cell < cells) k_cells(&args, cell, cell + 1) }
//
// Cells write apart from each other, so the result is right, and its bits are the cpu's; the threads
// of a warp go their own ways.
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/gpu/EntryFunction.h"

namespace tessera::codegen::gpu {

static constexpr int64_t kCellThreads = kWarp;
// Of a thread's own memory: the driver sets it aside for all threads that a GPU can hold.
static constexpr int64_t kMostScratch = 8192;

// Calls the cells' function with what the cpu's runtime would give it.
static void emitCall(EntryFunction &entry, llvm::Function *cells, const KernelInfo &info) {
  llvm::IRBuilder<> b(&entry.function->getEntryBlock(), entry.function->getEntryBlock().begin());
  unsigned buffers = entry.buffers.size();
  Value table = b.CreateAlloca(b.getPtrTy(), b.getInt64(buffers));
  Value args = b.CreateAlloca(b.getPtrTy(), b.getInt64(3)); // TesseraKernelArgs
  auto *none = llvm::ConstantPointerNull::get(b.getPtrTy());
  Value scratch = none;
  if (info.scratchBytes) {
    auto *place = b.CreateAlloca(b.getInt8Ty(), b.getInt64(info.scratchBytes));
    place->setAlignment(llvm::Align(64));
    scratch = place;
  }
  entry.addBlocks(blocksFor(info.grid, entry.launch), [&](Value block, llvm::Instruction *before) {
    b.SetInsertPoint(before);
    for (unsigned i = 0; i < buffers; ++i)
      b.CreateStore(b.CreateAddrSpaceCast(entry.buffers[i], b.getPtrTy()),
                    b.CreateConstGEP1_64(b.getPtrTy(), table, i));
    Value given[] = {table, scratch, none};
    for (unsigned i = 0; i < 3; ++i)
      b.CreateStore(given[i], b.CreateConstGEP1_64(b.getPtrTy(), args, i));
    Value first = b.CreateMul(block, b.getInt64(entry.launch.threads));
    Value cell = b.CreateTrunc(b.CreateAdd(first, entry.thread), b.getInt32Ty());
    // Cells past the last do nothing.
    b.CreateCall(cells, {args, cell, b.CreateAdd(cell, b.getInt32(1))});
  });
}

// What orders an x86 processor's stores past its caches.
static void dropStoreFences(llvm::Module &module) {
  llvm::Function *fence = module.getFunction("llvm.x86.sse.sfence");
  if (!fence)
    return;
  while (!fence->use_empty())
    llvm::cast<llvm::Instruction>(fence->user_back())->eraseFromParent();
  fence->eraseFromParent();
}

bool emitCells(EntryFunction &entry) {
  KernelSource source = entry.kernel;
  source.symbol += "_cells";
  KernelInfo info;
  if (!codegen::emitKernel(source, entry.module, threadFeatures(), info))
    return false;
  if (info.scratchBytes > kMostScratch) {
    entry.kernel.body->front().emitError("needs ")
        << info.scratchBytes << " bytes of scratch for a row, and " << kMostScratch
        << " are there for --target=cuda yet (docs/limits.md)";
    return false;
  }
  llvm::Function *cells = entry.module.getFunction(source.symbol);
  dropStoreFences(entry.module);
  cells->setLinkage(llvm::GlobalValue::InternalLinkage);
  cells->setAttributes({}); // those of the cpu's code
  cells->addFnAttr(llvm::Attribute::AlwaysInline);
  flushSubnormals(*cells);
  entry.launch.threads = kCellThreads;
  emitCall(entry, cells, info);
  return true;
}

} // namespace tessera::codegen::gpu
