// The outputs of one shape as a graph over the loops of that shape.
#pragma once

#include "passes/codegen/cpu/KernelEmitter.h"

namespace tessera::codegen {

// An output and where it goes: at `offset` of its buffer.
struct Root {
  unsigned output;
  Element value;
  ElementKind kind;
  Index offset;
};

// A part of the nest's points: [low, high) of each loop.
using Box = llvm::SmallVector<std::pair<int64_t, int64_t>>;

class NestGraph {
public:
  // `update`: the output is a dynamic_update_slice of the buffer that it shares, and only the
  // update is written.
  NestGraph(KernelFunction &function, llvm::ArrayRef<unsigned> outputs, bool update)
      : function(function), outputs(outputs), update(update) {}

  // Builds the graph, with loops split so that reshapes need no division where that is possible.
  bool build();
  // The same graph over a part of the points.
  bool rebuild(const Box &box);

  llvm::ArrayRef<int64_t> shape() const;
  llvm::SmallVector<Node *> rootNodes() const;

  KernelFunction &function;
  std::unique_ptr<KernelGraph> g;
  llvm::SmallVector<Root> roots;
  llvm::SmallVector<unsigned> dims; // the nest's loops, outer first

private:
  bool construct(const Box *box);
  bool addSplits();

  llvm::ArrayRef<unsigned> outputs;
  bool update;
  SplitTable splits;
};

} // namespace tessera::codegen
