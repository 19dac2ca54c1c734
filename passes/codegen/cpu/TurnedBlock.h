// A block of two loops in which turned loads (kernel/TurnedLoads.h) are read by vectors.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/TurnedLoads.h"

namespace tessera::codegen {

class TurnedBlock {
public:
  // `along` and `vector`: the two loops. `beyond`: elements of the vector loop after a block's end that
  // are read, too.
  TurnedBlock(Emitter &emitter, const TurnedLoads &turned, llvm::ArrayRef<unsigned> along,
              llvm::ArrayRef<unsigned> vector, int64_t beyond);

  // Sides in elements. Where rows begin anywhere in a line they are longer and fewer.
  int64_t alongSide, vectorSide;

  // Where the next block begins; `trip`: of the loop `around` both, if there is one.
  void expect(Value a, Value v, llvm::ArrayRef<unsigned> around, Value trip);
  // Reads the block [a0, a1) x [v0, v1).
  void turn(Value a0, Value a1, Value v0, Value v1);
  // At the `a`th of the loop along lines in [a0, a1): asks for its share of the next block.
  void askForNext(Value a, Value a0, Value a1);
  // At element (a, v) of the block, in a vector level: its loads have their values.
  void bind(Value a, Value v);

private:
  // Squares in registers, of each load: so many of them are in one, of elements beside each other or of
  // rows below.
  struct Squares {
    int64_t side, beside = 1, below = 1;

    int64_t along() const { return side * beside; }
    int64_t rows() const { return side * below; }
  };
  Squares squaresOf(const Node *node) const;
  void turnSquares(unsigned number, Value a1, Value v1);
  llvm::SmallVector<Node *> straightLoads() const;
  void askForStraight(Value row);
  bool beginsInLines(const Node *node, llvm::ArrayRef<unsigned> group) const;
  Value pointer(unsigned number, Value row, Value column);
  int64_t lowest(llvm::ArrayRef<unsigned> group) const;
  int64_t highest(llvm::ArrayRef<unsigned> group) const;
  int64_t extent(llvm::ArrayRef<unsigned> group) const { return highest(group) - lowest(group); }

  Emitter &e;
  const TurnedLoads &turned;
  llvm::ArrayRef<unsigned> along, vector;
  int64_t beyond;
  int64_t rowElements;             // from one row of the block to the next
  llvm::SmallVector<Value> memory; // of each load: on the stack
  llvm::SmallVector<Value> next;   // of each load: the next block's first element
  // What lies as the result does: parts of its rows, which are as far apart as the result's.
  llvm::SmallVector<Node *> straight;
  llvm::SmallVector<Value> nextStraight;
  llvm::SmallVector<Squares> squares;
  Value alongBase = nullptr, vectorBase = nullptr; // of the block's first element
};

} // namespace tessera::codegen
