#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/cpu/Attention.h"
#include "passes/codegen/cpu/AttentionGradient.h"
#include "passes/codegen/cpu/Contraction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tessera::codegen {

KernelFunction::KernelFunction(const KernelSource &kernel, llvm::Module &module,
                               const VectorFeatures &features)
    : kernel(kernel), module(module), features(features) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto *type =
      llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()},
                              /*isVarArg=*/false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel.symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", std::to_string(8 * features.bytes));
  function->addFnAttr("min-legal-vector-width", std::to_string(8 * features.bytes));
  function->addFnAttr("probe-stack", "inline-asm");
  flushSubnormals(*function);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  Value args = function->getArg(0);
  Value table = b.CreateLoad(b.getPtrTy(), args);
  scratch = b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), args, 1));
  gridBegin = b.CreateZExt(function->getArg(1), b.getInt64Ty());
  gridEnd = b.CreateZExt(function->getArg(2), b.getInt64Ty());
  for (unsigned i = 0, n = inputCount() + kernel.outputs().size(); i < n; ++i)
    buffers.push_back(b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), table, i)));
  end = b.CreateRet(b.getInt32(0));
}

void KernelFunction::forEachCell(int64_t cells,
                                 const std::function<void(Value, llvm::Instruction *)> &body) {
  info.grid = std::max(info.grid, cells);
  llvm::IRBuilder<> b(end);
  Value last = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, gridEnd, b.getInt64(cells));
  llvm::BasicBlock *before = end->getParent();
  llvm::BasicBlock *exit = before->splitBasicBlock(end, "done");
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "cell", function, exit);
  llvm::Instruction *jump = before->getTerminator();
  b.SetInsertPoint(jump);
  b.CreateCondBr(b.CreateICmpULT(gridBegin, last), loop, exit);
  jump->eraseFromParent();
  b.SetInsertPoint(loop);
  auto *cell = b.CreatePHI(b.getInt64Ty(), 2, "cell");
  cell->addIncoming(gridBegin, before);
  auto *next = llvm::BinaryOperator::CreateNUWAdd(cell, b.getInt64(1), "next", loop);
  b.CreateCondBr(b.CreateICmpULT(next, last), loop, exit);
  cell->addIncoming(next, loop);
  body(cell, next);
}

void emitEither(llvm::Instruction *&end, Value condition, const std::function<void()> &one,
                const std::function<void()> &other) {
  llvm::IRBuilder<> b(end);
  llvm::BasicBlock *before = end->getParent();
  llvm::Instruction *outerEnd = end;
  llvm::BasicBlock *exit = before->splitBasicBlock(end, "either");
  llvm::Function *function = before->getParent();
  auto *oneBlock = llvm::BasicBlock::Create(b.getContext(), "same", function, exit);
  auto *otherBlock = llvm::BasicBlock::Create(b.getContext(), "different", function, exit);
  llvm::Instruction *jump = before->getTerminator();
  b.SetInsertPoint(jump);
  b.CreateCondBr(condition, oneBlock, otherBlock);
  jump->eraseFromParent();
  b.SetInsertPoint(oneBlock);
  end = b.CreateBr(exit);
  one();
  b.SetInsertPoint(otherBlock);
  end = b.CreateBr(exit);
  other();
  end = outerEnd;
}

void KernelFunction::endStreams() {
  llvm::IRBuilder<> b(end);
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::x86_sse_sfence, {});
}

int64_t KernelFunction::reserveScratch(int64_t bytes) {
  int64_t offset = info.scratchBytes;
  info.scratchBytes += llvm::alignTo(bytes, 64);
  return offset;
}

int64_t KernelFunction::reserveScratchOfBox(int64_t bytes) {
  bytes = llvm::alignTo(bytes, 64);
  if (bytes <= boxBytes)
    return boxScratch;
  if (boxScratch + boxBytes != info.scratchBytes) // others lie behind it
    boxScratch = info.scratchBytes, boxBytes = 0;
  reserveScratch(bytes - boxBytes);
  boxBytes = bytes;
  return boxScratch;
}

static int64_t contractions(const KernelSource &kernel) {
  return llvm::count_if(*kernel.body, [](mlir::Operation &op) {
    return mlir::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
  });
}

// A frame of many pages is probed by a loop that takes r11 for its counter. LLVM 22 moves a prologue behind the
// first branch without asking whether a value lives there by then: the number of cells did. What is stored
// into the frame at the entry keeps the prologue there.
static void keepPrologueAtEntry(llvm::Function &function) {
  constexpr uint64_t page = 4096;
  const llvm::DataLayout &layout = function.getParent()->getDataLayout();
  llvm::BasicBlock &entry = function.getEntryBlock();
  llvm::AllocaInst *largest = nullptr;
  uint64_t bytes = 0, most = 0;
  for (llvm::Instruction &instruction : entry)
    if (auto *slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
      uint64_t size = layout.getTypeAllocSize(slot->getAllocatedType());
      bytes += size;
      if (size > most)
        most = size, largest = slot;
    }
  if (bytes < page)
    return;
  llvm::IRBuilder<> b(entry.getTerminator());
  b.CreateStore(b.getInt8(0), largest, /*isVolatile=*/true);
}

bool emitKernel(const KernelSource &kernel, llvm::Module &module, const VectorFeatures &features,
                KernelInfo &info) {
  KernelFunction function(kernel, module, features);
  bool known = true;
  bool ok = emitWhole(function, known);
  if (!known && ok && contractions(kernel) == 1)
    ok = emitContraction(function, known);
  if (!known && ok && contractions(kernel) > 1)
    ok = emitAttention(function, known);
  if (!known && ok && contractions(kernel) > 1)
    ok = emitAttentionGradient(function, known);
  if (!known && ok) {
    llvm::SmallVector<unsigned> all;
    for (unsigned i = 0; i < kernel.outputs().size(); ++i)
      all.push_back(i);
    ok = emitElemental(function, all);
  }
  if (ok)
    keepPrologueAtEntry(*function.function);
  info = function.info;
  return ok;
}

} // namespace tessera::codegen
