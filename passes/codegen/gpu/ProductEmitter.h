// What emits a contraction (kernel/ContractionLoops.h) by tiles: a block computes a tile of the result.
//
//   fetch slices of a and b at 0
//   for each slice of k:
//     the slices have come to this stage in shared memory; barrier
//     fetch the next ones to the other stage                 on their way while products are added
//     sums += products of this stage
//   the tile's sums, through shared memory, side by side: the rest of the graph; stores
//
// Where rows fall into groups (kernel/GroupedProduct.h) it does so once for each run of the tile's rows
// that have one group, with that group's b, and stores the rows of the run.
//
// Rows and columns past the last are the last ones again (SliceLoader.h), or zeros, and not stored. How
// products are added is said by what derives from this: ProductByThreads.cpp, ProductByCores.cpp,
// ProductOfIntegers.cpp; and ProductByWarpgroups.cpp, where slices come otherwise, too.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"
#include "passes/codegen/gpu/ProductTile.h"
#include "passes/codegen/gpu/SliceLoader.h"
#include "passes/codegen/kernel/GroupedProduct.h"
#include "passes/codegen/kernel/TermRange.h"

namespace tessera::codegen::gpu {

struct ProductLoops : ContractionLoops {
  std::optional<TermRange> terms;          // that are not left out
  const GroupedProduct *grouped = nullptr; // whose rows fall into groups
};

class ProductEmitter {
public:
  ProductEmitter(EntryFunction &function, NestGraph &nest, const ProductLoops &loops,
                 Multiplier multiplier, const SliceLayout &layout);
  virtual ~ProductEmitter() = default;
  void emit();

protected:
  ElementKind storedKind() const { return layout.kind(); }
  ElementKind sumKind() const { return loops.product->kind; }
  virtual Node *sourceOf(Node *operand) { return operand; }
  virtual int64_t sliceElements(const SliceSide &side) const { return layout.elements(side.shape); }
  // Memory for the stages, and then for a group of rows of the result.
  virtual Value takeStages();
  virtual void placeThread() = 0; // before anything else in a tile
  virtual int64_t sumsOfThread() const = 0;
  virtual void addSlices();
  virtual void multiply(Value stageOffset) = 0; // what is in a stage; adds to the parts
  virtual int64_t blockOfK() const = 0;
  // A group of the sums' rows to shared memory, `pitch` elements from row to row; and the tile's row
  // that one of them is.
  virtual void stageSums(Value group) = 0;
  virtual int64_t pitch() const { return tile.columns; }
  virtual Value rowOf(Value group, Value row) = 0;

  void prepare();   // both sides
  void emitTiles(); // of what is prepared
  bool isInBlocks() const { return loops.kSize > blockOfK(); }
  Value constant(int64_t value) { return b.getInt64(value); }
  Value sharedPlace(ElementKind kind, Value offset) { return e.element(shared, kind, offset); }
  // The terms that are not left out: whole slices, or blocks.
  void findTerms();
  // Loops over slices of k, in blocks: `add` has the slice's place, and the end of all.
  void forSlices(llvm::function_ref<void(Value k0, Value end)> add);
  int64_t stageBytes() const { return stageElements * byteSize(storedKind()); }
  int64_t resultBytes() const { return tile.groupRows() * pitch() * byteSize(sumKind()); }
  // What a thread has added up when all is done.
  llvm::ArrayRef<Value> results() const { return sums.empty() ? parts : sums; }
  // What slots of several groups hold, of the group that is asked for.
  Value ofGroup(Value group, int64_t groups, llvm::function_ref<Value(int64_t)> slotOf);

  EntryFunction &function;
  NestGraph &nest;
  const ProductLoops &loops;
  Graph &graph;
  const ProductTile tile;
  const SliceLayout &layout;
  Emitter e;
  llvm::IRBuilder<> &b;
  SliceLoader loader;
  SliceSide left, right;
  Value shared = nullptr;
  int64_t rightOffset = 0, stageElements = 0; // of its slice in a stage; of a stage
  Value firstTerm = nullptr, endOfTerms = nullptr;
  Value groups = nullptr, runGroup = nullptr; // of the tile's rows, in shared memory; of a run
  // Slots of a thread: of a block of k; of all blocks, if there are several.
  llvm::SmallVector<Value> parts, sums;

private:
  void findGroups();
  void emitRuns();
  void makeSums();
  Value groupOf(Value row); // of the tile
  void emitTile(Value number, llvm::Instruction *before);
  void fetch(Value k0);
  void arrive(Value k0);
  Value stageOf(Value k0);
  void addSlice(Value k0, Value end);
  llvm::SmallVector<Value> makeSlots(const char *name);
  void clear(llvm::ArrayRef<Value> slots);
  void addBlock();
  void emitResults();
  void emitResult(Value number, Value group, int64_t lanes);
};

// By fused multiply-adds of threads; by tensor cores, which warps use, or warpgroups.
void emitProductByThreads(EntryFunction &function, NestGraph &nest, const ProductLoops &loops);
void emitProductByCores(EntryFunction &function, NestGraph &nest, const ProductLoops &loops);
// False, and nothing is written: it does not suit them.
bool emitProductByWarpgroups(EntryFunction &function, NestGraph &nest, const ProductLoops &loops);
void emitProductOfIntegers(EntryFunction &function, NestGraph &nest, const ProductLoops &loops);
// Whether its operands are f16 or bf16 that tensor cores multiply.
bool isForCores(const ContractionLoops &loops);

} // namespace tessera::codegen::gpu
