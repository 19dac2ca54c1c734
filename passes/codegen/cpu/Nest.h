// The loops of a kernel over the outputs of one shape: in order (ElementalKernel.cpp), by squares that are
// turned, and across the ends of short rows (NestBlocks.cpp).
#pragma once

#include "passes/codegen/cpu/ColumnValues.h"
#include "passes/codegen/cpu/KernelEmitter.h"
#include "passes/codegen/cpu/PartSums.h"
#include "passes/codegen/cpu/TurnedBlock.h"
#include "passes/codegen/kernel/NestGraph.h"
#include "passes/codegen/kernel/RowBehind.h"
#include "passes/codegen/kernel/TurnedLoads.h"

namespace tessera::codegen {

inline constexpr int64_t lineBytes = 64; // of a cache

class Nest : public NestGraph {
public:
  Nest(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, bool update, Phase phase = {})
      : NestGraph(function.kernel, outputs, update, std::move(phase)), function(function) {}
  bool emit();

private:
  using Range = std::pair<Value, Value>;
  // What a cell has of one of the loops; `step` as overVectors has it, 0 where that is all.
  struct Part {
    Value from, to;
    int64_t step = 0;
  };
  // Of the group that the divided loop is the outermost of.
  struct Chunk {
    unsigned dim;
    Part part;
  };
  void emitBox(llvm::ArrayRef<GridLoop> grid, const Partition &part, Value cell,
               llvm::Instruction *before);
  void emitLoops(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                 const std::optional<Chunk> &chunk);
  void emitRoots(bool ofRows = false);
  // Rows each of which is written while the next one is computed.
  void emitRowsBehind(const RowBehind &behind, llvm::ArrayRef<unsigned> rows,
                      llvm::ArrayRef<unsigned> columns, Part part);
  std::optional<RowBehind> resultsBehind(llvm::ArrayRef<LoopGroup> groups, unsigned depth,
                                         const Part &part) const;
  void askForRows(); // some rows on, at the vector that the loops are at
  void emitParts(llvm::ArrayRef<GridLoop> loops, std::optional<unsigned> chunked, Value low,
                 Value high);
  // The results of a part of `group`, of sums that are formed of some of them before.
  void emitSumsFirst(llvm::ArrayRef<Node *> sums, llvm::ArrayRef<unsigned> group, Part part);
  void findShortRows(llvm::ArrayRef<LoopGroup> groups, const std::optional<Chunk> &chunk);
  // Computes what is of columns alone, where a cell has several rows of them: so many for each column.
  void emitColumnsFirst(DimSet rows, const LoopGroup &columns, double rowsOfCell, Part part);
  void emitShortRows(ShortRows rows, llvm::ArrayRef<unsigned> outer, llvm::ArrayRef<unsigned> inner,
                     Part part);
  // Lanes of vectors that run across so many short rows.
  int64_t lanesAcross(const ShortRows &rows, int64_t count) const;
  // `around`: the loop outside of the two, if there is one.
  void emitBlocks(llvm::ArrayRef<unsigned> around, llvm::ArrayRef<unsigned> along,
                  llvm::ArrayRef<unsigned> vector, Part alongPart, Part vectorPart);
  void expectNext(TurnedBlock &block, llvm::ArrayRef<unsigned> around, std::pair<Range, Part> along,
                  std::pair<Range, Part> vector);
  void emitLines(llvm::ArrayRef<unsigned> group, Range range,
                 llvm::function_ref<void(Value at)> each);
  unsigned lanesOf(llvm::ArrayRef<unsigned> group) const;
  const Root *firstOfPoints() const; // that has an element for each of the nest's points
  bool goesPastCaches(int64_t least) const;
  bool streamsVectors(llvm::ArrayRef<unsigned> vector, unsigned lanes, int64_t step) const;
  bool startsAtLines(llvm::ArrayRef<unsigned> vector) const;

  KernelFunction &function;
  std::unique_ptr<Emitter> emitter;                 // of the graph that was built last
  std::optional<TurnedLoads> turned;                // of its loops
  std::optional<ShortRows> rowsAcross;              // that vectors run across, of its loops
  std::optional<PartSums> parts;                    // that its rows are added to
  std::optional<ColumnValues> columnValues;         // that its rows read
  llvm::SmallVector<Emitter::GatheredRow> gathered; // that the innermost loop asks for
  int64_t cells = 1;                                // of the grid
  bool isStreamed = false;                          // what is written now goes past the caches
  bool streams = false;                             // something does
};

} // namespace tessera::codegen
