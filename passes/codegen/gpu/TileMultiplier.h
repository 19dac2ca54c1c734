// Who multiplies tiles whose sums stay in registers, as attention's do: each thread has some rows of a
// tile, and some columns of each of them. All products of a kernel have the same rows, so that what is
// known of a row is known where its sums are.
#pragma once

#include "passes/codegen/gpu/SliceLoader.h"

#include <memory>

namespace tessera::codegen::gpu {

class TileMultiplier {
public:
  static constexpr int64_t rowsOfTile = 64;

  virtual ~TileMultiplier() = default;
  virtual const SliceLayout &layout() const = 0;
  virtual int64_t threads() const = 0;
  virtual int64_t leastDepth() const = 0; // of slices
  virtual int64_t mostDepth() const = 0;
  virtual int64_t leastColumns() const = 0; // of a tile; it has a power of two
  // Whether sums of a slice are added up apart before they go to those of all.
  virtual bool addsInParts() const = 0;
  virtual Node *sourceOf(Graph &graph, Node *operand) const = 0;
  virtual void begin(Value shared, Value thread) = 0;

  // Those of a thread, in the tile.
  virtual llvm::SmallVector<Value> rows() const = 0;
  virtual llvm::SmallVector<Value> columns(int64_t ofTile) const = 0;
  int64_t slots(int64_t columns) const { return rowsOfTile * columns / threads(); }
  // Lanes that have a row together: those whose numbers differ in the lowest bits. Where warps have it
  // together, those of one.
  virtual int64_t lanesOfRow() const = 0;

  // A slice, and the terms in it from which on it is multiplied.
  struct Operand {
    SliceShape shape;
    Value place = nullptr, k0 = nullptr;
  };
  // Adds the products of `depth` terms to slots, which stand by row, then column.
  virtual void multiply(const Operand &left, const Operand &right, int64_t depth,
                        llvm::ArrayRef<Value> slots) = 0;
  // What is multiplied next, as the left operand of `columns` terms.
  virtual SliceShape factorShape(int64_t columns) const = 0;
  virtual void storeFactors(const Operand &to, llvm::ArrayRef<Value> values) = 0;

  // Some of each thread's rows through shared memory: their line there, and which of the tile's that is.
  virtual Value lineOf(int64_t rowOfThread, int64_t from) const = 0;
  virtual Value rowOfLine(Value line, int64_t from) const = 0;
  virtual void stage(Value line, int64_t pitch, int64_t ofTile, llvm::ArrayRef<Value> row) = 0;
  static int64_t pitchOf(int64_t columns) { return columns + 8; }
};

std::unique_ptr<TileMultiplier> multiplierByThreads(Emitter &e);
// `across`: warps that have rows together; where nothing is asked about rows, more leave each thread
// fewer registers to fill.
std::unique_ptr<TileMultiplier> multiplierByCores(Emitter &e, ElementKind kind, int64_t across);

} // namespace tessera::codegen::gpu
