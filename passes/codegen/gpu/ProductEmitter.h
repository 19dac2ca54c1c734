// What emits a contraction (kernel/ContractionLoops.h) by tiles: a block computes a tile of the result.
//
//   fetch slices of a and b at 0
//   for each slice of k:
//     the slices have come to this stage in shared memory; barrier
//     fetch the next ones to the other stage                 on their way while products are added
//     sums += products of this stage
//   the tile's sums, through shared memory, side by side: the rest of the graph; stores
//
// Rows and columns past the last are the last ones again (SliceLoader.h), and not stored. How products
// are added is said by what derives from this: ProductByThreads.cpp, ProductByCores.cpp.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/ProductTile.h"
#include "passes/codegen/gpu/SliceLoader.h"
#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen::gpu {

class ProductEmitter {
public:
  ProductEmitter(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops,
                 Multiplier multiplier, const SliceLayout &layout);
  virtual ~ProductEmitter() = default;
  void emit();

protected:
  ElementKind storedKind() const { return layout.kind(); }
  ElementKind sumKind() const { return loops.product->kind; }
  virtual Node *sourceOf(Node *operand) { return operand; }
  virtual void makeSums() = 0;
  virtual void multiply(Value stageOffset) = 0;
  virtual void addBlock() = 0; // a block of k is done
  virtual int64_t blockOfK() const = 0;
  // A group of the sums' rows to shared memory, `pitch` elements from row to row; and the tile's row
  // that one of them is.
  virtual void stageSums(Value group) = 0;
  virtual int64_t pitch() const { return tile.columns; }
  virtual Value rowOf(Value group, Value row) = 0;

  bool isInBlocks() const { return loops.kSize > blockOfK(); }
  Value constant(int64_t value) { return b.getInt64(value); }
  Value sharedPlace(ElementKind kind, Value offset) { return e.element(shared, kind, offset); }
  // Of slots, the sums that stand in them.
  void clear(llvm::ArrayRef<Value> slots);
  void addAndClear(llvm::ArrayRef<Value> sums, llvm::ArrayRef<Value> parts);
  llvm::SmallVector<Value> makeSlots(int64_t count, const char *name);
  // What slots of several groups hold, of the group that is asked for.
  Value ofGroup(Value group, int64_t groups, llvm::function_ref<Value(int64_t)> slotOf);

  EntryFunction &function;
  NestGraph &nest;
  const ContractionLoops &loops;
  Graph &graph;
  const ProductTile tile;
  const SliceLayout &layout;
  Emitter e;
  llvm::IRBuilder<> &b;
  SliceLoader loader;
  SliceSide left, right;
  Value shared = nullptr;
  int64_t rightOffset = 0; // of its slice in a stage, in elements

private:
  void prepare();
  void emitTile(Value number, llvm::Instruction *before);
  void fetch(Value k0);
  void arrive(Value k0);
  Value stageOf(Value k0);
  void addSlices();
  void addSlice(Value k0, Value end);
  void emitResults();
  void emitResult(Value number, Value group, int64_t lanes);

  int64_t stageElements = 0;
};

// By fused multiply-adds of threads; by tensor cores.
void emitProductByThreads(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops);
void emitProductByCores(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops);
// Whether its operands are f16 or bf16 that tensor cores multiply.
bool isForCores(const ContractionLoops &loops);

} // namespace tessera::codegen::gpu
