// A block of two loops in which turned loads (kernel/TurnedLoads.h) are read by vectors.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/kernel/TurnedLoads.h"

namespace tessera::codegen {

class TurnedBlock {
public:
  struct Walk {
    int64_t beyond;    // elements of the vector loop after a block's end that are read, too
    bool isWholeAlong; // a cell goes on along rows, not only to other rows
  };
  // `along` and `vector`: the two loops.
  TurnedBlock(Emitter &emitter, const TurnedLoads &turned, llvm::ArrayRef<unsigned> along,
              llvm::ArrayRef<unsigned> vector, Walk walk);

  // Sides in elements. Where rows begin anywhere in a line they are longer and fewer.
  int64_t alongSide, vectorSide;

  // Reads the block [a0, a1) x [v0, v1).
  void turn(Value a0, Value a1, Value v0, Value v1);
  // At element (a, v) of the block, in a vector level: its loads have their values.
  void bind(Value a, Value v);

private:
  // Of a square in registers, of each load: so many elements along, of so many rows.
  struct Square {
    int64_t along, rows;
  };
  void turnSquares(unsigned number, Value a1, Value v1);
  void prefetchNext(const Node *node, Square square, Value first, Value row);
  Value pointer(unsigned number, Value row, Value column);
  int64_t lowest(llvm::ArrayRef<unsigned> group) const;
  int64_t highest(llvm::ArrayRef<unsigned> group) const;

  Emitter &e;
  const TurnedLoads &turned;
  llvm::ArrayRef<unsigned> along, vector;
  Walk walk;
  int64_t rowElements;             // from one row of the block to the next
  llvm::SmallVector<Value> memory; // of each load: on the stack
  llvm::SmallVector<Square> squares;
  Value alongBase = nullptr, vectorBase = nullptr; // of the block's first element
};

} // namespace tessera::codegen
