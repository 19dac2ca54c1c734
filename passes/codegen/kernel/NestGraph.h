// The outputs of one shape as a graph over the loops of that shape.
#pragma once

#include "passes/codegen/kernel/ColumnSums.h"
#include "passes/codegen/kernel/KernelGraph.h"
#include "passes/codegen/kernel/Partition.h"
#include "passes/codegen/kernel/RowsPast.h"
#include "passes/codegen/kernel/SumsFirst.h"

#include <memory>

namespace tessera::codegen {

// An output and where it goes: at `offset` of its buffer.
struct Root {
  unsigned output;
  Element value;
  ElementKind kind;
  Index offset;
  bool isOfRow = false; // one element for each row of the others
  bool isPart = false;  // added to at `offset` of the part that the others' index is in
};

// A part of the nest's points: of each of its dimensions every `step`th from `first` on, `count` at
// most. Empty: all.
struct Every {
  int64_t step = 1, first = 0, count = INT64_MAX;
};
using Phase = llvm::SmallVector<Every>;

// Bytes of a result from which on it goes past the caches: a smaller one its reader may find there.
// Blocks of what is turned lie in as many pages as they have rows, often in the same few places of a
// cache.
constexpr int64_t leastStreamed = 16 << 20, leastStreamedBlocks = 2 << 20;

// A part of the nest's points: [low, high) of each loop.
using Box = llvm::SmallVector<std::pair<int64_t, int64_t>>;

class NestGraph {
public:
  // `update`: the output is a dynamic_update_slice of the buffer that it shares, and only the
  // update is written.
  NestGraph(const KernelSource &kernel, llvm::ArrayRef<unsigned> outputs, bool update,
            Phase phase = {});

  // Builds the graph, with loops split so that reshapes need no division where that is possible.
  bool build();
  // The nodes of the output in a graph that several nests have; its loops are numbered from
  // `firstLoop` on.
  bool buildIn(std::shared_ptr<KernelGraph> graph, unsigned firstLoop);
  // The same graph over a part of the points.
  bool rebuild(const Box &box);
  // Builds the graph anew without the innermost loop, whose few columns are roots of their own then, where
  // they are pieces of a concatenation or have an edge of a padding among them; else it stays.
  bool writeOutColumns();
  // How many columns are written out; the roots of an output are theirs, in order. 1: none.
  int64_t columnsWrittenOut() const { return writtenOut; }
  // Whether the innermost loop of the nest should be the vector loop, rather than those of the
  // reductions inside it. `live`: the nodes that are computed.
  bool keepsVectors(llvm::ArrayRef<Node *> live, unsigned lastDim) const;

  // How a sum along the innermost loop of the nest is formed, where its rows go past.
  std::optional<RowsPast> rowsPastColumns(const LoopGroup &columns,
                                          llvm::ArrayRef<Node *> live) const;

  // Sums that are formed before what is made of them, along the innermost loop of the nest.
  llvm::SmallVector<Node *> sumsBefore(const LoopGroup &results, llvm::ArrayRef<Node *> live) const;

  llvm::ArrayRef<int64_t> shape() const;
  llvm::SmallVector<Node *> rootNodes() const;
  llvm::SmallVector<Index> stores() const; // where the roots go
  // The loops that cells may divide, outer first: not those of a row that stays, nor both of those
  // which run by blocks.
  llvm::SmallVector<GridLoop> gridLoops() const;
  // Whether a row of the results stays: all else of it is computed before.
  bool takesRows() const { return rows && outerDims < dims.size(); }
  // Whether it makes parts of sums over columns; `dims` are then those of the shape.
  bool takesParts() const { return sums.has_value(); }

  const KernelSource &kernel;
  std::shared_ptr<KernelGraph> g; // of the last build or rebuild
  llvm::SmallVector<Root> roots;
  llvm::SmallVector<unsigned> dims; // the nest's loops, outer first
  std::optional<KeptRows> rows;
  std::optional<ColumnSums> sums;
  unsigned outerDims = 0;    // of `dims`, before those of a row
  int64_t scratchOffset = 0; // of what stays

private:
  bool constructOnce(const Box *box);
  bool fill(const Box *box, unsigned firstLoop);
  void bindRows(llvm::ArrayRef<Index> index);
  Root rowRoot(unsigned output, ElementType type);
  Root partRoot(unsigned output, ElementType type, llvm::ArrayRef<Index> index);
  bool construct(const Box *box);
  bool addRoot(unsigned output, llvm::ArrayRef<Index> index);

  llvm::ArrayRef<unsigned> outputs;
  bool update;
  Phase phase;
  SplitTable splits;
  int64_t writtenOut = 1;
  llvm::SmallVector<Index, 6> rowIndex; // of the row that is taken
};

// Loops split as the graph that was built asks for; whether there are more than before.
bool addSplits(const KernelGraph &built, SplitTable &splits);

} // namespace tessera::codegen
