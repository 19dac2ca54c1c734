// Slices of operands in shared memory, for what multiplies by tiles: some rows of an operand by some of
// the terms that are multiplied. The operand is any node: a slice is computed into registers and stored
// when its turn comes, or copied as it lies by cp.async.
//
//   fetch(side, k0, place)    on its way
//   ... what is multiplied meanwhile
//   store(side, place)        what is in registers
//   await(); barrier          it is there
//
// What lies past the end of k counts as zeros, which change no sum; rows past the last are the last ones
// again.
#pragma once

#include "passes/codegen/gpu/EntryFunction.h"

namespace tessera::codegen::gpu {

struct SliceShape {
  int64_t extent = 0, depth = 0; // rows, terms
  bool alongK = false;           // a thread fetches elements side by side along k
};

// How the elements of a slice lie.
class SliceLayout {
public:
  virtual ~SliceLayout() = default;
  virtual ElementKind kind() const = 0;
  virtual int64_t elements(const SliceShape &shape) const = 0;
  virtual Value place(llvm::IRBuilder<> &b, const SliceShape &shape, Value row, Value k) const = 0;
  // So many terms of a row threads side by side fetch along k, before those of the next row.
  virtual int64_t termsTogether(const SliceShape &shape) const { return shape.depth; }
  // Whether `lanes` elements that a thread fetches at once lie side by side there.
  virtual bool isRun(const SliceShape &shape, int64_t lanes) const = 0;
};

// One of two that are multiplied.
struct SliceSide {
  Node *node = nullptr;
  llvm::SmallVector<LoopGroup> groups, k;  // its rows, or columns; the terms
  int64_t size = 1, kSize = 1;             // of all of them
  int64_t kStep = 1;                       // slices are fetched to the next multiple of it
  SliceShape shape;                        // of those of a slice
  int64_t lanes = 1;                       // fetched at once
  bool isCopied = false;                   // by cp.async
  Value first = nullptr;                   // row of the slice
  llvm::SmallVector<Value> registers = {}; // of a thread, between memory and the slice
};

class SliceLoader {
public:
  SliceLoader(Emitter &e, const SliceLayout &layout, int64_t threads)
      : e(e), b(e.b), layout(layout), threads(threads) {}

  // Where slices lie, and who fetches: known when code is written.
  Value shared = nullptr, thread = nullptr;

  SliceSide sideOf(Node *node, llvm::ArrayRef<LoopGroup> groups, int64_t size,
                   llvm::ArrayRef<LoopGroup> k, int64_t kSize, int64_t extent, int64_t depth) const;
  void makeRegisters(SliceSide &side);
  void fetch(SliceSide &side, Value k0, Value place);
  void store(const SliceSide &side, Value place);
  void await();

private:
  bool canBeCopied(const SliceSide &side) const;
  int64_t items(const SliceSide &side) const {
    return side.shape.extent * side.shape.depth / side.lanes;
  }
  int64_t chunks(const SliceSide &side) const { return (items(side) + threads - 1) / threads; }
  void overChunks(const SliceSide &side,
                  llvm::function_ref<void(int64_t number, Value row, Value k)> body);
  Value openChunk(const SliceSide &side, Value row, Value k);
  void closeChunk();
  void load(SliceSide &side, Value k0);
  void copy(SliceSide &side, Value k0, Value place);
  Value constant(int64_t value) { return b.getInt64(value); }
  Value at(const SliceSide &side, Value place, Value row, Value k) {
    Value offset = b.CreateNSWAdd(place, layout.place(b, side.shape, row, k));
    return e.element(shared, layout.kind(), offset);
  }

  Emitter &e;
  llvm::IRBuilder<> &b;
  const SliceLayout &layout;
  int64_t threads;
};

} // namespace tessera::codegen::gpu
