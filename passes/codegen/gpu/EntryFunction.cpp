#include "passes/codegen/gpu/EntryFunction.h"

#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/gpu/Processors.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera::codegen::gpu {

static constexpr unsigned kGlobal = 1, kShared = 3; // address spaces
static constexpr int64_t kThreadsThatFill = 128;    // a processor, each with code of its own

EntryFunction::EntryFunction(const KernelSource &kernel, llvm::Module &module,
                             const GpuFeatures &features)
    : kernel(kernel), module(module), features(features) {
  begin(kernel.body->getNumArguments() + kernel.outputs().size());
  for (llvm::Argument &argument : function->args())
    buffers.push_back(&argument);
  block = blockOfAll;
}

EntryFunction::EntryFunction(const Strands &strands, llvm::Module &module,
                             const GpuFeatures &features)
    : kernel(strands.first()), module(module), features(features), strands(&strands) {
  size_t each = strands.operandsOf(0).size();
  begin(strands.count() * each);
  llvm::BasicBlock *entry = end->getParent();
  entry->splitBasicBlock(end, "strand");
  llvm::IRBuilder<> b(end);
  for (size_t i = 0; i < each; ++i)
    buffers.push_back(b.CreatePHI(b.getPtrTy(kGlobal), strands.count()));
  block = b.CreatePHI(b.getInt64Ty(), strands.count());
}

void EntryFunction::begin(unsigned count) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::SmallVector<llvm::Type *> parameters(count, b.getPtrTy(kGlobal));
  function =
      llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, /*isVarArg=*/false),
                             llvm::Function::ExternalLinkage, kernel.symbol, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("no-jump-tables", "true");
  flushSubnormals(*function);
  for (llvm::Argument &argument : function->args())
    argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  auto number = [&](llvm::Intrinsic::ID id) {
    return b.CreateZExt(b.CreateIntrinsic(b.getInt32Ty(), id, {}), b.getInt64Ty());
  };
  thread = number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  blockOfAll = number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  end = b.CreateRetVoid();
}

void EntryFunction::tellNumbers(const Launch &launch) {
  auto tell = [](Value number, int64_t count) {
    auto *call = llvm::cast<llvm::CallInst>(llvm::cast<llvm::ZExtInst>(number)->getOperand(0));
    call->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, count)));
  };
  tell(thread, launch.threads);
  tell(blockOfAll, launch.blocks);
}

llvm::SmallVector<Value> EntryFunction::addMaps(std::vector<OperandMap> maps) {
  constexpr uint64_t kBytes = 128, kAlign = 64;
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<llvm::Type *> parameters(function->getFunctionType()->params());
  parameters.append(maps.size(), llvm::PointerType::get(context, 0));
  auto *wider = llvm::Function::Create(
      llvm::FunctionType::get(function->getReturnType(), parameters, /*isVarArg=*/false),
      function->getLinkage(), "", module);
  wider->takeName(function);
  wider->copyAttributesFrom(function);
  wider->splice(wider->begin(), function);
  for (auto [buffer, argument] : llvm::zip(buffers, wider->args())) {
    buffer->replaceAllUsesWith(&argument);
    buffer = &argument;
  }
  function->eraseFromParent();
  function = wider;
  llvm::SmallVector<Value> made;
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), kBytes);
  for (size_t i = buffers.size(); i < parameters.size(); ++i) {
    llvm::Argument *argument = function->getArg(i);
    argument->addAttr(llvm::Attribute::getWithByValType(context, type));
    argument->addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(kAlign)));
    argument->addAttr(llvm::Attribute::get(context, "nvvm.grid_constant"));
    made.push_back(argument);
  }
  launch.maps = std::move(maps);
  return made;
}

Value EntryFunction::itemsOfStrand(int64_t items) {
  llvm::IRBuilder<> b(module.getContext());
  if (!strands || llvm::all_equal(strands->elements))
    return b.getInt64(items);
  auto *first = llvm::cast<llvm::PHINode>(block);
  b.SetInsertPoint(first);
  llvm::PHINode *count = b.CreatePHI(b.getInt64Ty(), strands->count());
  counts.push_back({count, items});
  return count;
}

// Which strand a block is of is found by the numbers of their first blocks, one after the other.
void EntryFunction::addStrands() {
  if (!strands)
    return;
  int64_t ofFirst = launch.blocks, items = counts.empty() ? 0 : counts.front().second;
  auto *number = llvm::cast<llvm::PHINode>(block);
  llvm::BasicBlock *code = number->getParent(), *from = &function->getEntryBlock();
  from->getTerminator()->eraseFromParent();
  launch.blocks = 0;
  for (int64_t strand = 0; strand < strands->count(); ++strand) {
    int64_t elements = strands->elements[strand], all = strands->elements.front();
    auto itemsOf = [&](int64_t first) { return first * elements / all; };
    int64_t blocks = items ? blocksFor(itemsOf(items), launch) : ofFirst;
    llvm::IRBuilder<> b(from);
    Value within = b.CreateSub(blockOfAll, b.getInt64(launch.blocks));
    auto *next = llvm::BasicBlock::Create(b.getContext(), "next_strand", function, code);
    b.CreateCondBr(b.CreateICmpULT(within, b.getInt64(blocks)), code, next);
    for (auto [buffer, operand] : llvm::zip_equal(buffers, strands->operandsOf(strand)))
      llvm::cast<llvm::PHINode>(buffer)->addIncoming(function->getArg(operand), from);
    number->addIncoming(within, from);
    for (auto [count, first] : counts)
      count->addIncoming(b.getInt64(itemsOf(first)), from);
    launch.blocks += blocks;
    from = next;
  }
  llvm::IRBuilder<>(from).CreateRetVoid();
}

static constexpr uint64_t kLaunchAlign = 1024; // what the launch adds lies behind what is declared

int64_t EntryFunction::sharedOfLaunchLeft() const {
  return features.mostSharedBytes - llvm::alignTo(sharedBytes, kLaunchAlign);
}

int64_t EntryFunction::sharedLeft() const {
  int64_t beside = llvm::alignDown(features.mostSharedBytes - launch.sharedBytes, kLaunchAlign);
  return std::min(kMostSharedBytes, beside) - sharedBytes;
}

Value EntryFunction::takeSharedOfLaunch(int64_t bytes) {
  const char *name = "tessera_shared";
  launch.sharedBytes = std::max(launch.sharedBytes, bytes);
  if (llvm::GlobalVariable *known = module.getGlobalVariable(name))
    return known;
  auto *type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto *made = new llvm::GlobalVariable(module, type, /*isConstant=*/false,
                                        llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                        llvm::GlobalValue::NotThreadLocal, kShared);
  made->setAlignment(llvm::Align(kLaunchAlign));
  return made;
}

// There are no vector registers: those of 16 bytes are what a thread loads and stores at once. f16 is
// converted by arithmetic on bits, as LLVM makes of its own conversions operations in f16, which flush
// numbers that are subnormal there.
VectorFeatures threadFeatures() {
  VectorFeatures features;
  features.bytes = kAccessBytes;
  features.masks = features.extrema = features.bf16Pairs = true;
  features.leastCells = kProcessors * kThreadsThatFill;
  features.mostHeldBytes = 0; // ptxas spills where one fills a thread's 255 registers
  return features;
}

Emitter EntryFunction::emitter(Graph &graph) const {
  return {module, graph, threadFeatures(), buffers, /*scratch=*/nullptr};
}

Value EntryFunction::takeShared(llvm::ArrayType *type, const char *name) {
  sharedBytes += module.getDataLayout().getTypeAllocSize(type);
  auto *made = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::PoisonValue::get(type), kernel.symbol + name, /*InsertBefore=*/nullptr,
      llvm::GlobalValue::NotThreadLocal, kShared);
  made->setAlignment(llvm::Align(kAccessBytes));
  return made;
}

void EntryFunction::addBlocks(int64_t blocks,
                              const std::function<void(Value, llvm::Instruction *)> &body) {
  llvm::IRBuilder<> b(end);
  llvm::BasicBlock *before = end->getParent();
  llvm::BasicBlock *exit = before->splitBasicBlock(end, "next");
  auto *inside = llvm::BasicBlock::Create(b.getContext(), "blocks", function, exit);
  llvm::Instruction *jump = before->getTerminator();
  b.SetInsertPoint(jump);
  Value number = b.CreateSub(block, b.getInt64(launch.blocks));
  b.CreateCondBr(b.CreateICmpULT(number, b.getInt64(blocks)), inside, exit);
  jump->eraseFromParent();
  b.SetInsertPoint(inside);
  llvm::PHINode *inRange = b.CreatePHI(number->getType(), 1); // for NumberRanges.h
  inRange->addIncoming(number, before);
  body(inRange, b.CreateBr(exit));
  launch.blocks += blocks;
}

void EntryFunction::ifSameBuffer(Value x, Value y, const std::function<void()> &same,
                                 const std::function<void()> &different) {
  int64_t first = launch.blocks, last = first;
  auto write = [&](const std::function<void()> &body) {
    launch.blocks = first;
    body();
    last = std::max(last, launch.blocks);
  };
  emitEither(
      end, llvm::IRBuilder<>(end).CreateICmpEQ(x, y), [&] { write(same); },
      [&] { write(different); });
  launch.blocks = last;
}

void barrier(llvm::IRBuilder<> &b) {
  b.CreateIntrinsic(b.getVoidTy(), llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                    {b.getInt32(0)});
}

} // namespace tessera::codegen::gpu
