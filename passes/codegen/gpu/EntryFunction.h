// A kernel's entry in PTX while it is written, as LLVM IR:
//
//   .entry exp_0(.param .u64 .ptr .global x, .param .u64 .ptr .global y)
//
// Parts of the kernel have ranges of blocks of their own, one after the other.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/gpu/Division.h"
#include "passes/codegen/gpu/Strands.h"
#include "passes/codegen/kernel/KernelSource.h"

#include <functional>

namespace tessera::codegen::gpu {

class EntryFunction {
public:
  EntryFunction(const KernelSource &kernel, llvm::Module &module, const GpuFeatures &features);
  // Of strands: `kernel` is the first one, whose buffers and blocks are those of the strand that a block is of.
  EntryFunction(const Strands &strands, llvm::Module &module, const GpuFeatures &features);

  const KernelSource &kernel;
  llvm::Module &module;
  llvm::Function *function;
  llvm::SmallVector<Value> buffers; // inputs, then outputs
  Value thread, block;              // numbers of 64 bits: in the block, in the grid (of a strand)
  llvm::Instruction *end;           // the return: code goes before it
  const GpuFeatures features;
  Launch launch;
  int64_t sharedBytes = 0; // that the code declares

  // Of several strands: how many of `items`, which the first one has, that of the block has.
  Value itemsOfStrand(int64_t items);
  // When the first one's blocks are there: those of all.
  void addStrands();

  // At the end: what the numbers of threads and blocks can be.
  void tellNumbers(const Launch &launch);

  Value outputBuffer(unsigned output) const {
    return buffers[kernel.body->getNumArguments() + output];
  }
  // Parameters after the operands, before any code is written.
  llvm::SmallVector<Value> addMaps(std::vector<OperandMap> maps);
  // Memory that the block's threads share, of a size that the launch says: at a multiple of 1,024. Parts
  // of the kernel that take it have the same.
  Value takeSharedOfLaunch(int64_t bytes);
  int64_t sharedOfLaunchLeft() const;
  // Memory that the block's threads share.
  int64_t sharedLeft() const;
  Value takeShared(llvm::ArrayType *type, const char *name);
  // Writes the nodes of a graph of this kernel, as one thread computes them.
  Emitter emitter(Graph &graph) const;
  // `body` writes what `blocks` more blocks do; `number`: of the block among them.
  void addBlocks(int64_t blocks,
                 const std::function<void(Value number, llvm::Instruction *before)> &body);
  // Code for two cases, decided when the kernel runs; both have the same blocks.
  void ifSameBuffer(Value a, Value b, const std::function<void()> &same,
                    const std::function<void()> &different);

private:
  void begin(unsigned count); // of operands

  const Strands *strands = nullptr;
  Value blockOfAll; // in the grid
  llvm::SmallVector<std::pair<llvm::PHINode *, int64_t>>
      counts; // of a strand's items, and the first one's
};

// What a thread's registers offer to the emitters.
VectorFeatures threadFeatures();

// All threads of the block have come here, and see what they wrote before.
void barrier(llvm::IRBuilder<> &b);

// Writes a kernel into the module. False: an error was emitted.
bool emitKernel(const KernelSource &kernel, llvm::Module &module, const GpuFeatures &features,
                Launch &launch);
// Of a kernel whose outputs are functions of an index.
bool emitNests(EntryFunction &function);
// Of one contraction; `known` false: it is none that tiles suit.
bool emitProduct(EntryFunction &function, bool &known);
// Of attention, or its gradient; `known` false: it is neither.
bool emitFlash(EntryFunction &function, bool &known);
// Of a sort; `known` false: its rows are short, or find no room.
bool emitSort(EntryFunction &function, bool &known);
// Of a running reduction; `known` false: a chunk of its elements finds no room.
bool emitRunning(EntryFunction &function, bool &known);
// Of one operation that is none, by the cpu's code for it.
bool emitCells(EntryFunction &entry);

} // namespace tessera::codegen::gpu
