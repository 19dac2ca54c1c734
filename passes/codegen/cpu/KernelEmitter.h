// Emits one kernel's function; see KernelEmitter.cpp for the roads a kernel can take.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/KernelGraph.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/NestGraph.h"
#include "passes/codegen/kernel/Partition.h"

#include <functional>
#include <memory>

namespace tessera::codegen {

// Code for two cases, decided by a condition. Each is written before `end`, which is its end
// meanwhile.
void emitEither(llvm::Instruction *&end, Value condition, const std::function<void()> &one,
                const std::function<void()> &other);

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
  Value outputBuffer(unsigned output) const { return buffers[inputCount() + output]; }
  // Writes the nodes of a graph of this kernel.
  Emitter emitter(Graph &graph) const { return {module, graph, features, buffers, scratch}; }
  // A loop over the function's cells, of which there are `cells`; `body` writes one.
  void forEachCell(int64_t cells,
                   const std::function<void(Value cell, llvm::Instruction *before)> &body);
  // Code for two cases, decided when the kernel runs.
  void ifSameBuffer(Value a, Value b, const std::function<void()> &same,
                    const std::function<void()> &different) {
    emitEither(end, llvm::IRBuilder<>(end).CreateICmpEQ(a, b), same, different);
  }
  // Stores that went past the caches are seen by others once the function returns.
  void endStreams();
  // Space in the scratch; a byte offset.
  int64_t reserveScratch(int64_t bytes);
  // The same of what is needed while one box of a nest is computed: all boxes have it in one place.
  int64_t reserveScratchOfBox(int64_t bytes);

private:
  int64_t boxScratch = 0, boxBytes = 0; // where that is, and how large
};

// A graph of the kernel's values and the emitter of its nodes.
struct EmittedGraph : KernelGraph {
  EmittedGraph(KernelFunction &function, const SplitTable &splits)
      : KernelGraph(function.kernel, splits), emitter(function.emitter(graph)) {}
  Emitter emitter;
};

// Any kernel whose outputs are functions of an index: elementwise, data movement, reductions, small
// contractions.
bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs);
// The same of outputs of one shape, at some of their points.
bool emitElemental(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, const Phase &phase);
// One operation alone. `known` is false when the body holds none of theirs.
bool emitWhole(KernelFunction &function, bool &known);
bool emitScatter(KernelFunction &function, mlir::Operation *op);
bool emitSelectAndScatter(KernelFunction &function, mlir::Operation *op);
bool emitSort(KernelFunction &function, mlir::Operation *op);
bool emitLoop(KernelFunction &function, mlir::Operation *op);
bool emitRunningReduction(KernelFunction &function, mlir::Operation *op);
bool emitKernel(const KernelSource &kernel, llvm::Module &module, const VectorFeatures &features,
                KernelInfo &info);

} // namespace tessera::codegen
