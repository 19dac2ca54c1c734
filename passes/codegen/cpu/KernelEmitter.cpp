#include "passes/codegen/cpu/KernelEmitter.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "passes/codegen/cpu/Contraction.h"
#include "llvm/ADT/STLExtras.h"

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
  // As the workers run them: what LLVM computes of constants is flushed, too.
  function->addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
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

void KernelFunction::ifSameBuffer(Value x, Value y, const std::function<void()> &same,
                                  const std::function<void()> &different) {
  llvm::IRBuilder<> b(end);
  llvm::BasicBlock *before = end->getParent();
  llvm::Instruction *outerEnd = end;
  llvm::BasicBlock *exit = before->splitBasicBlock(end, "either");
  auto *sameBlock = llvm::BasicBlock::Create(b.getContext(), "same", function, exit);
  auto *differentBlock = llvm::BasicBlock::Create(b.getContext(), "different", function, exit);
  llvm::Instruction *jump = before->getTerminator();
  b.SetInsertPoint(jump);
  b.CreateCondBr(b.CreateICmpEQ(x, y), sameBlock, differentBlock);
  jump->eraseFromParent();
  b.SetInsertPoint(sameBlock);
  end = b.CreateBr(exit);
  same();
  b.SetInsertPoint(differentBlock);
  end = b.CreateBr(exit);
  different();
  end = outerEnd;
}

int64_t KernelFunction::reserveScratch(int64_t bytes) {
  int64_t offset = info.scratchBytes;
  info.scratchBytes += llvm::alignTo(bytes, 64);
  return offset;
}

KernelGraph::KernelGraph(KernelFunction &function, const SplitTable &splits)
    : builder(graph, splits), emitter(function.module, graph, function.features) {
  for (auto [i, argument] : llvm::enumerate(function.kernel.body->getArguments())) {
    BufferInfo buffer;
    buffer.position = i;
    if (auto type = elementType(argument.getType())) {
      buffer.kind = type->kind;
      buffer.elements = mlir::cast<mlir::ShapedType>(argument.getType()).getNumElements() *
                        (type->complex ? 2 : 1);
    }
    graph.buffers.push_back(buffer);
    builder.bindBuffer(argument, i);
  }
  emitter.arguments = function.buffers;
  emitter.scratch = function.scratch;
}

Work workOf(const Graph &graph, llvm::ArrayRef<Node *> nodes) {
  Work work;
  for (Node *node : nodes) {
    DimSet deps = node->deps;
    double weight = 1, flops = 0;
    if (node->op == Op::Constant || node->op == Op::External)
      continue;
    if (node->op == Op::Reduced) {
      deps |= node->reduction->ownDims;
      flops = isFloat(node->kind);
    } else if (node->op == Op::Pow || node->op == Op::Atan2 ||
               (node->op >= Op::Exp && node->op <= Op::Cbrt)) {
      weight = 20;
      flops = 1;
    } else if (node->op >= Op::Add && node->op <= Op::RoundEven) {
      flops = isFloat(node->kind);
    }
    if (node->op == Op::Load)
      weight = byteSize(node->kind);
    double points = 1;
    for (unsigned dim = 0; dim < graph.dims.size(); ++dim)
      if (deps >> dim & 1)
        points *= graph.dims[dim].high - graph.dims[dim].low;
    work.cost += weight * points;
    work.flops += flops * points;
  }
  return work;
}

Partition partition(llvm::ArrayRef<int64_t> sizes, double cost, int64_t inner) {
  // About 5 us a cell: far above what handing one out costs, far below a step.
  constexpr double costOfCell = 200e3;
  constexpr int64_t mostCells = 1024;
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(cost / costOfCell), 1, mostCells);
  Partition result;
  int64_t before = 1;
  while (result.prefix + 1 < sizes.size() && before * sizes[result.prefix] <= wanted)
    before *= sizes[result.prefix++];
  if (sizes.empty())
    return result;
  int64_t size = sizes[result.prefix];
  int64_t rowsInside = 1;
  for (int64_t n : sizes.drop_front(result.prefix + 1))
    rowsInside *= n;
  // Whole vectors where the loop may be the vector loop.
  int64_t step = 64 / std::gcd(rowsInside, int64_t(64));
  int64_t chunk = llvm::divideCeil(size, std::max<int64_t>(wanted / before, 1));
  result.chunk = std::min(size, static_cast<int64_t>(llvm::alignTo(chunk, step)));
  result.chunks = llvm::divideCeil(size, result.chunk);
  result.cells = before * result.chunks;
  return result;
}

static bool hasContraction(const KernelSource &kernel) {
  return llvm::any_of(*kernel.body, [](mlir::Operation &op) {
    return mlir::isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
  });
}

bool emitKernel(const KernelSource &kernel, llvm::Module &module, const VectorFeatures &features,
                KernelInfo &info) {
  KernelFunction function(kernel, module, features);
  bool known = true;
  bool ok = emitWhole(function, known);
  if (!known && ok && hasContraction(kernel))
    ok = emitContraction(function, known);
  if (!known && ok) {
    llvm::SmallVector<unsigned> all;
    for (unsigned i = 0; i < kernel.outputs().size(); ++i)
      all.push_back(i);
    ok = emitElemental(function, all);
  }
  info = function.info;
  return ok;
}

} // namespace tessera::codegen
