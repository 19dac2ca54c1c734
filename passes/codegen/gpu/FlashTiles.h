// What attention and its gradient have in common on a GPU (Dao et al. 2022, FlashAttention; Dao 2023,
// FlashAttention-2): a block has a tile of rows of one side, its own; tiles of the other side go past it.
//
//   for a tile of the other side:
//     products of both tiles, over slices of their terms           in registers
//     factors, functions of them                                   through shared memory
//     sums of results += factors * a slice of the other's rows     in registers
//   results
//
// There is never more of the plane of both sides than a tile. Slices come to two stages of shared
// memory, one while the other is multiplied, from the first product's to the last result's and on to the
// next tile's (SliceLoader.h). What is the block's own stays there where it fits.
#pragma once

#include "passes/codegen/gpu/FlashPlan.h"
#include "passes/codegen/gpu/TileMultiplier.h"
#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen::gpu {

// Shared memory of a kernel whose blocks have several plans.
struct FlashSpace {
  int64_t bytes = 0, bytesLeft = 0;       // of tiles; that they may take
  Value tiles = nullptr, votes = nullptr; // a number of 32 bits for each warp
};
FlashSpace takeVotes(EntryFunction &function, const TileMultiplier &multiplier);
void takeTiles(EntryFunction &function, FlashSpace &space);
int64_t bytesOf(const FlashPlan &plan, const TileMultiplier &multiplier);
FlashMultiplier memoryOf(const TileMultiplier &multiplier);
// Tensor cores where all products are of bf16, or all of f16; `across`: warps that have a row together.
std::unique_ptr<TileMultiplier>
flashMultiplier(Emitter &e, llvm::ArrayRef<const ContractionLoops *> products, int64_t across);

// One side's rows.
struct FlashSide {
  LoopGroup group;
  int64_t size = 1;
};

class FlashTiles {
public:
  FlashTiles(EntryFunction &function, Emitter &e, TileMultiplier &multiplier, const FlashPlan &plan,
             const FlashSpace &space)
      : function(function), e(e), b(e.b), multiplier(multiplier), plan(plan), shared(space.tiles),
        votes(space.votes), loader(e, multiplier.layout(), multiplier.threads()) {}
  virtual ~FlashTiles() = default;

protected:
  // The factors of the tile whose products are in `products`, by number; and what follows from them.
  virtual std::vector<llvm::SmallVector<Value>> factorsOf(Value other) = 0;
  // Of a result's element, whose rows and columns are bound, before the rest of the graph.
  virtual Value finished(Value row, Value sum) { return sum; }

  // Sides, products and results are known; `first`: the own tile's. At the block's beginning.
  void begin(Value first);
  // Tiles of the other side from low, which is the beginning of one, to high.
  void sweep(Value low, Value high);
  void storeResults();

  Value product(size_t number, size_t slot) {
    return b.CreateLoad(b.getFloatTy(), products[number].sums[slot]);
  }
  // Binds a row of a side; past the last it is the last again.
  void bind(const FlashSide &side, Value row);
  Value existing(const FlashSide &side, Value row); // null: it does
  Value ownRow(size_t number) { return b.CreateNSWAdd(ownFirst, rows[number]); }
  Value zero() { return llvm::ConstantFP::get(b.getFloatTy(), 0); }
  void clearSums();
  void multiplySums(size_t row, Value by);
  // Of all threads' values, by or, min or max.
  Value overBlock(Value value, llvm::function_ref<Value(Value, Value)> fold);
  Value overLanesOfRow(Value value, llvm::function_ref<Value(Value, Value)> fold);

  EntryFunction &function;
  Emitter &e;
  llvm::IRBuilder<> &b;
  TileMultiplier &multiplier;
  const FlashPlan &plan;
  Value shared, votes; // FlashSpace

  FlashSide own, other;
  Value ownFirst = nullptr;
  llvm::SmallVector<Value> rows, columns; // of a thread, in a tile

  struct Product {
    Node *own = nullptr, *other = nullptr; // operands
    llvm::SmallVector<LoopGroup> k;
    int64_t kSize = 1;
    SliceSide ownSide = {}, otherSide = {};
    llvm::SmallVector<Value> sums = {};
    int64_t kept = 0; // where its own operand stays
  };
  // Columns of a result: a sum over the other side of factors times `other`.
  struct Result {
    Node *product = nullptr; // Reduced
    Node *other = nullptr;
    LoopGroup n;
    int64_t nSize = 1;
    llvm::ArrayRef<Root> roots;
    size_t factor = 0;              // its number among those of the block
    int64_t first = 0, columns = 0; // of a block: a power of two
    SliceSide side = {};
    llvm::SmallVector<Value> sums = {}, parts = {};
  };
  static Result resultOf(const ContractionLoops &loops, llvm::ArrayRef<Root> roots, size_t factor,
                         const FlashColumns &columns) {
    return {loops.product, loops.b, loops.n,       loops.nSize,
            roots,         factor,  columns.first, columns.columns};
  }
  std::vector<Product> products;
  std::vector<Result> results;

private:
  int64_t segments() const { return int64_t(products.size() + results.size()); }
  void fetch(int64_t segment, Value k0, Value tile);
  void arrive(int64_t segment);
  void addSegment(int64_t segment, Value tile, Value next, Value high);
  void multiply(int64_t segment, Value k0);
  void keepOwn(Product &product);
  Value currentStage();
  Value nextStage();
  void storeGroup(Result &result, int64_t from, int64_t count);

  SliceLoader loader;
  Value stage = nullptr; // the slot of the current stage's place
};

} // namespace tessera::codegen::gpu
