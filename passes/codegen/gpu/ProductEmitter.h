// What emits a contraction (kernel/ContractionLoops.h) by tiles: a block computes a tile of the result.
//
//   fetch slices of a and b at 0
//   for each slice of k:
//     the slices have come to this stage in shared memory; barrier
//     fetch the next ones to the other stage                 on their way while products are added
//     sums += products of this stage
//   the tile's sums, through shared memory, side by side: the rest of the graph; stores
//
// The operands are any nodes: a slice is computed into registers and stored when its turn comes, or
// copied as it is by cp.async. What lies past the end of k counts as zeros, which change no sum; rows and
// columns past the last are the last ones again, and not stored. How products are added is said by what
// derives from this: ProductByThreads.cpp, ProductByCores.cpp.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/ProductTile.h"
#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen::gpu {

// One of the two that are multiplied, as its slices are fetched.
struct ProductSide {
  Node *node = nullptr;
  llvm::SmallVector<LoopGroup> groups;     // its rows, or columns
  int64_t size = 1, extent = 1;            // of all of them, and of those of a tile
  bool alongK = false;                     // a thread fetches elements side by side along k
  int64_t lanes = 1;                       // so many
  bool isCopied = false;                   // by cp.async
  Value first = nullptr;                   // row of the tile
  int64_t offset = 0;                      // in a stage, in elements
  llvm::SmallVector<Value> registers = {}; // of a thread, between memory and a stage
};

class ProductEmitter {
public:
  ProductEmitter(EntryFunction &function, NestGraph &nest, const ContractionLoops &loops,
                 Multiplier multiplier);
  virtual ~ProductEmitter() = default;
  void emit();

protected:
  // Of the elements in shared memory that are multiplied; of those that are added.
  virtual ElementKind storedKind() const = 0;
  ElementKind sumKind() const { return loops.product->kind; }
  virtual Node *sourceOf(Node *operand) { return operand; }
  // Where an element lies in its slice, which has so many.
  virtual Value placeInSlice(const ProductSide &side, Value row, Value k) = 0;
  virtual int64_t sliceElements(const ProductSide &side) const = 0;
  // Whether what a thread fetches at once lies side by side there.
  virtual bool isRun(const ProductSide &side) const = 0;
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
  Emitter e;
  llvm::IRBuilder<> &b;
  ProductSide left, right;
  Value shared = nullptr;

private:
  ProductSide sideOf(Node *node, llvm::ArrayRef<LoopGroup> groups, int64_t size, int64_t extent);
  bool canBeCopied(const ProductSide &side) const;
  void prepare();
  void emitTile(Value number, llvm::Instruction *before);
  int64_t chunks(const ProductSide &side) const {
    return side.extent * tile.depth / side.lanes / tile.threads();
  }
  std::pair<Value, Value> placeOf(const ProductSide &side, int64_t number);
  Value openChunk(const ProductSide &side, Value row, Value k);
  void closeChunk();
  void load(ProductSide &side, Value k0);
  void copy(ProductSide &side, Value k0);
  void store(const ProductSide &side, Value k0);
  void fetch(Value k0);
  void arrive(Value k0);
  Value stageOf(Value k0);
  Value inStage(const ProductSide &side, Value k0, Value row, Value k);
  void addSlices();
  void addSlice(Value k0, Value end);
  int64_t resultLanes();
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
