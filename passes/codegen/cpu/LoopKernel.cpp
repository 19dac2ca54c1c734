// A loop in code: kernels of the trips are functions that are inlined, arrays are slots of the stack,
// and LLVM keeps in registers what it can.
#include "passes/codegen/kernel/LoopKernel.h"
#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/TensorTypes.h"

namespace tessera::codegen {

using namespace tessera::stablehlo;

namespace {

class LoopEmitter {
public:
  LoopEmitter(KernelFunction &function, WhileOp loop)
      : function(function), loop(loop), b(function.module.getContext()) {}
  bool emit();

private:
  bool emitBlock(mlir::Block &block);
  bool emitTrip(exec::FusedOp fused);
  bool emitBranch(CaseOp branch);
  bool startState();
  bool nextState();

  static int64_t bytesOf(mlir::Value value) { return tessera::byteSize(typeOf(value)); }
  static bool isLarge(mlir::Value value) { return bytesOf(value) > mostBytesOfCarried; }
  Value slot(llvm::Type *type);
  Value slot(mlir::Value value);
  Value pointerTo(mlir::Value value) { return pointers.lookup(value); }
  void copy(Value to, Value from, mlir::Value value) {
    llvm::Align align(64);
    if (to != from)
      b.CreateMemCpy(to, align, from, align, bytesOf(value));
  }
  llvm::BasicBlock *addBlock(const char *name) {
    return llvm::BasicBlock::Create(b.getContext(), name, function.function);
  }

  KernelFunction &function;
  WhileOp loop;
  llvm::IRBuilder<> b;
  llvm::DenseMap<mlir::Value, Value> pointers;
  llvm::SmallVector<Value> state; // what the loop carries
  unsigned parts = 0;             // functions of kernels
  int64_t scratchBytes = 0;       // the most that one of them needs
};

} // namespace

Value LoopEmitter::slot(llvm::Type *type) {
  llvm::BasicBlock &entry = function.function->getEntryBlock();
  llvm::IRBuilder<> atEntry(&entry, entry.begin());
  llvm::AllocaInst *made = atEntry.CreateAlloca(type);
  made->setAlignment(llvm::Align(64));
  return made;
}

Value LoopEmitter::slot(mlir::Value value) {
  return slot(llvm::ArrayType::get(b.getInt8Ty(), std::max<int64_t>(bytesOf(value), 1)));
}

// The kernel of a trip is a function of its own, with the interface of any kernel.
bool LoopEmitter::emitTrip(exec::FusedOp fused) {
  KernelSource source{function.kernel.symbol + "." + std::to_string(parts++), fused.getBlock(), {}};
  llvm::SmallVector<Value> buffers;
  for (mlir::Value input : fused.getInputs())
    buffers.push_back(pointerTo(input));
  for (unsigned i = 0; i < fused.getNumResults(); ++i) {
    mlir::Value result = fused.getResult(i);
    int64_t operand = fused.inplaceOperand(i);
    source.inplace.push_back(operand);
    if (isLarge(result) && operand < 0) {
      fused.emitError("internal: a trip of a loop in one kernel makes a large array");
      return false;
    }
    buffers.push_back(pointers[result] = operand < 0 ? slot(result) : buffers[operand]);
  }
  KernelInfo info;
  if (!emitKernel(source, function.module, function.features, info))
    return false;
  llvm::Function *part = function.module.getFunction(source.symbol);
  part->setLinkage(llvm::GlobalValue::InternalLinkage);
  part->addFnAttr(llvm::Attribute::AlwaysInline);
  scratchBytes = std::max(scratchBytes, info.scratchBytes);

  llvm::Type *pointer = b.getPtrTy();
  Value table = slot(llvm::ArrayType::get(pointer, std::max<size_t>(buffers.size(), 1)));
  for (auto [i, buffer] : llvm::enumerate(buffers))
    b.CreateStore(buffer, b.CreateConstGEP1_64(pointer, table, i));
  Value arguments = slot(llvm::ArrayType::get(pointer, 3));
  b.CreateStore(table, arguments);
  b.CreateStore(function.scratch, b.CreateConstGEP1_64(pointer, arguments, 1));
  b.CreateCall(part, {arguments, b.getInt32(0), b.getInt32(static_cast<uint32_t>(info.grid))});
  return true;
}

bool LoopEmitter::emitBranch(CaseOp branch) {
  for (mlir::Value result : branch.getResults())
    pointers[result] = slot(result);
  Value index = b.CreateLoad(b.getInt32Ty(), pointerTo(branch.getIndex()));
  llvm::BasicBlock *last = addBlock("branch"), *after = addBlock("joined");
  llvm::SwitchInst *jump = b.CreateSwitch(index, last); // out of range means the last
  for (auto [i, region] : llvm::enumerate(branch.getBranches())) {
    bool isLast = i + 1 == branch.getBranches().size();
    llvm::BasicBlock *block = isLast ? last : addBlock("branch");
    if (!isLast)
      jump->addCase(b.getInt32(static_cast<uint32_t>(i)), block);
    b.SetInsertPoint(block);
    if (!emitBlock(region.front()))
      return false;
    for (auto [value, result] :
         llvm::zip(region.front().getTerminator()->getOperands(), branch.getResults()))
      copy(pointerTo(result), pointerTo(value), result);
    b.CreateBr(after);
    b.SetInsertPoint(after);
  }
  return true;
}

bool LoopEmitter::emitBlock(mlir::Block &block) {
  for (mlir::Operation &op : block.without_terminator()) {
    if (mlir::isa<ReshapeOp>(op)) {
      pointers[op.getResult(0)] = pointerTo(op.getOperand(0));
    } else if (auto fused = mlir::dyn_cast<exec::FusedOp>(op)) {
      if (!emitTrip(fused))
        return false;
    } else if (auto branch = mlir::dyn_cast<CaseOp>(op)) {
      if (!emitBranch(branch))
        return false;
    } else {
      op.emitError("'") << op.getName() << "' cannot be part of a loop in one kernel";
      return false;
    }
  }
  return true;
}

// Large arrays are where the results are to be.
bool LoopEmitter::startState() {
  for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
    int output = function.kernel.outputOf(loop, i);
    if (isLarge(operand) && output < 0) {
      loop.emitError("internal: a loop in one kernel drops a large array");
      return false;
    }
    state.push_back(isLarge(operand) ? function.outputBuffer(output) : slot(operand));
    Value initial = pointerTo(operand);
    if (isLarge(operand)) {
      Value bytes = b.CreateSelect(b.CreateICmpEQ(state[i], initial), b.getInt64(0),
                                   b.getInt64(bytesOf(operand)));
      b.CreateMemMove(state[i], llvm::Align(64), initial, llvm::Align(64), bytes);
    } else {
      copy(state[i], initial, operand);
    }
    for (mlir::Region *region : {&loop.getCond(), &loop.getBody()})
      pointers[region->getArgument(i)] = state[i];
  }
  return true;
}

// All at once: what is carried on in another place is saved before it is written over.
bool LoopEmitter::nextState() {
  mlir::ValueRange next = loop.getBody().front().getTerminator()->getOperands();
  llvm::SmallVector<Value> from;
  for (auto [i, value] : llvm::enumerate(next)) {
    Value pointer = pointerTo(value);
    if (pointer != state[i] && isLarge(value)) {
      loop.emitError("internal: a loop in one kernel moves a large array");
      return false;
    }
    if (pointer != state[i] && llvm::is_contained(state, pointer)) {
      Value saved = slot(value);
      copy(saved, pointer, value);
      pointer = saved;
    }
    from.push_back(pointer);
  }
  for (auto [i, value] : llvm::enumerate(next))
    copy(state[i], from[i], value);
  return true;
}

bool LoopEmitter::emit() {
  llvm::BasicBlock *before = function.end->getParent();
  llvm::BasicBlock *exit = before->splitBasicBlock(function.end, "done");
  before->getTerminator()->eraseFromParent();
  b.SetInsertPoint(before);
  for (auto [i, argument] : llvm::enumerate(function.kernel.body->getArguments()))
    pointers[argument] = function.buffers[i];
  if (!startState())
    return false;
  llvm::BasicBlock *test = addBlock("test"), *trip = addBlock("trip"), *after = addBlock("after");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  mlir::Block &condition = loop.getCond().front();
  if (!emitBlock(condition))
    return false;
  Value goesOn = b.CreateLoad(b.getInt8Ty(), pointerTo(condition.getTerminator()->getOperand(0)));
  b.CreateCondBr(b.CreateICmpNE(goesOn, b.getInt8(0)), trip, after);
  b.SetInsertPoint(trip);
  if (!emitBlock(loop.getBody().front()) || !nextState())
    return false;
  b.CreateBr(test);
  b.SetInsertPoint(after);
  for (auto [i, result] : llvm::enumerate(loop->getResults()))
    if (int output = function.kernel.outputOf(loop, i); output >= 0)
      copy(function.outputBuffer(output), state[i], result);
  b.CreateBr(exit);
  function.reserveScratch(scratchBytes);
  return true;
}

bool emitLoop(KernelFunction &function, mlir::Operation *op) {
  return LoopEmitter(function, mlir::cast<WhileOp>(op)).emit();
}

} // namespace tessera::codegen
