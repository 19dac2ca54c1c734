// Emits one kernel's function; see KernelEmitter.cpp for the roads a kernel can take.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/GraphBuilder.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <functional>
#include <memory>

namespace tessera::codegen {

// The function int32_t symbol(const TesseraKernelArgs *, uint32_t, uint32_t) while it is written.
class KernelFunction {
public:
  KernelFunction(const KernelSource &kernel, llvm::Module &module, const VectorFeatures &features);

  const KernelSource &kernel;
  llvm::Module &module;
  VectorFeatures features;
  llvm::Function *function;
  llvm::SmallVector<Value> buffers; // inputs, then outputs
  Value scratch, gridBegin, gridEnd;
  llvm::Instruction *end; // the return: code goes before it
  KernelInfo info;

  unsigned inputCount() const { return kernel.body->getNumArguments(); }
  // A loop over the function's cells, of which there are `cells`; `body` writes one.
  void forEachCell(int64_t cells,
                   const std::function<void(Value cell, llvm::Instruction *before)> &body);
  // Code for two cases, decided when the kernel runs.
  void ifSameBuffer(Value a, Value b, const std::function<void()> &same,
                    const std::function<void()> &different);
  // Space in the scratch; a byte offset.
  int64_t reserveScratch(int64_t bytes);
};

// A graph of the kernel's values with its builder and emitter.
struct KernelGraph {
  KernelGraph(KernelFunction &function, const SplitTable &splits);
  Graph graph;
  GraphBuilder builder;
  Emitter emitter;
};

// Cells of work: `order` lists loops outer first; cost is that of all of them.
struct Partition {
  unsigned prefix = 0; // loops before this one: one index a cell
  int64_t chunks = 1;  // of loop `prefix`
  int64_t chunk = 1;   // its indices a cell
  int64_t cells = 1;
};
Partition partition(llvm::ArrayRef<int64_t> sizes, double cost, int64_t inner);
// What running these nodes costs, in about a sixteenth of a cycle, and the floating-point
// operations in it.
struct Work {
  double cost = 0, flops = 0;
};
Work workOf(const Graph &graph, llvm::ArrayRef<Node *> nodes);

// Any kernel whose outputs are functions of an index: elementwise, data movement, reductions, small
// contractions.
bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs);
// One operation alone. `known` is false when the body holds none of theirs.
bool emitWhole(KernelFunction &function, bool &known);
bool emitScatter(KernelFunction &function, mlir::Operation *op);
bool emitSelectAndScatter(KernelFunction &function, mlir::Operation *op);
bool emitSort(KernelFunction &function, mlir::Operation *op);
// The kernel's output that is result `i` of `op`; -1 if none is.
int outputOf(const KernelFunction &function, mlir::Operation *op, unsigned result);
// A block argument that result `i` may overwrite and that is `value` itself, else -1.
int64_t sharedInput(const KernelFunction &function, unsigned output, mlir::Value value);

bool emitKernel(const KernelSource &kernel, llvm::Module &module, const VectorFeatures &features,
                KernelInfo &info);

} // namespace tessera::codegen
